// Policies: one of each kind in a scope, and those that hold in a place.
#pragma once
#include "model/scope.h"

struct arena;
struct db_conn;
struct error;

struct policy_row {
    const char *uuid;
    const char *kind; // "training", ...
    enum scope_type scope;
    struct scope_path path; // read only: of the scope
    const char *scope_id;   // read only: as the API names it; "" for the tenant
    const char *name;
    const char *policy_json;
    const char *created_by;
    const char *updated_by;
    int64_t created_ms;
    int64_t updated_ms;
};

// The policies of one kind that hold in a place: of the tenant first, then of the cluster, the department, the project.
// One statement.
int db_list_policies_at(struct db_conn *conn, const char *kind, const struct scope_path *path, struct arena *arena,
                        struct policy_row **out_rows, size_t *out_count, struct error *err);
// All that the filter shows, by scope and name; those of the tenant are shown to all who see everything.
int db_list_policies(struct db_conn *conn, const struct scope_filter *shown, struct arena *arena,
                     struct policy_row **out_rows, size_t *out_count, struct error *err);

// Inside a write function. Creates the policy of its kind and scope, or changes name, policy and who updated it.
int db_put_policy(struct db_conn *conn, const struct policy_row *row, struct error *err);
// ERROR_NOT_FOUND where there is none.
int db_delete_policy(struct db_conn *conn, const char *kind, enum scope_type scope, const struct scope_path *path,
                     struct error *err);
