-- Policies: defaults and rules for the specifications of what is submitted. One of each kind in a scope.
CREATE TABLE policies (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('workspace', 'training', 'distributed', 'inference')),
    scope TEXT NOT NULL CHECK (scope IN ('tenant', 'cluster', 'department', 'project')),
    owner_id INTEGER NOT NULL, -- of clusters, departments or projects; 0: the tenant
    name TEXT NOT NULL,
    policy_json TEXT NOT NULL, -- {defaults, rules}
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (kind, scope, owner_id)
) STRICT;
