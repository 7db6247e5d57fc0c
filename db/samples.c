#include "db/samples.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <math.h>

static const char SQL_RANGE[] =
    "SELECT time_ms, value FROM samples WHERE scope = ?1 AND scope_id = ?2 AND node_pool_id = ?3 AND metric = ?4 "
    "AND time_ms <= ?6 AND time_ms >= coalesce((SELECT max(time_ms) FROM samples WHERE scope = ?1 AND scope_id = ?2 "
    "AND node_pool_id = ?3 AND metric = ?4 AND time_ms <= ?5), 0) ORDER BY time_ms";
static const char SQL_METRICS[] =
    "SELECT DISTINCT metric FROM samples WHERE scope = ?1 AND scope_id = ?2 AND node_pool_id = 0 "
    "AND metric >= ?3 AND metric < ?3 || char(1114111) ORDER BY length(metric), metric";
#define OF_SERIES(name)                                                                                             \
    "samples " name " WHERE " name ".scope = ?1 AND " name ".scope_id = id AND " name ".node_pool_id = 0 AND " name \
    ".metric = metric_of AND " name ".time_ms <= ?2"
#define NOT_ZERO "(SELECT b.time_ms FROM " OF_SERIES("b") " AND b.value <> 0 ORDER BY b.time_ms DESC LIMIT 1)"
static const char SQL_LATEST[] = "SELECT place, latest, iif(latest = 0, (SELECT min(z.time_ms) FROM " OF_SERIES(
    "z") " AND z.time_ms > coalesce(" NOT_ZERO
         ", -1)), 0) FROM (SELECT place, id, metric_of, (SELECT n.value FROM " OF_SERIES(
             "n") " ORDER BY n.time_ms DESC LIMIT 1) AS latest FROM (SELECT key AS place, value ->> '$[0]' AS id, "
                  "value ->> '$[1]' AS "
                  "metric_of FROM json_each(?3)))";
static const char SQL_STALE_UNITS[] =
    "SELECT unit.kind, unit.id, unit.created_ms FROM (SELECT 'department' AS kind, id, created_ms FROM departments "
    "UNION ALL SELECT 'project', id, created_ms FROM projects) AS unit "
    "LEFT JOIN overtime o ON o.owner_kind = unit.kind AND o.owner_id = unit.id "
    "WHERE coalesce(o.updated_ms, 0) <= ?1 ORDER BY coalesce(o.updated_ms, 0), unit.kind, unit.id LIMIT ?2";
static const char SQL_SET_OVERTIME[] =
    "INSERT OR REPLACE INTO overtime VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

enum {
    AVERAGES_MAX = 8
};

// A row below 0 says that nobody measures it from then on.
static double column_value(sqlite3_stmt *stmt, int column)
{
    double value = db_column_real(stmt, column);
    return value < 0 ? NAN : value;
}

static void bind_series(sqlite3_stmt *stmt, const struct series *series)
{
    db_bind_text(stmt, 1, series->scope);
    db_bind_int(stmt, 2, series->scope_id);
    db_bind_int(stmt, 3, series->node_pool_id);
    db_bind_text(stmt, 4, series->metric);
}

// Rows from the one in force at start_ms up to end_ms.
static int open_range(struct db_conn *conn, const struct series *series, int64_t start_ms, int64_t end_ms,
                      sqlite3_stmt **out_stmt, struct error *err)
{
    if (db_prepare(conn, SQL_RANGE, out_stmt, err) < 0)
        return -1;
    bind_series(*out_stmt, series);
    db_bind_int(*out_stmt, 5, start_ms);
    db_bind_int(*out_stmt, 6, end_ms);
    return 0;
}

int db_read_series(struct db_conn *conn, const struct series *series, const int64_t *times_ms, size_t count,
                   double *out_values, bool *out_found, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    *out_found = false;
    if (count == 0)
        return 0;
    if (open_range(conn, series, times_ms[0], times_ms[count - 1], &stmt, err) < 0)
        return -1;
    size_t at = 0;
    double value = NAN;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        for (; at < count && times_ms[at] < db_column_int(stmt, 0); at++)
            out_values[at] = value;
        value = column_value(stmt, 1);
        *out_found = true;
    }
    for (; at < count; at++)
        out_values[at] = value;
    db_release(conn, stmt);
    return rc;
}

int db_read_latest(struct db_conn *conn, const char *scope, struct latest_sample *samples, size_t count, int64_t now_ms,
                   struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct buffer wanted;
    struct json_writer json;
    if (db_prepare(conn, SQL_LATEST, &stmt, err) < 0)
        return -1;
    buffer_init(&wanted, 0);
    json_writer_init(&json, &wanted, false);
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        samples[i].value = NAN;
        samples[i].zero_since_ms = 0;
        json_begin_array(&json);
        json_value_int(&json, samples[i].scope_id);
        json_value_text(&json, samples[i].metric);
        json_end_array(&json);
    }
    json_end_array(&json);
    db_bind_text(stmt, 1, scope);
    db_bind_int(stmt, 2, now_ms);
    db_bind_text(stmt, 3, wanted.data);
    buffer_done(&wanted);
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        if (db_column_is_null(stmt, 1))
            continue;
        samples[db_column_int(stmt, 0)].value = column_value(stmt, 1);
        samples[db_column_int(stmt, 0)].zero_since_ms = db_column_int(stmt, 2);
    }
    db_release(conn, stmt);
    return rc;
}

