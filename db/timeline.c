#include "db/timeline.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "db/db.h"
#include "db/scopes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Each statement: a beginning, conditions of a scope (which take parameters without a name), and what follows.
static const char SQL_LANES[] = "SELECT n.name, np.name, n.gpu_count FROM nodes n JOIN node_pools np"
                                " ON np.id = n.node_pool_id WHERE n.deleted_ms = 0 AND n.gpu_count > 0"
                                " AND (:pool IS NULL OR np.name = :pool) AND (:node IS NULL OR n.name = :node) AND ";
static const char SQL_LANES_ORDER[] = " ORDER BY np.name, n.name COLLATE by_number, n.id";
// Ids grow as time does: no index is needed for the order, and a pass over the table reads each page once.
static const char SQL_HELD[] =
    "SELECT a.id, a.node_name, a.node_pool_id, a.gpu_indices_json, a.gpu_milli, a.project_id,"
    " a.workload_id, a.started_ms, a.ended_ms, a.end_reason, ";
static const char SQL_HELD_FROM[] =
    " FROM allocations a WHERE a.started_ms < :end AND (a.ended_ms = 0 OR a.ended_ms > :start) AND a.gpu_milli > 0"
    " AND (:node IS NULL OR a.node_name = :node) AND (:pool IS NULL OR a.node_pool_id IN"
    " (SELECT id FROM node_pools WHERE name = :pool)) AND ";
static const char SQL_HELD_POOLS[] = "a.node_pool_id IN (SELECT np.id FROM node_pools np WHERE ";
static const char SQL_HELD_ORDER[] = ") ORDER BY a.id";
// Removed are those that ended first: all that ended since the oldest that is kept are here.
static const char SQL_SINCE[] =
    "SELECT coalesce((SELECT min(ended_ms) FROM allocations WHERE ended_ms > 0), (SELECT max(day_ms) + 86400000"
    " FROM usage_days)) WHERE EXISTS (SELECT 1 FROM usage_days)";
static const char SQL_NAMES[] = "SELECT a.id, w.uuid, a.workload_name, a.project_name FROM json_each(?1) j"
                                " CROSS JOIN allocations a ON a.id = j.value LEFT JOIN workloads w"
                                " ON w.id = a.workload_id ORDER BY j.key";
static const char SQL_EVICTIONS[] =
    "SELECT r.time_ms, r.action, r.node_name, r.gpu_indices_json, r.gpu_milli, w.uuid, w.name, w.project_name,"
    " r.beneficiary_uuid, r.beneficiary_name, r.beneficiary_project_name, ";
static const char SQL_EVICTIONS_FROM[] =
    " FROM receipts r JOIN workloads w ON w.id = r.workload_id LEFT JOIN projects b ON b.id = r.beneficiary_project_id"
    " WHERE r.time_ms >= :start AND r.time_ms < :end AND (:pool IS NULL OR r.node_pool_name = :pool)"
    " AND (:node IS NULL OR r.node_name = :node) AND ";
static const char SQL_EVICTIONS_ORDER[] = " ORDER BY r.time_ms DESC, r.id DESC LIMIT :limit";
static const char SQL_FIGURE[] =
    "WITH RECURSIVE points(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM points WHERE at < ?4 - 1)"
    " SELECT at, (SELECT s.value FROM samples s WHERE s.scope = ?1 AND s.scope_id = owner.id AND s.node_pool_id = 0"
    " AND s.metric = ?3 AND s.time_ms <= ?5 + (?6 - ?5) * at / ?4 ORDER BY s.time_ms DESC LIMIT 1) FROM points,"
    " (SELECT iif(?1 = 'cluster', (SELECT min(id) FROM clusters), (SELECT id FROM node_pools WHERE name = ?2"
    " AND deleted_ms = 0)) AS id) AS owner WHERE ?5 + (?6 - ?5) * at / ?4 <= ?7";

