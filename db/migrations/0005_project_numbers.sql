-- A number for each project that no other ever gets, also after it is deleted: on a machine without containers the
-- project's own user is made from it.
CREATE TABLE project_numbers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL UNIQUE REFERENCES projects(id) ON DELETE CASCADE
) STRICT;
INSERT INTO project_numbers(project_id) SELECT id FROM projects ORDER BY id;
CREATE TRIGGER projects_get_numbers AFTER INSERT ON projects BEGIN
    INSERT INTO project_numbers(project_id) VALUES (new.id);
END;