int db_list_series(struct db_conn *conn, const char *scope, int64_t scope_id, const char *metric_prefix,
                   struct arena *arena, const char ***out_metrics, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_METRICS, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, scope);
    db_bind_int(stmt, 2, scope_id);
    db_bind_text(stmt, 3, metric_prefix);
    const char **metrics = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        metrics = arena_grow(arena, metrics, &capacity, count + 1, sizeof(*metrics));
        metrics[count++] = db_column_text(stmt, 0, arena);
    }
    db_release(conn, stmt);
    *out_metrics = metrics;
    *out_count = count;
    return rc;
}

int db_read_steps(struct db_conn *conn, const struct series *series, int64_t from_ms, int64_t to_ms, db_step_fn step,
                  void *context, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (open_range(conn, series, from_ms, to_ms, &stmt, err) < 0)
        return -1;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        int64_t time_ms = db_column_int(stmt, 0);
        step(context, time_ms > from_ms ? time_ms : from_ms, column_value(stmt, 1));
    }
    db_release(conn, stmt);
    return rc;
}

struct average {
    double area;
    int64_t known_ms;
};

// Adds to each average the area of a value that was in force from one time to another, as far as it lies in its range.
static void add_area(struct average *averages, const int64_t *starts_ms, size_t count, double value, int64_t from_ms,
                     int64_t to_ms)
{
    for (size_t i = 0; i < count && !isnan(value); i++) {
        int64_t begin_ms = from_ms > starts_ms[i] ? from_ms : starts_ms[i];
        if (to_ms <= begin_ms)
            continue;
        averages[i].area += value * (double)(to_ms - begin_ms);
        averages[i].known_ms += to_ms - begin_ms;
    }
}

int db_average_series(struct db_conn *conn, const struct series *series, const int64_t *starts_ms, size_t count,
                      int64_t end_ms, double *out_averages, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t first_ms = starts_ms[count - 1], from_ms = first_ms;
    double value = 0;
    struct average averages[AVERAGES_MAX] = {{0}};
    if (open_range(conn, series, first_ms, end_ms, &stmt, err) < 0)
        return -1;
    int rc;
    bool is_first = true;
    for (; (rc = db_step(conn, stmt, err)) == 1; is_first = false) {
        int64_t at_ms = db_column_int(stmt, 0);
        double next = column_value(stmt, 1);
        add_area(averages, starts_ms, count, is_first && isnan(next) ? NAN : value, from_ms, at_ms);
        value = next;
        from_ms = at_ms;
    }
    db_release(conn, stmt);
    add_area(averages, starts_ms, count, value, from_ms, end_ms);
    for (size_t i = 0; i < count; i++)
        out_averages[i] = averages[i].known_ms && !is_first ? averages[i].area / (double)averages[i].known_ms : NAN;
    return rc;
}

static const int64_t RANGE_MS[] = {86400000, 7 * 86400000LL, 30 * 86400000LL};
static const char *const OVERTIME_METRICS[] = {"GPU_ALLOCATION", "GPU_UTILIZATION", "GPU_MEMORY_UTILIZATION"};
static const double UNKNOWN[] = {0, -1, -1}; // of each, where there is no figure
enum {
    RANGE_COUNT = sizeof(RANGE_MS) / sizeof(RANGE_MS[0]),
    OVERTIME_METRIC_COUNT = sizeof(OVERTIME_METRICS) / sizeof(OVERTIME_METRICS[0]),
    OVERTIME_AGE_MS = 300000,
    OVERTIME_AT_ONCE = 64, // bounds how long the writer is held
};

struct stale_unit {
    const char *kind;
    int64_t id, created_ms;
};