// A department counts for its projects where all of it is told; then come conditions of a scope, three times.
static const char SQL_UNITS[] = "WITH RECURSIVE units(scope, id) AS MATERIALIZED (SELECT 'department', d.id FROM"
                                " departments d WHERE ";
static const char SQL_UNITS_PROJECTS[] = " UNION ALL SELECT 'project', p.id FROM projects p WHERE ";
static const char SQL_UNITS_OTHERS[] = " AND p.department_id NOT IN (SELECT d.id FROM departments d WHERE ";
#define SQL_OF_UNIT                                                                                        \
    " FROM samples s WHERE s.scope = u.scope AND s.scope_id = u.id AND s.metric = 'WAITING_WORKLOADS' AND" \
    " s.node_pool_id = pool.id"
#define SQL_LATEST " ORDER BY s.time_ms DESC LIMIT 1"
static const char SQL_UNITS_WAITED[] =
    ")), pool(id) AS MATERIALIZED (SELECT iif(:pool IS NULL, 0, (SELECT id FROM node_pools WHERE name = :pool AND"
    " deleted_ms = 0))), waited(scope, id) AS MATERIALIZED (SELECT u.scope, u.id FROM units u, pool WHERE EXISTS"
    " (SELECT 1" SQL_OF_UNIT " AND s.time_ms > :start AND s.time_ms < :end) OR (SELECT s.value" SQL_OF_UNIT
    " AND s.time_ms <= :start" SQL_LATEST ") > 0), points(at, time_ms) AS (SELECT 0, :start UNION ALL SELECT at + 1,"
    " :start + (:end - :start) * (at + 1) / :count FROM points WHERE at < :count - 1) SELECT at, (SELECT"
    " total((SELECT s.value" SQL_OF_UNIT " AND s.time_ms <= points.time_ms" SQL_LATEST ")) FROM waited u, pool) FROM"
    " points WHERE time_ms <= :now AND time_ms >= (SELECT min((SELECT s.time_ms FROM samples s WHERE s.scope ="
    " 'nodepool' AND s.scope_id = np.id AND s.node_pool_id = 0 AND s.metric = 'WAITING_WORKLOADS' ORDER BY s.time_ms"
    " LIMIT 1)) FROM node_pools np WHERE np.name = coalesce(:pool, np.name))";

enum {
    SCOPE_PARAMETERS = 3
};

const char *held_end_text(enum held_end end)
{
    static const char *const TEXTS[HELD_END_COUNT] = {[HELD_FINISHED] = "finished",
                                                      [HELD_FAILED] = "failed",
                                                      [HELD_PREEMPTED] = "preempted",
                                                      [HELD_STOPPED] = "stopped"};
    return TEXTS[end];
}

// Reasons of the scheduler and of people; any other is a backend's, and a failure.
static const struct {
    const char *reason;
    enum held_end end;
} ENDS[] = {
    {"Completed", HELD_FINISHED}, {"Preempted", HELD_PREEMPTED},       {"Consolidated", HELD_PREEMPTED},
    {"Suspended", HELD_STOPPED},  {"Deleted", HELD_STOPPED},           {"ScaledDown", HELD_STOPPED},
    {"Updated", HELD_STOPPED},    {"TimeLimitExceeded", HELD_STOPPED}, {"IdleLimitExceeded", HELD_STOPPED},
};

static enum held_end end_of(int64_t ended_ms, const char *reason)
{
    if (ended_ms == 0)
        return HELD_STILL;
    for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++)
        if (strcmp(reason, ENDS[i].reason) == 0)
            return ENDS[i].end;
    return HELD_FAILED;
}

static uint64_t devices_of(const char *indices_json)
{
    uint64_t devices = 0;
    for (const char *c = indices_json; *c;)
        if (isdigit((unsigned char)*c)) {
            char *end;
            unsigned long index = strtoul(c, &end, 10);
            devices |= index < 64 ? UINT64_C(1) << index : 0;
            c = end;
        } else {
            c++;
        }
    return devices;
}

