// Assets that a policy imposes: data sources, each of which is an instance of its list of `storage` by default.
#pragma once
#include "api/policies/policy_schema.h"

struct arena;
struct db_conn;
struct error;
struct scope_path;

enum {
    POLICY_ASSETS_MAX = 64 // of a policy, or of its part for workers or masters
};

// ERROR_INVALID where one of them is no data source that holds wherever the policy does, or stands twice.
int policy_assets_check(struct db_conn *conn, enum policy_kind kind, const json_t *policy,
                        const struct scope_path *path, struct arena *arena, struct error *err);
// What they come to, in the form of a policy's defaults; NULL: nothing. The caller's. What has gone since is left out.
int policy_assets_read(struct db_conn *conn, enum policy_kind kind, const json_t *policy, struct arena *arena,
                       json_t **out_defaults, struct error *err);