// A range begins when the unit was made, if that is later: the hours before say nothing of it.
static int refresh_unit(struct db_conn *conn, const struct stale_unit *unit, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t starts_ms[RANGE_COUNT];
    double averages[OVERTIME_METRIC_COUNT][RANGE_COUNT];
    for (int r = 0; r < RANGE_COUNT; r++)
        starts_ms[r] = now_ms - RANGE_MS[r] > unit->created_ms ? now_ms - RANGE_MS[r] : unit->created_ms;
    for (int m = 0; m < OVERTIME_METRIC_COUNT; m++) {
        struct series series = {.scope = unit->kind, .scope_id = unit->id, .metric = OVERTIME_METRICS[m]};
        if (db_average_series(conn, &series, starts_ms, RANGE_COUNT, now_ms, averages[m], err) < 0)
            return -1;
    }
    if (db_prepare(conn, SQL_SET_OVERTIME, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, unit->kind);
    db_bind_int(stmt, 2, unit->id);
    for (int m = 0; m < OVERTIME_METRIC_COUNT; m++)
        for (int r = 0; r < RANGE_COUNT; r++)
            db_bind_real(stmt, 3 + m * RANGE_COUNT + r, isnan(averages[m][r]) ? UNKNOWN[m] : averages[m][r]);
    db_bind_int(stmt, 3 + OVERTIME_METRIC_COUNT * RANGE_COUNT, now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_refresh_overtime(struct db_conn *conn, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct stale_unit units[OVERTIME_AT_ONCE];
    int count = 0;
    struct arena arena;
    arena_init(&arena);
    int rc = db_prepare(conn, SQL_STALE_UNITS, &stmt, err);
    if (rc < 0)
        goto done;
    db_bind_int(stmt, 1, now_ms - OVERTIME_AGE_MS);
    db_bind_int(stmt, 2, OVERTIME_AT_ONCE);
    while ((rc = db_step(conn, stmt, err)) == 1)
        units[count++] =
            (struct stale_unit){db_column_text(stmt, 0, &arena), db_column_int(stmt, 1), db_column_int(stmt, 2)};
    for (int i = 0; rc == 0 && i < count; i++)
        rc = refresh_unit(conn, &units[i], now_ms, err);
done:
    db_release(conn, stmt);
    arena_done(&arena);
    return rc;
}

// Of a series in all node pools.
#define LATEST(scope, id, metric)                                                                               \
    "(SELECT s.value FROM samples s WHERE s.scope = '" scope "' AND s.scope_id = " id " AND s.node_pool_id = 0" \
    " AND s.metric = " metric " ORDER BY s.time_ms DESC LIMIT 1)"
#define OF_GPU_NODES " FROM nodes n JOIN node_pools p ON p.id = n.node_pool_id"
#define WHERE_GPU_NODES " WHERE n.deleted_ms = 0 AND n.gpu_count > 0"

static const char SQL_POOLS[] = "SELECT p.name, '', 0, " LATEST("nodepool", "p.id", "'GPU_UTILIZATION'") ", " LATEST(
    "nodepool", "p.id",
    "'GPU_MEMORY_UTILIZATION'") " FROM node_pools p WHERE p.deleted_ms = 0 ORDER BY p.name LIMIT ?1";
static const char SQL_NODES[] = "SELECT p.name, n.name, 0, " LATEST("node", "n.id", "'GPU_UTILIZATION'") ", " LATEST(
    "node", "n.id", "'GPU_MEMORY_USAGE_BYTES'") OF_GPU_NODES WHERE_GPU_NODES " ORDER BY n.name LIMIT ?1";
static const char SQL_DEVICES[] =
    "WITH RECURSIVE gpus(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM gpus"
    " WHERE i + 1 < (SELECT max(gpu_count) FROM nodes WHERE deleted_ms = 0))"
    " SELECT p.name, n.name, g.i, " LATEST("node", "n.id", "'GPU_UTILIZATION_PER_GPU:' || g.i") ", " LATEST(
        "node", "n.id", "'GPU_MEMORY_USAGE_BYTES_PER_GPU:' || g.i") OF_GPU_NODES
    " JOIN gpus g ON g.i < n.gpu_count" WHERE_GPU_NODES " ORDER BY n.name, g.i LIMIT ?1";

static double read_value(sqlite3_stmt *stmt, int column)
{
    return db_column_is_null(stmt, column) ? NAN : column_value(stmt, column);
}

int db_read_gpu_figures(struct db_conn *conn, enum gpu_figures_of what, size_t limit, struct arena *arena,
                        struct gpu_figure **out_figures, size_t *out_count, struct error *err)
{
    static const char *const STATEMENTS[] = {
        [GPU_FIGURES_OF_POOLS] = SQL_POOLS, [GPU_FIGURES_OF_NODES] = SQL_NODES, [GPU_FIGURES_OF_DEVICES] = SQL_DEVICES};
    sqlite3_stmt *stmt = NULL;
    struct gpu_figure *figures = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, STATEMENTS[what], &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, (int64_t)limit);
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        figures = arena_grow(arena, figures, &capacity, count + 1, sizeof(*figures));
        figures[count++] = (struct gpu_figure){.node_pool = db_column_text(stmt, 0, arena),
                                               .node = db_column_text(stmt, 1, arena),
                                               .gpu = db_column_int(stmt, 2),
                                               .utilization = read_value(stmt, 3),
                                               .memory = read_value(stmt, 4)};
    }
    db_release(conn, stmt);
    *out_figures = figures;
    *out_count = count;
    return rc;
}
