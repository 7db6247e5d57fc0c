#include "db/org_units.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/events/org_events.h"
#include "db/queues.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char SQL_NEXT_ID[] =
    "INSERT INTO meta (key, value) VALUES ('last_org_unit_id', '1') "
    "ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) RETURNING CAST(value AS INTEGER)";
static const char SQL_DEFAULT_DEPARTMENT[] =
    "SELECT id, name FROM departments WHERE cluster_id = ?1 AND CASE WHEN ?2 = 0 THEN is_default ELSE id = ?2 END "
    "AND phase <> 'Deleting'";
static const char SQL_NAMESPACE_TAKEN[] = "SELECT name FROM projects WHERE cluster_id = ? AND namespace = ? LIMIT 1";
static const char SQL_UNKNOWN_POOL[] = "SELECT each.value FROM json_each(?2) AS each WHERE each.value NOT IN "
                                       "(SELECT name FROM node_pools WHERE cluster_id = ?1 AND deleted_ms = 0) LIMIT 1";
static const char SQL_INSERT_DEPARTMENT[] =
    "INSERT INTO departments (id, cluster_id, name, is_default, description, scheduling_rules_json, "
    "default_node_pools_json, node_types_json, phase, created_by, updated_by, created_ms, updated_ms, revision) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'Ready', ?9, ?10, ?11, ?12, ?13)";
static const char SQL_INSERT_PROJECT[] =
    "INSERT INTO projects (id, cluster_id, name, is_default, description, scheduling_rules_json, "
    "default_node_pools_json, node_types_json, phase, created_by, updated_by, created_ms, updated_ms, revision, "
    "department_id, namespace, requested_namespace, enforce_scheduler) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'Ready', ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
static const char SQL_UPDATE_DEPARTMENT[] =
    "UPDATE departments SET description = ?5, scheduling_rules_json = ?6, default_node_pools_json = ?7, "
    "node_types_json = ?8, updated_by = ?10, updated_ms = ?12, revision = ?13 WHERE id = ?1";
static const char SQL_UPDATE_PROJECT[] =
    "UPDATE projects SET description = ?5, scheduling_rules_json = ?6, default_node_pools_json = ?7, "
    "node_types_json = ?8, updated_by = ?10, updated_ms = ?12, revision = ?13, enforce_scheduler = ?17 WHERE id = ?1";
static const char SQL_STAMP_DEPARTMENT[] =
    "UPDATE departments SET updated_by = ?2, updated_ms = ?3, revision = ?4 WHERE id = ?1";
static const char SQL_STAMP_PROJECT[] =
    "UPDATE projects SET updated_by = ?2, updated_ms = ?3, revision = ?4 WHERE id = ?1";

static int next_id(struct db_conn *conn, int64_t *out_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_NEXT_ID, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_id = db_column_int(stmt, 0);
    db_release(conn, stmt);
    return rc == 1 ? 0 : -1;
}

static enum change_kind change_kind_of(enum org_unit_kind kind)
{
    return kind == ORG_UNIT_PROJECT ? CHANGE_PROJECT : CHANGE_DEPARTMENT;
}

// A project without a department falls into the default one.
static int find_department(struct db_conn *conn, struct org_unit *unit, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DEFAULT_DEPARTMENT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, unit->cluster_id);
    db_bind_int(stmt, 2, unit->department_id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        unit->department_id = db_column_int(stmt, 0);
        unit->department_name = db_column_text(stmt, 1, arena);
    } else if (rc == 0) {
        rc = error_set(err, ERROR_INVALID, "parentId: no department %" PRId64 " in this cluster", unit->department_id);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int check_namespace(struct db_conn *conn, const struct org_unit *unit, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_NAMESPACE_TAKEN, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, unit->cluster_id);
    db_bind_text(stmt, 2, unit->name_space);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        rc = strcmp(db_column_text(stmt, 0, arena), unit->name) == 0
                 ? error_set(err, ERROR_CONFLICT, "name: project %s exists in this cluster", unit->name)
             : unit->requested_namespace && *unit->requested_namespace
                 ? error_set(err, ERROR_CONFLICT, "requestedNamespace: %s is another project's", unit->name_space)
                 : error_set(err, ERROR_CONFLICT, "name: its namespace %s is another project's", unit->name_space);
    db_release(conn, stmt);
    return rc;
}

