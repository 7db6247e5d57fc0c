#include "db/usage_days.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

// An allocation in parts, one a day. ?1 is now.
#define PARTS_OF(condition)                                                                                       \
    "WITH RECURSIVE part(id, day_ms, end_ms) AS ("                                                                \
    " SELECT id, started_ms - started_ms % 86400000, max(started_ms, iif(ended_ms > 0, ended_ms, ?1))"            \
    " FROM allocations WHERE " condition                                                                          \
    " UNION ALL SELECT id, day_ms + 86400000, end_ms FROM part WHERE day_ms + 86400000 < end_ms), "               \
    "held AS (SELECT a.*, part.day_ms, min(part.end_ms, part.day_ms + 86400000) - max(a.started_ms, part.day_ms)" \
    " AS held_ms FROM part JOIN allocations a USING (id)) "
#define AMOUNTS "gpu_milli * held_ms, cpu_milli * held_ms, (memory_bytes + 1048575) / 1048576 * held_ms"

static const char SQL_SUM[] = PARTS_OF(
    "id = ?2") "INSERT INTO usage_days (day_ms, project_id, department_id, node_pool_id, person, project_name,"
               " gpu_milli_ms, cpu_milli_ms, memory_mib_ms) SELECT day_ms, project_id, department_id, node_pool_id,"
               " person, project_name, " AMOUNTS " FROM held WHERE true ON CONFLICT DO UPDATE SET"
               " project_name = excluded.project_name, gpu_milli_ms = gpu_milli_ms + excluded.gpu_milli_ms,"
               " cpu_milli_ms = cpu_milli_ms + excluded.cpu_milli_ms,"
               " memory_mib_ms = memory_mib_ms + excluded.memory_mib_ms";
static const char SQL_REMOVE[] = "DELETE FROM allocations WHERE id = ?1";
static const char SQL_LIST[] = PARTS_OF(
    "started_ms < ?3 AND (ended_ms = 0 OR ended_ms >= ?2)") ", every AS (SELECT day_ms, project_id,"
                                                            " department_id, node_pool_id, person, project_name, "
                                                            "gpu_milli_ms, cpu_milli_ms, memory_mib_ms FROM usage_days"
                                                            " WHERE day_ms >= ?2 AND day_ms < ?3 UNION ALL SELECT "
                                                            "day_ms, project_id, department_id, node_pool_id, person,"
                                                            " project_name, " AMOUNTS
                                                            " FROM held WHERE day_ms >= ?2 AND day_ms < ?3) "
                                                            "SELECT day_ms, project_id, department_id, node_pool_id, "
                                                            "person,"
                                                            " coalesce((SELECT name FROM projects WHERE id = "
                                                            "project_id), max(project_name)),"
                                                            " coalesce((SELECT name FROM node_pools WHERE id = "
                                                            "node_pool_id), ''), sum(gpu_milli_ms), sum(cpu_milli_ms),"
                                                            " sum(memory_mib_ms) FROM every GROUP BY 1, 2, 3, 4, 5 "
                                                            "ORDER BY 1, 2, 3, 4, 5";

static const char SQL_HELD_BY_PEOPLE[] =
    "SELECT person, gpu_milli / 1000.0, started_ms, min(iif(ended_ms > 0, ended_ms, ?3), ?3), project_id"
    " FROM allocations WHERE ?1 IN (0, project_id) AND gpu_milli > 0 AND started_ms < ?3 AND (ended_ms = 0 OR ended_ms "
    "> ?2)"
    " UNION ALL SELECT person, gpu_milli_ms / 86400000000.0, day_ms, min(day_ms + 86400000, ?3), project_id"
    " FROM usage_days WHERE ?1 IN (0, project_id) AND gpu_milli_ms > 0 AND day_ms < ?3 AND day_ms + 86400000 > ?2";

int db_sum_allocation(struct db_conn *conn, int64_t id, struct error *err)
{
    sqlite3_stmt *sum = NULL, *removal = NULL;
    int rc = -1;
    if (db_prepare(conn, SQL_SUM, &sum, err) < 0 || db_prepare(conn, SQL_REMOVE, &removal, err) < 0)
        goto done;
    db_bind_int(sum, 1, 0); // it has ended
    db_bind_int(sum, 2, id);
    db_bind_int(removal, 1, id);
    rc = db_run(conn, sum, err) < 0 ? -1 : db_run(conn, removal, err);
done:
    db_release(conn, sum);
    db_release(conn, removal);
    return rc;
}

int db_read_held_by_people(struct db_conn *conn, int64_t project_id, int64_t since_ms, int64_t now_ms,
                           held_by_person_fn fn, void *context, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_HELD_BY_PEOPLE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, project_id);
    db_bind_int(stmt, 2, since_ms);
    db_bind_int(stmt, 3, now_ms);
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        size_t length;
        fn(context, db_column_int(stmt, 4), db_column_view(stmt, 0, &length), db_column_real(stmt, 1),
           db_column_int(stmt, 2), db_column_int(stmt, 3));
    }
    db_release(conn, stmt);
    return rc;
}

int db_list_usage(struct db_conn *conn, int64_t from_ms, int64_t to_ms, int64_t now_ms, struct arena *arena,
                  struct usage_day **out_days, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt;
    struct usage_day *days = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, now_ms);
    db_bind_int(stmt, 2, from_ms);
    db_bind_int(stmt, 3, to_ms);
    while ((rc = db_step(conn, stmt, err)) == 1) {
        days = arena_grow(arena, days, &capacity, count + 1, sizeof(*days));
        days[count++] = (struct usage_day){
            .day_ms = db_column_int(stmt, 0),
            .project_id = db_column_int(stmt, 1),
            .department_id = db_column_int(stmt, 2),
            .node_pool_id = db_column_int(stmt, 3),
            .person = db_column_text(stmt, 4, arena),
            .project_name = db_column_text(stmt, 5, arena),
            .node_pool_name = db_column_text(stmt, 6, arena),
            .gpu_milli_ms = db_column_int(stmt, 7),
            .cpu_milli_ms = db_column_int(stmt, 8),
            .memory_mib_ms = db_column_int(stmt, 9),
        };
    }
    db_release(conn, stmt);
    *out_days = days;
    *out_count = count;
    return rc;
}
