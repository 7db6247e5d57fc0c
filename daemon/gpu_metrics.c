#include "daemon/gpu_metrics.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/prometheus.h"
#include "db/db.h"
#include "db/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

static const struct metric {
    const char *name, *help;
    enum gpu_figures_of of;
    bool is_memory;
    double unit;
    bool is_of_runai; // its labels are Run:ai's, too
} METRICS[] = {
    {"prorata_node_pool_gpu_utilization_ratio", "GPU utilization of a node pool, from 0 to 1.", GPU_FIGURES_OF_POOLS,
     false, 100, false},
    {"prorata_node_pool_gpu_memory_utilization_ratio", "GPU memory used of a node pool, from 0 to 1.",
     GPU_FIGURES_OF_POOLS, true, 100, false},
    {"prorata_node_gpu_utilization_ratio", "GPU utilization of a node, from 0 to 1.", GPU_FIGURES_OF_NODES, false, 100,
     false},
    {"prorata_node_gpu_memory_used_bytes", "GPU memory used on a node.", GPU_FIGURES_OF_NODES, true, 1, false},
    {"prorata_gpu_utilization_ratio", "Utilization of a GPU, from 0 to 1.", GPU_FIGURES_OF_DEVICES, false, 100, false},
    {"prorata_gpu_memory_used_bytes", "Memory used of a GPU.", GPU_FIGURES_OF_DEVICES, true, 1, false},
    {"runai_gpu_utilization_per_node", "GPU utilization of a node in percent.", GPU_FIGURES_OF_NODES, false, 1, true},
    {"runai_gpu_memory_used_mebibytes_per_node", "GPU memory used on a node.", GPU_FIGURES_OF_NODES, true, 1 << 20,
     true},
    {"runai_gpu_utilization_per_gpu", "Utilization of a GPU in percent.", GPU_FIGURES_OF_DEVICES, false, 1, true},
    {"runai_gpu_memory_used_mebibytes_per_gpu", "Memory used of a GPU.", GPU_FIGURES_OF_DEVICES, true, 1 << 20, true},
};

static void write_figure(struct buffer *out, const struct metric *metric, const char *cluster,
                         const struct gpu_figure *figure)
{
    double value = metric->is_memory ? figure->memory : figure->utilization;
    if (isnan(value))
        return;
    buffer_printf(out, "%s{", metric->name);
    prometheus_label(out, metric->is_of_runai ? "clusterId" : "node_pool",
                     metric->is_of_runai ? cluster : figure->node_pool);
    if (metric->of != GPU_FIGURES_OF_POOLS) {
        buffer_char(out, ',');
        prometheus_label(out, "node", figure->node);
    }
    if (metric->of == GPU_FIGURES_OF_DEVICES)
        buffer_printf(out, ",gpu=\"%" PRId64 "\"", figure->gpu);
    buffer_printf(out, "} %.15g\n", value / metric->unit);
}

static void write_metrics(struct buffer *out, enum gpu_figures_of of, const char *cluster,
                          const struct gpu_figure *figures, size_t count)
{
    for (size_t m = 0; m < sizeof(METRICS) / sizeof(METRICS[0]); m++) {
        if (METRICS[m].of != of)
            continue;
        prometheus_head(out, METRICS[m].name, "gauge", METRICS[m].help);
        for (size_t i = 0; i < count; i++)
            write_figure(out, &METRICS[m], cluster, &figures[i]);
    }
}

void gpu_metrics_write(struct db *db, const char *cluster, struct buffer *out)
{
    static const size_t LIMITS[] = {[GPU_FIGURES_OF_POOLS] = PROMETHEUS_NODES_MAX,
                                    [GPU_FIGURES_OF_NODES] = PROMETHEUS_NODES_MAX,
                                    [GPU_FIGURES_OF_DEVICES] = PROMETHEUS_DEVICES_MAX + 1};
    struct arena arena;
    arena_init(&arena);
    struct db_conn *conn = db_acquire(db);
    for (enum gpu_figures_of of = GPU_FIGURES_OF_POOLS; of <= GPU_FIGURES_OF_DEVICES; of++) {
        struct gpu_figure *figures;
        size_t count;
        if (db_read_gpu_figures(conn, of, LIMITS[of], &arena, &figures, &count, NULL) < 0)
            break;
        if (of != GPU_FIGURES_OF_DEVICES || count <= PROMETHEUS_DEVICES_MAX)
            write_metrics(out, of, cluster, figures, count);
    }
    db_give_back(db, conn);
    arena_done(&arena);
}
