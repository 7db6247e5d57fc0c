// What was held in a period, summed by a part of the organisation: of allocations, to the millisecond; of those that
// are gone (db/usage_days.h), by the part of each day that the period has.
#pragma once
#include "model/scope.h"

struct arena;
struct db_conn;
struct error;

enum consumption_group {
    CONSUMPTION_BY_NOTHING, // one sum
    CONSUMPTION_BY_NODE_POOL,
    CONSUMPTION_BY_PROJECT,
    CONSUMPTION_BY_DEPARTMENT,
    CONSUMPTION_BY_CLUSTER,
};

struct consumption_query {
    int64_t start_ms, end_ms; // end_ms excluded
    int64_t now_ms;           // until when counts what still holds
    enum consumption_group group;
    // JSON lists of texts, one of which must be met; NULL: any.
    const char *project_names_json, *department_names_json, *cluster_uuids_json;
    const struct scope_filter *shown;
};

struct consumption {
    const char *name; // of the group, the latest; "" for one sum and for what has no name any more
    double gpu_hours, cpu_core_hours, memory_gb_hours; // GB: 1,000,000,000 bytes
};

// By name. Reads every allocation of the period. The arena's.
int db_sum_consumption(struct db_conn *conn, const struct consumption_query *query, struct arena *arena,
                       struct consumption **out_rows, size_t *out_count, struct error *err);
