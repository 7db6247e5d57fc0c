#include "db/queues.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/settings.h"

#include <inttypes.h>
#include <stdlib.h>

static const char SQL_FILL[] =
    "INSERT INTO queues (owner_kind, owner_id, node_pool_id, rank_name, rank, gpu_deserved_milli, "
    "gpu_over_quota_weight, revision) "
    "SELECT unit.kind, unit.id, np.id, ?2, ?3, 0, ?4, ?5 FROM node_pools np, "
    "(SELECT 'department' AS kind, id FROM departments WHERE cluster_id = ?1 "
    " UNION ALL SELECT 'project', id FROM projects WHERE cluster_id = ?1) AS unit "
    "WHERE np.cluster_id = ?1 AND np.deleted_ms = 0 AND NOT EXISTS (SELECT 1 FROM queues q "
    "WHERE q.owner_kind = unit.kind AND q.owner_id = unit.id AND q.node_pool_id = np.id)";
static const char SQL_UPDATE[] =
    "UPDATE queues SET rank_name = ?2, rank = ?3, gpu_deserved_milli = ?4, gpu_limit_milli = ?5, "
    "gpu_over_quota_weight = ?6, cpu_deserved_milli = ?7, cpu_limit_milli = ?8, cpu_over_quota_weight = ?9, "
    "memory_deserved_bytes = ?10, memory_limit_bytes = ?11, memory_over_quota_weight = ?12, memory_units = ?13, "
    "revision = ?14 WHERE id = ?1";
static const char SQL_DELETE_OF_POOL[] = "DELETE FROM queues WHERE node_pool_id = ?";
// Unlimited is more than any sum. The sums are REAL and so cannot overflow.
static const char SQL_OVER_DEPARTMENT[] =
    "SELECT np.name, coalesce(d.gpu_deserved_milli, 9e18), sum(coalesce(q.gpu_deserved_milli, 9e18)) * 1.0 AS asked "
    "FROM queues d JOIN node_pools np ON np.id = d.node_pool_id "
    "JOIN queues q ON q.owner_kind = 'project' AND q.node_pool_id = d.node_pool_id "
    "JOIN projects p ON p.id = q.owner_id AND p.department_id = d.owner_id "
    "WHERE d.owner_kind = 'department' AND d.owner_id = ? AND d.gpu_deserved_milli IS NOT NULL "
    "GROUP BY d.id HAVING asked > d.gpu_deserved_milli ORDER BY np.name LIMIT 1";
static const char SQL_READ[] =
    "SELECT " QUEUE_COLUMNS " FROM queues q JOIN node_pools np ON np.id = q.node_pool_id WHERE q.owner_kind = ?1 "
    "AND q.owner_id IN (SELECT value FROM json_each(?2)) ORDER BY q.owner_id, q.node_pool_id";

int queues_fill(struct db_conn *conn, int64_t cluster_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FILL, &stmt, err) < 0)
        return -1;
    struct queue defaults = {.id = 0};
    queue_defaults(&defaults);
    db_bind_int(stmt, 1, cluster_id);
    db_bind_text(stmt, 2, defaults.rank_name);
    db_bind_int(stmt, 3, defaults.rank);
    db_bind_real(stmt, 4, defaults.gpu.over_quota_weight);
    db_bind_int(stmt, 5, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// A quota that is lowered must still cover what cannot be taken back.
static int check_held(const struct queue_resource *now, const struct queue_resource *before, double per_unit,
                      const char *name, const struct queue *queue, const char *path, struct error *err)
{
    if (now->deserved >= before->deserved || now->deserved >= now->allocated_non_preemptible)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s: %s.deserved in node pool %s: non-preemptible workloads hold %g, so the quota cannot be %g",
                     path, name, queue->node_pool_name, (double)now->allocated_non_preemptible / per_unit,
                     (double)now->deserved / per_unit);
}

