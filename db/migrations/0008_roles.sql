-- Roles that administrators make, beside the predefined ones, whose ids stay below 1000. No id is used again.
CREATE TABLE roles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL COLLATE NOCASE UNIQUE,
    description TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    rights_json TEXT NOT NULL, -- {"permissionSets": [id], "permissions": [{"resourceType", "actions"}]}
    created_by TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
INSERT INTO sqlite_sequence(name, seq) VALUES ('roles', 1000);
-- When a rule ends by itself; 0: never.
ALTER TABLE access_rules ADD COLUMN expires_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX access_rules_role ON access_rules(role_id) WHERE deleted_ms = 0;