// The next parameters without a name, if the scope took any.
static void bind_scope(sqlite3_stmt *stmt, const struct scope_filter *filter, int *next, struct arena *arena)
{
    const char *lists[SCOPE_PARAMETERS];
    if (filter->is_all)
        return;
    scope_filter_lists(filter, arena, lists);
    for (int i = 0; i < SCOPE_PARAMETERS; i++)
        db_bind_text(stmt, (*next)++, lists[i]);
}

static int prepare(struct db_conn *conn, struct buffer *sql, sqlite3_stmt **out_stmt, struct error *err)
{
    char *text = buffer_take(sql);
    int rc = db_prepare_once(conn, text, out_stmt, err);
    free(text);
    return rc;
}

int db_list_timeline_lanes(struct db_conn *conn, const struct timeline_query *query, struct arena *arena,
                           struct timeline_lane **out_lanes, size_t *out_count, struct error *err)
{
    struct timeline_lane *lanes = NULL;
    size_t count = 0, capacity = 0;
    sqlite3_stmt *stmt = NULL;
    struct buffer sql;
    int rc, next = 3; // behind :pool and :node
    buffer_init(&sql, 0);
    buffer_text(&sql, SQL_LANES);
    scope_filter_sql(query->nodes, &sql, "n.cluster_id", "NULL", "NULL");
    buffer_text(&sql, SQL_LANES_ORDER);
    if (prepare(conn, &sql, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":pool", query->node_pool);
    db_set_text(stmt, ":node", query->node);
    bind_scope(stmt, query->nodes, &next, arena);
    while ((rc = db_step(conn, stmt, err)) == 1) {
        lanes = arena_grow(arena, lanes, &capacity, count + 1, sizeof(*lanes));
        lanes[count++] = (struct timeline_lane){.node = db_column_text(stmt, 0, arena),
                                                .node_pool = db_column_text(stmt, 1, arena),
                                                .gpu_count = db_column_int(stmt, 2)};
    }
    db_release(conn, stmt);
    *out_lanes = lanes;
    *out_count = count;
    return rc;
}

// Whether the caller may know whose it is; of what is hidden nothing but the devices and the times is read.
static struct held_place read_place(sqlite3_stmt *stmt)
{
    bool is_shown = db_column_int(stmt, 10) != 0;
    size_t length;
    struct held_place place = {
        .id = db_column_int(stmt, 0),
        .node = db_column_view(stmt, 1, &length),
        .node_pool_id = db_column_int(stmt, 2),
        .devices = devices_of(db_column_view(stmt, 3, &length)),
        .gpu_milli = db_column_int(stmt, 4),
        .project_id = is_shown ? db_column_int(stmt, 5) : 0,
        .workload_id = is_shown ? db_column_int(stmt, 6) : 0,
        .started_ms = db_column_int(stmt, 7),
        .ended_ms = db_column_int(stmt, 8),
    };
    place.end = end_of(place.ended_ms, db_column_view(stmt, 9, &length));
    return place;
}

int db_read_held(struct db_conn *conn, const struct timeline_query *query, struct arena *arena, db_held_fn fn,
                 void *context, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct buffer sql;
    int rc, next = 1;
    buffer_init(&sql, 0);
    buffer_text(&sql, SQL_HELD);
    scope_filter_sql(query->workloads, &sql, "(SELECT d.cluster_id FROM departments d WHERE d.id = a.department_id)",
                     "a.department_id", "a.project_id");
    buffer_text(&sql, SQL_HELD_FROM);
    buffer_text(&sql, SQL_HELD_POOLS);
    scope_filter_sql(query->nodes, &sql, "np.cluster_id", "NULL", "NULL");
    buffer_text(&sql, SQL_HELD_ORDER);
    if (prepare(conn, &sql, &stmt, err) < 0)
        return -1;
    bind_scope(stmt, query->workloads, &next, arena);
    next += 4; // :end, :start, :node, :pool
    bind_scope(stmt, query->nodes, &next, arena);
    db_set_int(stmt, ":start", query->start_ms);
    db_set_int(stmt, ":end", query->end_ms);
    db_set_text(stmt, ":pool", query->node_pool);
    db_set_text(stmt, ":node", query->node);
    while ((rc = db_step(conn, stmt, err)) == 1) {
        struct held_place place = read_place(stmt);
        fn(context, &place);
    }
    db_release(conn, stmt);
    return rc;
}

int db_find_held_since(struct db_conn *conn, int64_t *out_since_ms, struct error *err)
{
    return db_read_number(conn, SQL_SINCE, out_since_ms, err);
}

int db_read_held_names(struct db_conn *conn, const char *ids_json, struct arena *arena, struct held_name **out_names,
                       size_t *out_count, struct error *err)
{
    struct held_name *names = NULL;
    size_t count = 0, capacity = 0;
    sqlite3_stmt *stmt = NULL;
    int rc;
    if (db_prepare(conn, SQL_NAMES, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, ids_json);
    while ((rc = db_step(conn, stmt, err)) == 1) {
        names = arena_grow(arena, names, &capacity, count + 1, sizeof(*names));
        names[count++] = (struct held_name){.id = db_column_int(stmt, 0),
                                            .workload_uuid = db_column_text(stmt, 1, arena),
                                            .workload = db_column_text(stmt, 2, arena),
                                            .project = db_column_text(stmt, 3, arena)};
    }
    db_release(conn, stmt);
    *out_names = names;
    *out_count = count;
    return rc;
}

static struct timeline_eviction read_eviction(sqlite3_stmt *stmt, struct arena *arena)
{
    bool is_victim_shown = db_column_int(stmt, 11) != 0, is_beneficiary_shown = db_column_int(stmt, 12) != 0;
    struct timeline_eviction eviction = {
        .time_ms = db_column_int(stmt, 0),
        .action = db_column_text(stmt, 1, arena),
        .node = db_column_text(stmt, 2, arena),
        .devices = devices_of(db_column_text(stmt, 3, arena)),
        .gpu_milli = db_column_int(stmt, 4),
        .is_victim_shown = is_victim_shown,
        .is_beneficiary_shown = is_beneficiary_shown,
        .has_beneficiary = !db_column_is_null(stmt, 9),
    };
    if (is_victim_shown) {
        eviction.victim_uuid = db_column_text(stmt, 5, arena);
        eviction.victim = db_column_text(stmt, 6, arena);
        eviction.victim_project = db_column_text(stmt, 7, arena);
    }
    if (is_beneficiary_shown) {
        eviction.beneficiary_uuid = db_column_text(stmt, 8, arena);
        eviction.beneficiary = db_column_text(stmt, 9, arena);
        eviction.beneficiary_project = db_column_text(stmt, 10, arena);
    }
    return eviction;
}

int db_list_timeline_evictions(struct db_conn *conn, const struct timeline_query *query, size_t limit,
                               struct arena *arena, struct timeline_eviction **out_evictions, size_t *out_count,
                               struct error *err)
{
    struct timeline_eviction *evictions = arena_array(arena, limit, sizeof(*evictions));
    size_t count = 0;
    sqlite3_stmt *stmt = NULL;
    struct buffer sql;
    int rc, next = 1;
    buffer_init(&sql, 0);
    buffer_text(&sql, SQL_EVICTIONS);
    scope_filter_sql(query->workloads, &sql, "w.cluster_id", "r.department_id", "r.project_id");
    buffer_text(&sql, ", ");
    scope_filter_sql(query->workloads, &sql, "b.cluster_id", "b.department_id", "b.id");
    buffer_text(&sql, SQL_EVICTIONS_FROM);
    scope_filter_sql(query->nodes, &sql, "w.cluster_id", "NULL", "NULL");
    buffer_text(&sql, SQL_EVICTIONS_ORDER);
    if (prepare(conn, &sql, &stmt, err) < 0)
        return -1;
    bind_scope(stmt, query->workloads, &next, arena);
    bind_scope(stmt, query->workloads, &next, arena);
    next += 4; // :start, :end, :pool, :node
    bind_scope(stmt, query->nodes, &next, arena);
    db_set_int(stmt, ":start", query->start_ms);
    db_set_int(stmt, ":end", query->end_ms);
    db_set_text(stmt, ":pool", query->node_pool);
    db_set_text(stmt, ":node", query->node);
    db_set_int(stmt, ":limit", (int64_t)limit);
    while ((rc = db_step(conn, stmt, err)) == 1)
        evictions[count++] = read_eviction(stmt, arena);
    db_release(conn, stmt);
    *out_evictions = evictions;
    *out_count = count;
    return rc;
}

int db_read_timeline_figure(struct db_conn *conn, const struct timeline_query *query, const char *metric,
                            int64_t now_ms, size_t count, double *out_values, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;
    if (db_prepare(conn, SQL_FIGURE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, query->node_pool ? "nodepool" : "cluster");
    db_bind_text(stmt, 2, query->node_pool);
    db_bind_text(stmt, 3, metric);
    db_bind_int(stmt, 4, (int64_t)count);
    db_bind_int(stmt, 5, query->start_ms);
    db_bind_int(stmt, 6, query->end_ms);
    db_bind_int(stmt, 7, now_ms);
    for (size_t i = 0; i < count; i++)
        out_values[i] = NAN;
    while ((rc = db_step(conn, stmt, err)) == 1)
        if (!db_column_is_null(stmt, 1))
            out_values[db_column_int(stmt, 0)] = db_column_real(stmt, 1);
    db_release(conn, stmt);
    return rc;
}

// Of departments and projects; where nobody waited there are no rows to look at.
static int prepare_units(struct db_conn *conn, const struct timeline_query *query, struct arena *arena,
                         sqlite3_stmt **out_stmt, struct error *err)
{
    struct buffer sql;
    int next = 1;
    buffer_init(&sql, 0);
    buffer_text(&sql, SQL_UNITS);
    scope_filter_sql(query->workloads, &sql, "d.cluster_id", "d.id", "NULL");
    buffer_text(&sql, SQL_UNITS_PROJECTS);
    scope_filter_sql(query->workloads, &sql, "p.cluster_id", "p.department_id", "p.id");
    buffer_text(&sql, SQL_UNITS_OTHERS);
    scope_filter_sql(query->workloads, &sql, "d.cluster_id", "d.id", "NULL");
    buffer_text(&sql, SQL_UNITS_WAITED);
    if (prepare(conn, &sql, out_stmt, err) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        bind_scope(*out_stmt, query->workloads, &next, arena);
    return 0;
}

int db_read_timeline_waiting(struct db_conn *conn, const struct timeline_query *query, int64_t now_ms, size_t count,
                             struct arena *arena, double *out_values, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;
    if (query->workloads->is_all)
        return db_read_timeline_figure(conn, query, "WAITING_WORKLOADS", now_ms, count, out_values, err);
    if (prepare_units(conn, query, arena, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":pool", query->node_pool);
    db_set_int(stmt, ":start", query->start_ms);
    db_set_int(stmt, ":end", query->end_ms);
    db_set_int(stmt, ":count", (int64_t)count);
    db_set_int(stmt, ":now", now_ms);
    for (size_t i = 0; i < count; i++)
        out_values[i] = NAN;
    while ((rc = db_step(conn, stmt, err)) == 1)
        out_values[db_column_int(stmt, 0)] = db_column_real(stmt, 1);
    db_release(conn, stmt);
    return rc;
}
