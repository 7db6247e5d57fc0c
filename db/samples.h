// Time series: step functions, a row where a value changed. Scopes and metrics are the words of the table's comment in
// the schema: scope "cluster", "nodepool", "node", "project", "department", "workload", "pod"; metric the API's type
// ("ALLOCATED_GPU", "GPU_ALLOCATION", ...), with ":<index>" behind those that end in _PER_GPU, ":<band>" (0-25, 25-50,
// 50-75, 75-100) behind GPU_UTILIZATION_DISTRIBUTION, and ":<category>" (Build, Train, Deploy) behind a cluster's
// ALLOCATED_GPU and WORKLOADS_COUNT where these are the part of one category. Values are in the API's
// units (GPUs, %, bytes, cores, millicores, MB). The reconciler writes them: db_put_sample. From a row below 0 on
// nobody measures it: readers give NAN for that.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

struct series {
    const char *scope;
    int64_t scope_id;
    int64_t node_pool_id; // 0: all pools; samples of a pool itself have scope "nodepool" and 0 here
    const char *metric;
};

// The value at each of count times (ascending): that of the newest row at or before it. NAN where there is none.
// out_found is false where the series has no row at all before the last time.
int db_read_series(struct db_conn *conn, const struct series *series, const int64_t *times_ms, size_t count,
                   double *out_values, bool *out_found, struct error *err);
// The newest value at or before now_ms of each of these series (of all node pools), by one statement for all.
struct latest_sample {
    int64_t scope_id;
    const char *metric;
    double value;          // set; NAN: there is none
    int64_t zero_since_ms; // set: since when it is 0; 0: it is not
};
int db_read_latest(struct db_conn *conn, const char *scope, struct latest_sample *samples, size_t count, int64_t now_ms,
                   struct error *err);
// The metrics of this scope that begin with the text: those of the single devices of a node. Static order by index.
int db_list_series(struct db_conn *conn, const char *scope, int64_t scope_id, const char *metric_prefix,
                   struct arena *arena, const char ***out_metrics, size_t *out_count, struct error *err);
// Calls step for each row of a series, from the one in force at from_ms (with from_ms as its time) to to_ms.
typedef void (*db_step_fn)(void *context, int64_t time_ms, double value);
int db_read_steps(struct db_conn *conn, const struct series *series, int64_t from_ms, int64_t to_ms, db_step_fn step,
                  void *context, struct error *err);
// Averages of a series from each start (the last one is the earliest) to the end. Time in which nobody measured is left
// out; NAN where that is all of it, or no row is there. Time before the first row counts as 0, or is left out as the
// row's own is. At most 8 starts.
int db_average_series(struct db_conn *conn, const struct series *series, const int64_t *starts_ms, size_t count,
                      int64_t end_ms, double *out_averages, struct error *err);

// Renews what projects and departments show as overtimeData (24 hours, 7 days, 30 days), where it is older than five
// minutes: the oldest first, a bounded number at once. A write function; the reconciler calls it each minute.
int db_refresh_overtime(struct db_conn *conn, int64_t now_ms, struct error *err);

// What GPUs do now, by the latest rows of their series: for whoever watches the whole cluster.
enum gpu_figures_of {
    GPU_FIGURES_OF_POOLS,
    GPU_FIGURES_OF_NODES,  // that have GPUs
    GPU_FIGURES_OF_DEVICES // of these nodes, by node and index
};

struct gpu_figure {
    const char *node_pool, *node; // ""; the arena's
    int64_t gpu;                  // index on its node
    double utilization;           // percent; NAN: nobody measures it
    double memory;                // used: bytes, of a pool percent; NAN likewise
};

// The first by name, at most so many. One statement, two look-ups for each.
int db_read_gpu_figures(struct db_conn *conn, enum gpu_figures_of what, size_t limit, struct arena *arena,
                        struct gpu_figure **out_figures, size_t *out_count, struct error *err);
