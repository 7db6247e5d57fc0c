// Templates, compute resources, environments, data sources and credentials by name.
#pragma once
#include "cli/command.h"

// word is what people call it, path the list's, framework the title of what tells one from another; type is set for
// templates.
extern const struct kind ASSET_TEMPLATE, ASSET_COMPUTE, ASSET_ENVIRONMENT, ASSET_DATA_SOURCE, ASSET_PVC,
    ASSET_CREDENTIAL;

// The query that leaves what holds for the project.
const char *asset_project_query(struct cli *cli, const struct kind *kind, const char *project_id);
// The project asked for by --project, as a member of a query; "" for all.
int asset_read_query(struct cli *cli, const struct kind *kind, const char **out_query, struct error *err);
// "project" of an entry's meta.
const char *asset_scope(const json_t *meta);
// The caller owns *out_entries.
int asset_get_list(struct cli *cli, const struct kind *kind, const char *query, json_t **out_entries,
                   struct error *err);
// By name or id; of several the one whose scope is nearest to the project. The caller owns *out_entry.
int asset_find_by_name(struct cli *cli, const struct kind *kind, const char *name, const char *query,
                       json_t **out_entry, struct error *err);