static int check_default_pools(struct db_conn *conn, const struct org_unit *unit, struct arena *arena,
                               struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (!unit->default_node_pools_json)
        return 0;
    if (db_prepare(conn, SQL_UNKNOWN_POOL, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, unit->cluster_id);
    db_bind_text(stmt, 2, unit->default_node_pools_json);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        rc = error_set(err, ERROR_INVALID, "defaultNodePools: no node pool \"%.80s\"", db_column_text(stmt, 0, arena));
    db_release(conn, stmt);
    return rc;
}

static int write_unit(struct db_conn *conn, const char *sql, const struct org_unit *unit, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    bool is_insert = sql == SQL_INSERT_DEPARTMENT || sql == SQL_INSERT_PROJECT;
    db_bind_int(stmt, 1, unit->id);
    if (is_insert) {
        db_bind_int(stmt, 2, unit->cluster_id);
        db_bind_text(stmt, 3, unit->name);
        db_bind_int(stmt, 4, unit->is_default);
        db_bind_text(stmt, 9, unit->created_by);
        db_bind_int(stmt, 11, unit->created_ms);
    }
    db_bind_text(stmt, 5, unit->description ? unit->description : "");
    db_bind_text(stmt, 6, unit->scheduling_rules_json);
    db_bind_text(stmt, 7, unit->default_node_pools_json);
    db_bind_text(stmt, 8, unit->node_types_json);
    db_bind_text(stmt, 10, unit->updated_by);
    db_bind_int(stmt, 12, unit->updated_ms);
    db_bind_int(stmt, 13, db_revision(conn));
    if (sql == SQL_INSERT_PROJECT) {
        db_bind_int(stmt, 14, unit->department_id);
        db_bind_text(stmt, 15, unit->name_space);
        db_bind_text(stmt, 16, unit->requested_namespace);
    }
    if (unit->kind == ORG_UNIT_PROJECT)
        db_bind_int(stmt, 17, unit->enforce_scheduler);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0 && err && err->code == ERROR_CONFLICT)
        error_set(err, ERROR_CONFLICT, "name: %s %s exists in this cluster", org_unit_kind_text(unit->kind),
                  unit->name);
    db_touch_number(conn, change_kind_of(unit->kind), unit->id);
    return rc;
}

// The unit's queues as stored, changed by the list, checked and stored again. *out_before: as they were, in their
// order.
static int write_resources(struct db_conn *conn, struct org_unit *unit, const json_t *resources, bool replace,
                           const char *path, struct queue **out_before, struct arena *arena, struct error *err)
{
    unit->queues = NULL;
    unit->queue_count = 0;
    if (db_read_queues(conn, unit->kind, unit, 1, arena, err) < 0)
        return -1;
    struct queue *before = *out_before = arena_array(arena, unit->queue_count, sizeof(*before));
    if (unit->queue_count)
        memcpy(before, unit->queues, unit->queue_count * sizeof(*before));
    if (org_unit_take_resources(unit, resources, path, replace, arena, err) < 0)
        return -1;
    return queues_write(conn, unit, before, path[0] ? path : "resources", err);
}

int db_create_org_unit(struct db_conn *conn, struct org_unit *unit, const json_t *resources, struct arena *arena,
                       struct error *err)
{
    bool is_project = unit->kind == ORG_UNIT_PROJECT;
    struct queue *before;
    if (is_project) {
        unit->name_space =
            unit->requested_namespace ? unit->requested_namespace : arena_printf(arena, "runai-%s", unit->name);
        if (find_department(conn, unit, arena, err) < 0 || check_namespace(conn, unit, arena, err) < 0)
            return -1;
    }
    if (next_id(conn, &unit->id, err) < 0 || check_default_pools(conn, unit, arena, err) < 0 ||
        write_unit(conn, is_project ? SQL_INSERT_PROJECT : SQL_INSERT_DEPARTMENT, unit, err) < 0 ||
        queues_fill(conn, unit->cluster_id, err) < 0 ||
        write_resources(conn, unit, resources, true, "resources", &before, arena, err) < 0)
        return -1;
    return org_events_add_creation(conn, unit, err);
}

