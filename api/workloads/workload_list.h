// The row of GET /workloads and what it can be filtered, sorted and searched by. What never changes of a row was
// written at submission (model/workload_listing.h) and is copied; a page of 50 costs one statement and one for the node
// pools that guarantee a run time.
#pragma once
#include "api/lists/list_query.h"

// What the backend said of pod p. What a decision said of it is told by events alone, where names of others are hidden.
#define POD_MESSAGE "iif(p.reason IN ('Preempted', 'Consolidated', 'StaleJob'), '', p.message)"

struct json_writer;
struct visibility;

extern const struct list_source WORKLOAD_LIST;
extern const struct list_source DELETED_WORKLOAD_LIST;
// The same, found from projects (api/lists/workload_scope.h).
extern const struct list_source SCOPED_WORKLOAD_LIST;
extern const struct list_source SCOPED_DELETED_WORKLOAD_LIST;

// Node pools with a minimum guaranteed run time, and projects that say otherwise for themselves: mostly none.
struct runtime_pools {
    const char **names;
    int64_t *runtimes_ms;
    size_t count;
    struct runtime_project {
        int64_t id;
        int64_t runtime_ms;
    } * projects;
    size_t project_count;
};

int runtime_pools_read(struct db_conn *conn, struct arena *arena, struct runtime_pools *out, struct error *err);

// The members of one row, of a statement over WORKLOAD_LIST's columns; the object is the caller's. A row of a list is
// brief (model/workload_brief.h), with "truncated" where something is missing.
void workload_write_row(struct json_writer *json, sqlite3_stmt *stmt, const struct runtime_pools *pools, int64_t now_ms,
                        const struct visibility *visibility);
void workload_write_whole(struct json_writer *json, sqlite3_stmt *stmt, const struct runtime_pools *pools,
                          int64_t now_ms, const struct visibility *visibility);
