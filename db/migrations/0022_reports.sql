-- Consumption reports: what was asked for, and the file that was made of it at once.
CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE COLLATE NOCASE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    start_ms INTEGER NOT NULL,
    end_ms INTEGER NOT NULL,
    group_by TEXT, -- Nodepool, Project, Department, Cluster; NULL: one sum
    filters_json TEXT NOT NULL, -- as they were given
    file TEXT NOT NULL, -- CSV
    created_by TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