int db_update_org_unit(struct db_conn *conn, struct org_unit *unit, const json_t *resources, struct arena *arena,
                       struct error *err)
{
    bool is_project = unit->kind == ORG_UNIT_PROJECT;
    struct org_unit before;
    if (db_find_org_unit(conn, unit->kind, unit->id, arena, &before, err) < 0 ||
        check_default_pools(conn, unit, arena, err) < 0 ||
        write_unit(conn, is_project ? SQL_UPDATE_PROJECT : SQL_UPDATE_DEPARTMENT, unit, err) < 0 ||
        write_resources(conn, unit, resources, true, "resources", &before.queues, arena, err) < 0)
        return -1;
    return org_events_add_change(conn, &before, unit, unit->updated_by, unit->updated_ms, arena, err);
}

int db_change_resources(struct db_conn *conn, const struct resources_change *change, struct arena *arena,
                        struct error *err)
{
    struct org_unit unit;
    struct queue *before;
    sqlite3_stmt *stmt = NULL;
    if (db_find_org_unit(conn, change->kind, change->id, arena, &unit, err) < 0 ||
        write_resources(conn, &unit, change->resources, change->replace, "", &before, arena, err) < 0 ||
        db_prepare(conn, change->kind == ORG_UNIT_PROJECT ? SQL_STAMP_PROJECT : SQL_STAMP_DEPARTMENT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, change->id);
    db_bind_text(stmt, 2, change->updated_by);
    db_bind_int(stmt, 3, change->now_ms);
    db_bind_int(stmt, 4, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, change_kind_of(change->kind), change->id);
    struct org_unit was = unit;
    was.queues = before;
    return rc < 0 ? -1 : org_events_add_change(conn, &was, &unit, change->updated_by, change->now_ms, arena, err);
}

static struct overtime read_overtime(sqlite3_stmt *stmt, int first)
{
    struct overtime overtime = {.updated_ms = db_column_int(stmt, first + 3 * OVERTIME_RANGE_COUNT)};
    for (int i = 0; i < OVERTIME_RANGE_COUNT; i++) {
        overtime.gpu_allocation[i] = db_column_real(stmt, first + i);
        overtime.gpu_utilization[i] = db_column_real(stmt, first + OVERTIME_RANGE_COUNT + i);
        overtime.gpu_memory_utilization[i] = db_column_real(stmt, first + 2 * OVERTIME_RANGE_COUNT + i);
    }
    return overtime;
}

void org_unit_from_row(sqlite3_stmt *stmt, enum org_unit_kind kind, struct arena *arena, struct org_unit *out_unit)
{
    *out_unit = (struct org_unit){
        .kind = kind,
        .id = db_column_int(stmt, 0),
        .cluster_id = db_column_int(stmt, 1),
        .cluster_uuid = db_column_text(stmt, 2, arena),
        .name = db_column_text(stmt, 3, arena),
        .is_default = db_column_int(stmt, 4) != 0,
        .description = db_column_text(stmt, 5, arena),
        .scheduling_rules_json = db_column_text(stmt, 6, arena),
        .default_node_pools_json = db_column_text(stmt, 7, arena),
        .node_types_json = db_column_text(stmt, 8, arena),
        .phase = db_column_text(stmt, 9, arena),
        .created_by = db_column_text(stmt, 10, arena),
        .updated_by = db_column_text(stmt, 11, arena),
        .created_ms = db_column_int(stmt, 12),
        .updated_ms = db_column_int(stmt, 13),
        .overtime = read_overtime(stmt, 14),
    };
    if (kind == ORG_UNIT_DEPARTMENT)
        return;
    out_unit->department_id = db_column_int(stmt, 24);
    out_unit->department_name = db_column_text(stmt, 25, arena);
    out_unit->name_space = db_column_text(stmt, 26, arena);
    out_unit->requested_namespace = db_column_text(stmt, 27, arena);
    out_unit->enforce_scheduler = db_column_int(stmt, 28) != 0;
    out_unit->department_scheduling_rules_json = db_column_text(stmt, 29, arena);
    out_unit->department_node_types_json = db_column_text(stmt, 30, arena);
    out_unit->effective_node_pools_json = db_column_text(stmt, 31, arena);
}

static const char SQL_FIND_PROJECT[] = "SELECT " PROJECT_COLUMNS " FROM " PROJECT_FROM " WHERE p.id = ?";
static const char SQL_FIND_DEPARTMENT[] = "SELECT " DEPARTMENT_COLUMNS " FROM " DEPARTMENT_FROM " WHERE d.id = ?";

int db_find_org_unit(struct db_conn *conn, enum org_unit_kind kind, int64_t id, struct arena *arena,
                     struct org_unit *out_unit, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, kind == ORG_UNIT_PROJECT ? SQL_FIND_PROJECT : SQL_FIND_DEPARTMENT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        org_unit_from_row(stmt, kind, arena, out_unit);
    db_release(conn, stmt);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "%s %" PRId64 ": not found", org_unit_kind_text(kind), id);
    return rc < 0 ? -1 : db_read_queues(conn, kind, out_unit, 1, arena, err);
}

