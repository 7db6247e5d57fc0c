// Queue rows: one for each department and each project in every node pool. Inside db/ but for reading.
#pragma once
#include "model/org_unit.h"

struct arena;
struct db_conn;
struct error;
typedef struct sqlite3_stmt sqlite3_stmt;

// For reads of queues q and their node pools np.
#define QUEUE_COLUMNS                                                                                        \
    "q.owner_id, q.id, q.node_pool_id, np.name, q.rank_name, q.rank, "                                       \
    "q.gpu_deserved_milli, q.gpu_limit_milli, q.gpu_over_quota_weight, q.gpu_fair_share_milli, "             \
    "q.gpu_allocated_milli, "                                                                                \
    "q.gpu_allocated_non_preemptible_milli, q.gpu_requested_milli, "                                         \
    "q.cpu_deserved_milli, q.cpu_limit_milli, q.cpu_over_quota_weight, q.cpu_fair_share_milli, "             \
    "q.cpu_allocated_milli, "                                                                                \
    "q.cpu_allocated_non_preemptible_milli, q.cpu_requested_milli, "                                         \
    "q.memory_deserved_bytes, q.memory_limit_bytes, q.memory_over_quota_weight, q.memory_fair_share_bytes, " \
    "q.memory_allocated_bytes, q.memory_allocated_non_preemptible_bytes, q.memory_requested_bytes, q.memory_units"
enum {
    QUEUE_COLUMN_COUNT = 28
};
struct queue queue_from_row(sqlite3_stmt *stmt, struct arena *arena);

// Reads the queues of all these units (of one kind) by one statement.
int db_read_queues(struct db_conn *conn, enum org_unit_kind kind, struct org_unit *units, size_t count,
                   struct arena *arena, struct error *err);

// Inserts the rows that are missing, with the defaults: after a unit or a pool was added.
int queues_fill(struct db_conn *conn, int64_t cluster_id, struct error *err);
// Writes the settings of the unit's queues after the checks on what non-preemptible workloads hold and, where the
// tenant wants it, on the department's quota. `before` are the queues as they were, in the same order.
int queues_write(struct db_conn *conn, const struct org_unit *unit, const struct queue *before, const char *path,
                 struct error *err);
int queues_delete_of_pool(struct db_conn *conn, int64_t node_pool_id, struct error *err);

// [id, ...] of the units, for json_each; and the units in the order of their ids.
const char *db_unit_ids(const struct org_unit *units, size_t count, struct arena *arena);
struct org_unit **db_units_by_id(struct org_unit *units, size_t count, struct arena *arena);
// The place in that list of the unit with this id; NULL: it has none.
struct org_unit **db_find_unit(struct org_unit **sorted, size_t count, int64_t id);
