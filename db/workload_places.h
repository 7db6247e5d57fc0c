// What a submission must know of the project it goes to. One statement each.
#pragma once
#include "model/scope.h"
#include <stdbool.h>

struct arena;
struct db_conn;
struct error;

struct workload_place {
    struct scope_path scope;
    const char *cluster_uuid;
    const char *project_name;
    int64_t project_number; // that no other project ever has
    const char *department_name;
    const char *namespace_name;
    bool is_deleting;
    const char *project_rules_json; // NULL: none; so are all of these
    const char *department_rules_json;
    const char *default_node_pools_json; // PROJECT_NODE_POOLS of db/org_units.h
    const char *node_types_json;
    const char *department_node_types_json;
};

// 1: found; 0: no such project; -1: error. Texts are the arena's.
int db_find_workload_place(struct db_conn *conn, int64_t project_id, struct arena *arena,
                           struct workload_place *out_place, struct error *err);
// Whether the cluster has a living node pool of this name.
int db_has_node_pool(struct db_conn *conn, int64_t cluster_id, const char *name, bool *out_found, struct error *err);