static const char SQL_CHILDREN[] = "SELECT p.department_id, p.id, p.name FROM projects p WHERE p.department_id IN "
                                   "(SELECT value FROM json_each(?)) ORDER BY p.department_id, p.id";
// Where one is unlimited, so is the sum. Memory is summed as REAL, which cannot overflow.
static const char SQL_SUMS[] =
    "SELECT p.department_id, q.node_pool_id, np.name, "
    "CASE WHEN count(*) = count(q.gpu_deserved_milli) THEN sum(q.gpu_deserved_milli) END, "
    "CASE WHEN count(*) = count(q.cpu_deserved_milli) THEN sum(q.cpu_deserved_milli) END, "
    "CASE WHEN count(*) = count(q.memory_deserved_bytes) THEN CAST(total(q.memory_deserved_bytes) AS INTEGER) END "
    "FROM projects p CROSS JOIN queues q ON q.owner_kind = 'project' AND q.owner_id = p.id "
    "JOIN node_pools np ON np.id = q.node_pool_id WHERE p.department_id IN (SELECT value FROM json_each(?)) "
    "GROUP BY p.department_id, q.node_pool_id ORDER BY p.department_id, q.node_pool_id";

static void add_child(struct org_unit *unit, sqlite3_stmt *stmt, size_t *capacity, struct arena *arena)
{
    unit->children = arena_grow(arena, unit->children, capacity, unit->child_count + 1, sizeof(*unit->children));
    unit->children[unit->child_count++] =
        (struct org_unit_child){.id = db_column_int(stmt, 1), .name = db_column_text(stmt, 2, arena)};
}

static void add_sum(struct org_unit *unit, sqlite3_stmt *stmt, size_t *capacity, struct arena *arena)
{
    unit->sums = arena_grow(arena, unit->sums, capacity, unit->sum_count + 1, sizeof(*unit->sums));
    unit->sums[unit->sum_count++] = (struct org_unit_sum){
        .node_pool_id = db_column_int(stmt, 1),
        .node_pool_name = db_column_text(stmt, 2, arena),
        .gpu_deserved_milli = db_column_quantity(stmt, 3),
        .cpu_deserved_milli = db_column_quantity(stmt, 4),
        .memory_deserved_bytes = db_column_quantity(stmt, 5),
    };
}

int db_read_department_projects(struct db_conn *conn, struct org_unit *departments, size_t count, struct arena *arena,
                                struct error *err)
{
    static const struct {
        const char *sql;
        void (*add)(struct org_unit *unit, sqlite3_stmt *stmt, size_t *capacity, struct arena *arena);
    } READS[] = {{SQL_CHILDREN, add_child}, {SQL_SUMS, add_sum}};
    struct org_unit **sorted = db_units_by_id(departments, count, arena);
    for (size_t i = 0; i < sizeof(READS) / sizeof(READS[0]); i++) {
        sqlite3_stmt *stmt = NULL;
        if (db_prepare(conn, READS[i].sql, &stmt, err) < 0)
            return -1;
        db_bind_text(stmt, 1, db_unit_ids(departments, count, arena));
        size_t at = 0, capacity = 0;
        int rc;
        while ((rc = db_step(conn, stmt, err)) == 1) {
            for (; sorted[at]->id != db_column_int(stmt, 0); at++)
                capacity = 0;
            READS[i].add(sorted[at], stmt, &capacity, arena);
        }
        db_release(conn, stmt);
        if (rc < 0)
            return -1;
    }
    return 0;
}
