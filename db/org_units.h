// Departments and projects with their queues. What people change is told as an event (db/events/org_events.h). All
// rules that need the database are kept here, on the writer thread: names are unique in the cluster, limits are not
// below quotas, a quota does not go under what non-preemptible workloads hold, and, where the tenant says so, the
// projects of a department stay within its quota.
#pragma once
#include "model/org_unit.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct db_conn;
struct error;

// Write functions: to be called inside db_write(). The unit's times are the caller's. `resources` is the list of the
// API (checked against the schema), path its name in messages.

// Sets unit->id, name_space and, for a project without one, department_id (the default department). Pools that
// resources lacks get the defaults. ERROR_CONFLICT where the name or the namespace is taken.
int db_create_org_unit(struct db_conn *conn, struct org_unit *unit, const json_t *resources, struct arena *arena,
                       struct error *err);
// Writes description, rules, default pools, node types, enforce_scheduler, updated_*; and replaces the resources.
int db_update_org_unit(struct db_conn *conn, struct org_unit *unit, const json_t *resources, struct arena *arena,
                       struct error *err);
// Resources alone: with `replace`, pools that the list lacks go back to the defaults.
struct resources_change {
    enum org_unit_kind kind;
    int64_t id;
    const json_t *resources;
    bool replace;
    const char *updated_by;
    int64_t now_ms;
};
int db_change_resources(struct db_conn *conn, const struct resources_change *change, struct arena *arena,
                        struct error *err);

// Asks for the deletion: the project's phase is Deleting and its workloads' desired phase Deleted. Where none is left
// it is gone at once and *out_finished is true; otherwise the reconciler calls db_finish_project_deletion when the last
// one is gone. ERROR_INVALID for the default project. Repeating it is harmless.
int db_delete_project(struct db_conn *conn, int64_t id, const char *who, int64_t now_ms, bool *out_finished,
                      struct error *err);
// The same for a department and all its projects; the department goes with its last project.
int db_delete_department(struct db_conn *conn, int64_t id, const char *who, int64_t now_ms, bool *out_finished,
                         struct error *err);
// Removes a project that is Deleting and has no live workload left, with its assets, access rules and samples; and its
// department, where that is Deleting and has no project left. Does nothing where workloads are left or the project is
// not being deleted, so the reconciler may call it whenever a workload of such a project ends.
int db_finish_project_deletion(struct db_conn *conn, int64_t project_id, int64_t now_ms, struct error *err);

// Reading.

// With queues and overtime. ERROR_NOT_FOUND where there is none.
int db_find_org_unit(struct db_conn *conn, enum org_unit_kind kind, int64_t id, struct arena *arena,
                     struct org_unit *out_unit, struct error *err);

// For lists: the columns of struct org_unit without queues, in org_unit_from_row's order, and their FROM.
#define DEPARTMENT_COLUMNS                                                                              \
    "d.id, d.cluster_id, c.uuid, d.name, d.is_default, d.description, d.scheduling_rules_json, "        \
    "d.default_node_pools_json, d.node_types_json, d.phase, d.created_by, d.updated_by, d.created_ms, " \
    "d.updated_ms, " OVERTIME_COLUMNS
#define DEPARTMENT_FROM                                     \
    "departments d JOIN clusters c ON c.id = d.cluster_id " \
    "LEFT JOIN overtime o ON o.owner_kind = 'department' AND o.owner_id = d.id"
// Where work of a project goes that names no node pools, as JSON: the project's own order, else its department's; else,
// of a project that has GPU quota but none in the default pool, the pools of that quota, the most first. NULL: to the
// default pool.
#define PROJECT_NODE_POOLS                                                                                      \
    "coalesce(p.default_node_pools_json, d.default_node_pools_json, (SELECT CASE WHEN max(own.is_default) = 0 " \
    "THEN json_group_array(own.name) END FROM (SELECT n.name, n.is_default FROM queues q JOIN node_pools n "    \
    "ON n.id = q.node_pool_id AND n.deleted_ms = 0 WHERE q.owner_kind = 'project' AND q.owner_id = p.id "       \
    "AND ifnull(q.gpu_deserved_milli, 1) > 0 "                                                                  \
    "ORDER BY q.gpu_deserved_milli IS NULL DESC, q.gpu_deserved_milli DESC, n.name) AS own))"
#define PROJECT_COLUMNS                                                                                 \
    "p.id, p.cluster_id, c.uuid, p.name, p.is_default, p.description, p.scheduling_rules_json, "        \
    "p.default_node_pools_json, p.node_types_json, p.phase, p.created_by, p.updated_by, p.created_ms, " \
    "p.updated_ms, " OVERTIME_COLUMNS                                                                   \
    ", p.department_id, d.name, p.namespace, p.requested_namespace, p.enforce_scheduler, "              \
    "d.scheduling_rules_json, d.node_types_json, " PROJECT_NODE_POOLS
#define PROJECT_FROM                                                                                  \
    "projects p JOIN clusters c ON c.id = p.cluster_id JOIN departments d ON d.id = p.department_id " \
    "LEFT JOIN overtime o ON o.owner_kind = 'project' AND o.owner_id = p.id"
#define OVERTIME_COLUMNS                                                                                             \
    "o.gpu_allocation_24h, o.gpu_allocation_7d, o.gpu_allocation_30d, o.gpu_utilization_24h, o.gpu_utilization_7d, " \
    "o.gpu_utilization_30d, o.gpu_memory_utilization_24h, o.gpu_memory_utilization_7d, "                             \
    "o.gpu_memory_utilization_30d, o.updated_ms"
struct sqlite3_stmt;
void org_unit_from_row(struct sqlite3_stmt *stmt, enum org_unit_kind kind, struct arena *arena,
                       struct org_unit *out_unit);
// Reads children and sums of these departments by two statements.
int db_read_department_projects(struct db_conn *conn, struct org_unit *departments, size_t count, struct arena *arena,
                                struct error *err);
