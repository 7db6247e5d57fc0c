-- Templates of workloads. What a template and its assets come to is kept beside them, and made again in the same
-- transaction when one of them changes: a list and a submission read one row.
CREATE TABLE templates (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    workload_type TEXT NOT NULL, -- Workspace, Training, Distributed, Inference
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    scope TEXT NOT NULL, -- tenant, cluster, department, project
    scope_id TEXT NOT NULL DEFAULT '', -- cluster uuid, department or project id
    spec_json TEXT, -- its own; NULL: none
    assets_json TEXT, -- {environment, compute, datasources}; NULL: none
    master_json TEXT, -- {spec, assets} of the master; NULL: none
    is_master_same INTEGER, -- masterSpecSameAsWorker; NULL: not said
    combined_spec_json TEXT NOT NULL,
    combined_master_json TEXT, -- NULL: no master of its own
    sources_json TEXT NOT NULL, -- {spec: {path: {from, id, name}}, masterSpec: ...}
    issue TEXT NOT NULL DEFAULT '', -- why it cannot be submitted as it is; '': it can
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (scope, scope_id, name)
) STRICT;

-- The assets that a template names; they may have gone since.
CREATE TABLE template_assets (
    template_id INTEGER NOT NULL REFERENCES templates (id) ON DELETE CASCADE,
    asset_uuid TEXT NOT NULL,
    PRIMARY KEY (template_id, asset_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX template_assets_by_asset ON template_assets (asset_uuid);
