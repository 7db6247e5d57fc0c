// What there is to tell of: reading only.
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/notifications/outbox.h"

#define WORKLOAD_COLUMNS "w.uuid, w.name, w.project_name, w.created_by, w.cluster_id, w.department_id, w.project_id"

static const char SQL_CURSOR[] = "SELECT event_id, phase_id, digest_ms FROM notification_cursor";
static const char SQL_LAST_EVENT[] = "SELECT coalesce(max(id), 0) FROM events";
static const char SQL_LAST_PHASE[] = "SELECT coalesce(max(id), 0) FROM phase_history";
// Several pods of a workload have the same thing to say at the same moment: the first says it.
static const char SQL_EVENTS[] =
    "SELECT e.id, e.time_ms, e.reason, e.message, " WORKLOAD_COLUMNS
    " FROM events e JOIN workloads w ON w.id = e.workload_id WHERE e.id > :after AND e.id <= :last "
    "AND e.time_ms >= :since AND e.reason IN (SELECT value FROM json_each(:kinds)) "
    "AND NOT EXISTS (SELECT 1 FROM events o WHERE o.workload_id = e.workload_id AND o.time_ms = e.time_ms "
    "AND o.id < e.id AND o.reason = e.reason) ORDER BY e.id LIMIT :most";
static const char SQL_PHASES[] =
    "SELECT h.id, h.time_ms, h.phase, h.message, " WORKLOAD_COLUMNS
    " FROM phase_history h JOIN workloads w ON w.id = h.workload_id WHERE h.id > :after AND h.id <= :last "
    "AND h.time_ms >= :since AND h.phase IN (SELECT value FROM json_each(:kinds)) ORDER BY h.id LIMIT :most";
static const char SQL_OVER_QUOTA[] =
    "SELECT p.cluster_id, p.department_id, p.id, p.name, n.name, q.gpu_allocated_milli, q.gpu_deserved_milli "
    "FROM queues q JOIN projects p ON p.id = q.owner_id JOIN node_pools n ON n.id = q.node_pool_id "
    "WHERE q.owner_kind = 'project' AND q.gpu_allocated_milli > q.gpu_deserved_milli ORDER BY p.name, n.name";

int db_find_notification_cursor(struct db_conn *conn, struct notification_cursor *out_cursor, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_CURSOR, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_cursor =
            (struct notification_cursor){db_column_int(stmt, 0), db_column_int(stmt, 1), db_column_int(stmt, 2)};
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

struct listing {
    struct notification_source *sources;
    size_t count, capacity;
};

static void take_row(sqlite3_stmt *stmt, bool is_phase, struct arena *arena, struct listing *listing)
{
    listing->sources =
        arena_grow(arena, listing->sources, &listing->capacity, listing->count + 1, sizeof(*listing->sources));
    listing->sources[listing->count++] = (struct notification_source){
        .is_phase = is_phase,
        .id = db_column_int(stmt, 0),
        .time_ms = db_column_int(stmt, 1),
        .kind = db_column_text(stmt, 2, arena),
        .message = db_column_text(stmt, 3, arena),
        .workload_uuid = db_column_text(stmt, 4, arena),
        .workload_name = db_column_text(stmt, 5, arena),
        .project_name = db_column_text(stmt, 6, arena),
        .created_by = db_column_text(stmt, 7, arena),
        .cluster_id = db_column_int(stmt, 8),
        .department_id = db_column_int(stmt, 9),
        .project_id = db_column_int(stmt, 10),
    };
}

// Rows of one table from *after on, which is then behind them: at the last one read, or at the table's end.
static int list_of(struct db_conn *conn, bool is_phase, const struct notification_wish *wish, struct arena *arena,
                   int64_t *after, struct listing *listing, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t last, begin = (int64_t)listing->count;
    int rc;
    if (db_read_number(conn, is_phase ? SQL_LAST_PHASE : SQL_LAST_EVENT, &last, err) < 0 ||
        db_prepare(conn, is_phase ? SQL_PHASES : SQL_EVENTS, &stmt, err) < 0)
        return -1;
    // Rows go when they are old; where the newest went, its id comes again.
    db_set_int(stmt, ":after", *after < last ? *after : last);
    db_set_int(stmt, ":last", last);
    db_set_int(stmt, ":since", wish->since_ms);
    db_set_text(stmt, ":kinds", is_phase ? wish->phases_json : wish->reasons_json);
    db_set_int(stmt, ":most", NOTIFICATION_SOURCES_MAX);
    while ((rc = db_step(conn, stmt, err)) > 0)
        take_row(stmt, is_phase, arena, listing);
    db_release(conn, stmt);
    bool is_full = (int64_t)listing->count - begin == NOTIFICATION_SOURCES_MAX;
    *after = is_full ? listing->sources[listing->count - 1].id : last;
    return rc < 0 ? -1 : is_full;
}

int db_list_notification_sources(struct db_conn *conn, const struct notification_wish *wish, struct arena *arena,
                                 struct notification_cursor *cursor, struct notification_source **out_sources,
                                 size_t *out_count, bool *out_is_full, struct error *err)
{
    struct listing listing = {0};
    struct notification_cursor moved = *cursor;
    int phases = list_of(conn, true, wish, arena, &moved.phase_id, &listing, err);
    int events = phases < 0 ? -1 : list_of(conn, false, wish, arena, &moved.event_id, &listing, err);
    if (events < 0)
        return -1;
    *cursor = moved;
    *out_sources = listing.sources;
    *out_count = listing.count;
    *out_is_full = phases > 0 || events > 0;
    return 0;
}

int db_list_over_quota(struct db_conn *conn, struct arena *arena, struct over_quota **out_projects, size_t *out_count,
                       struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct over_quota *projects = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_OVER_QUOTA, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        projects = arena_grow(arena, projects, &capacity, count + 1, sizeof(*projects));
        projects[count++] = (struct over_quota){
            .cluster_id = db_column_int(stmt, 0),
            .department_id = db_column_int(stmt, 1),
            .project_id = db_column_int(stmt, 2),
            .project_name = db_column_text(stmt, 3, arena),
            .node_pool_name = db_column_text(stmt, 4, arena),
            .allocated_milli = db_column_int(stmt, 5),
            .deserved_milli = db_column_int(stmt, 6),
        };
    }
    db_release(conn, stmt);
    *out_projects = projects;
    *out_count = count;
    return rc;
}