static int write_queue(struct db_conn *conn, const struct queue *queue, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_UPDATE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, queue->id);
    db_bind_text(stmt, 2, queue->rank_name);
    db_bind_int(stmt, 3, queue->rank);
    const struct queue_resource *resources[] = {&queue->gpu, &queue->cpu, &queue->memory};
    for (int i = 0; i < 3; i++) {
        db_bind_quantity(stmt, 4 + 3 * i, resources[i]->deserved);
        db_bind_quantity(stmt, 5 + 3 * i, resources[i]->limit);
        db_bind_real(stmt, 6 + 3 * i, resources[i]->over_quota_weight);
    }
    db_bind_text(stmt, 13, queue->memory_units);
    db_bind_int(stmt, 14, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int check_department(struct db_conn *conn, int64_t department_id, const char *path, struct error *err)
{
    int rc = -1;
    bool is_limited, has_departments;
    sqlite3_stmt *stmt = NULL;
    struct arena arena;
    arena_init(&arena);
    if (db_find_tenant_setting(conn, TENANT_SETTING_LIMIT_TO_DEPARTMENT, &is_limited, NULL, err) < 0 ||
        db_find_tenant_setting(conn, TENANT_SETTING_DEPARTMENTS, &has_departments, NULL, err) < 0)
        goto done;
    if (!is_limited || !has_departments) {
        rc = 0;
        goto done;
    }
    if (db_prepare(conn, SQL_OVER_DEPARTMENT, &stmt, err) < 0)
        goto done;
    db_bind_int(stmt, 1, department_id);
    rc = db_step(conn, stmt, err);
    if (rc == 1)
        rc = error_set(err, ERROR_INVALID,
                       "%s: the projects' GPU quotas in node pool %s would be %g, more than the department's %g", path,
                       db_column_text(stmt, 0, &arena), db_column_real(stmt, 2) / 1000, db_column_real(stmt, 1) / 1000);
done:
    db_release(conn, stmt);
    arena_done(&arena);
    return rc;
}

int queues_write(struct db_conn *conn, const struct org_unit *unit, const struct queue *before, const char *path,
                 struct error *err)
{
    for (size_t i = 0; i < unit->queue_count; i++) {
        const struct queue *queue = &unit->queues[i];
        if (check_held(&queue->gpu, &before[i].gpu, 1000, "gpu", queue, path, err) < 0 ||
            check_held(&queue->cpu, &before[i].cpu, 1, "cpu", queue, path, err) < 0 ||
            check_held(&queue->memory, &before[i].memory, 1e6, "memory", queue, path, err) < 0 ||
            write_queue(conn, queue, err) < 0)
            return -1;
    }
    return check_department(conn, unit->kind == ORG_UNIT_PROJECT ? unit->department_id : unit->id, path, err);
}

int queues_delete_of_pool(struct db_conn *conn, int64_t node_pool_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE_OF_POOL, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, node_pool_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static struct queue_resource read_resource(sqlite3_stmt *stmt, int first)
{
    return (struct queue_resource){
        .deserved = db_column_quantity(stmt, first),
        .limit = db_column_quantity(stmt, first + 1),
        .over_quota_weight = db_column_real(stmt, first + 2),
        .fair_share = db_column_int(stmt, first + 3),
        .allocated = db_column_int(stmt, first + 4),
        .allocated_non_preemptible = db_column_int(stmt, first + 5),
        .requested = db_column_int(stmt, first + 6),
    };
}

struct queue queue_from_row(sqlite3_stmt *stmt, struct arena *arena)
{
    return (struct queue){
        .owner_id = db_column_int(stmt, 0),
        .id = db_column_int(stmt, 1),
        .node_pool_id = db_column_int(stmt, 2),
        .node_pool_name = db_column_text(stmt, 3, arena),
        .rank_name = db_column_text(stmt, 4, arena),
        .rank = db_column_int(stmt, 5),
        .gpu = read_resource(stmt, 6),
        .cpu = read_resource(stmt, 13),
        .memory = read_resource(stmt, 20),
        .memory_units = db_column_text(stmt, 27, arena),
    };
}

const char *db_unit_ids(const struct org_unit *units, size_t count, struct arena *arena)
{
    size_t size = count * 24 + 3, length = 1;
    char *text = arena_alloc(arena, size);
    text[0] = '[';
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, i ? "," : "", units[i].id);
    text[length] = ']';
    return text;
}

static int compare_by_id(const void *a, const void *b)
{
    const struct org_unit *left = *(struct org_unit *const *)a, *right = *(struct org_unit *const *)b;
    return (left->id > right->id) - (left->id < right->id);
}

struct org_unit **db_units_by_id(struct org_unit *units, size_t count, struct arena *arena)
{
    struct org_unit **sorted = arena_array(arena, count, sizeof(struct org_unit *));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &units[i];
    if (count)
        qsort(sorted, count, sizeof(struct org_unit *), compare_by_id);
    return sorted;
}

struct org_unit **db_find_unit(struct org_unit **sorted, size_t count, int64_t id)
{
    struct org_unit wanted = {.id = id}, *key = &wanted;
    return count ? bsearch(&key, sorted, count, sizeof(*sorted), compare_by_id) : NULL;
}

int db_read_queues(struct db_conn *conn, enum org_unit_kind kind, struct org_unit *units, size_t count,
                   struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_READ, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, org_unit_kind_text(kind));
    db_bind_text(stmt, 2, db_unit_ids(units, count, arena));
    struct org_unit **sorted = db_units_by_id(units, count, arena);
    size_t at = 0, capacity = 0;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        struct queue queue = queue_from_row(stmt, arena);
        while (sorted[at]->id != queue.owner_id) {
            at++;
            capacity = 0;
        }
        struct org_unit *unit = sorted[at];
        unit->queues = arena_grow(arena, unit->queues, &capacity, unit->queue_count + 1, sizeof(*unit->queues));
        unit->queues[unit->queue_count++] = queue;
    }
    db_release(conn, stmt);
    return rc;
}
