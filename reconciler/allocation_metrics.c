#include "reconciler/allocation_metrics.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/prometheus.h"
#include "base/quantity.h"
#include "reconciler/check/plan_reading.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <stdbool.h>

struct queue_metric {
    const char *name;
    const char *help;
    size_t offset; // of a struct amounts in struct plan_queue
    enum resource resource;
    int64_t unit;
};

static const struct queue_metric QUEUE_METRICS[] = {
    {"prorata_queue_deserved_gpus", "Quota of GPUs.", offsetof(struct plan_queue, deserved), RESOURCE_GPU, 1000},
    {"prorata_queue_limit_gpus", "Limit of GPUs.", offsetof(struct plan_queue, limit), RESOURCE_GPU, 1000},
    {"prorata_queue_fair_share_gpus", "Fair share of GPUs.", offsetof(struct plan_queue, fair_share), RESOURCE_GPU,
     1000},
    {"prorata_queue_allocated_gpus", "Allocated GPUs, promised ones included.", offsetof(struct plan_queue, allocated),
     RESOURCE_GPU, 1000},
    {"prorata_queue_requested_gpus", "Allocated and pending GPUs.", offsetof(struct plan_queue, requested),
     RESOURCE_GPU, 1000},
    {"prorata_queue_deserved_cpu_cores", "Quota of CPU cores.", offsetof(struct plan_queue, deserved), RESOURCE_CPU,
     1000},
    {"prorata_queue_limit_cpu_cores", "Limit of CPU cores.", offsetof(struct plan_queue, limit), RESOURCE_CPU, 1000},
    {"prorata_queue_fair_share_cpu_cores", "Fair share of CPU cores.", offsetof(struct plan_queue, fair_share),
     RESOURCE_CPU, 1000},
    {"prorata_queue_allocated_cpu_cores", "Allocated CPU cores, promised ones included.",
     offsetof(struct plan_queue, allocated), RESOURCE_CPU, 1000},
    {"prorata_queue_deserved_memory_bytes", "Quota of memory.", offsetof(struct plan_queue, deserved), RESOURCE_MEMORY,
     1},
    {"prorata_queue_limit_memory_bytes", "Limit of memory.", offsetof(struct plan_queue, limit), RESOURCE_MEMORY, 1},
    {"prorata_queue_fair_share_memory_bytes", "Fair share of memory.", offsetof(struct plan_queue, fair_share),
     RESOURCE_MEMORY, 1},
    {"prorata_queue_allocated_memory_bytes", "Allocated memory, promised included.",
     offsetof(struct plan_queue, allocated), RESOURCE_MEMORY, 1},
};

static void write_queue(struct buffer *out, const struct queue_metric *metric, const char *kind, const char *name,
                        const char *pool, const struct plan_queue *queue)
{
    const struct amounts *amounts = (const struct amounts *)((const char *)queue + metric->offset);
    if (metric->resource != RESOURCE_GPU && amounts->of[metric->resource] == QUANTITY_UNLIMITED)
        return; // so it is of most: a quarter of the answer would say nothing
    buffer_text(out, metric->name);
    buffer_char(out, '{');
    prometheus_label(out, "kind", kind);
    buffer_char(out, ',');
    prometheus_label(out, "queue", name);
    buffer_char(out, ',');
    prometheus_label(out, "node_pool", pool);
    buffer_text(out, "} ");
    prometheus_amount(out, amounts->of[metric->resource], metric->unit);
    buffer_char(out, '\n');
}

static void write_queues(struct buffer *out, const struct snapshot *snapshot, const struct plan *plan)
{
    size_t pools = snapshot->node_pool_count;
    for (size_t m = 0; m < sizeof(QUEUE_METRICS) / sizeof(*QUEUE_METRICS); m++) {
        const struct queue_metric *metric = &QUEUE_METRICS[m];
        prometheus_head(out, metric->name, "gauge", metric->help);
        for (size_t i = 0; i < snapshot->department_count * pools; i++)
            write_queue(out, metric, "department", snapshot->departments[i / pools].name,
                        snapshot->node_pools[i % pools].name, &plan->departments[i]);
        for (size_t i = 0; i < snapshot->project_count * pools; i++)
            write_queue(out, metric, "project", snapshot->projects[i / pools].name,
                        snapshot->node_pools[i % pools].name, &plan->projects[i]);
    }
}

// NAME{clusterId="...",KEY="VALUE"
static void begin_series(struct buffer *out, const char *name, const char *cluster, const char *key, const char *value)
{
    buffer_text(out, name);
    buffer_char(out, '{');
    prometheus_label(out, "clusterId", cluster);
    buffer_char(out, ',');
    prometheus_label(out, key, value);
}

static void end_series(struct buffer *out, int64_t amount, int64_t unit)
{
    buffer_text(out, "} ");
    prometheus_amount(out, amount, unit);
    buffer_char(out, '\n');
}

// Quotas as the labels that Run:ai has for them: GPUs, cores and bytes.
static void write_quotas(struct buffer *out, const struct amounts *deserved, const char *department)
{
    buffer_text(out, ",gpu_guaranteed_quota=\"");
    prometheus_amount(out, deserved->of[RESOURCE_GPU], 1000);
    buffer_text(out, "\",cpu_quota=\"");
    prometheus_amount(out, deserved->of[RESOURCE_CPU], 1000);
    buffer_text(out, "\",memory_quota=\"");
    prometheus_amount(out, deserved->of[RESOURCE_MEMORY], 1);
    buffer_text(out, "\",");
    prometheus_label(out, "department", department);
    end_series(out, 1, 1);
}

static struct plan_queue sum_of_pools(const struct plan_queue *queues, size_t pool_count)
{
    struct plan_queue sum = {0};
    for (size_t i = 0; i < pool_count; i++)
        for (size_t r = 0; r < RESOURCE_COUNT; r++) {
            sum.deserved.of[r] = quantity_add(sum.deserved.of[r], queues[i].deserved.of[r]);
            sum.allocated.of[r] = quantity_add(sum.allocated.of[r], queues[i].allocated.of[r]);
        }
    return sum;
}

static void write_projects(struct buffer *out, const char *cluster, const struct snapshot *snapshot,
                           const struct plan *plan, struct arena *arena)
{
    struct plan_queue *sums = arena_array(arena, snapshot->project_count, sizeof(*sums));
    for (size_t i = 0; i < snapshot->project_count; i++)
        sums[i] = sum_of_pools(plan->projects + i * snapshot->node_pool_count, snapshot->node_pool_count);
    prometheus_head(out, "runai_allocated_gpu_count_per_project", "gauge", "GPUs allocated to a project.");
    for (size_t i = 0; i < snapshot->project_count; i++) {
        begin_series(out, "runai_allocated_gpu_count_per_project", cluster, "project", snapshot->projects[i].name);
        end_series(out, sums[i].allocated.of[RESOURCE_GPU], 1000);
    }
    prometheus_head(out, "runai_project_guaranteed_gpus", "gauge", "Quota of GPUs of a project.");
    for (size_t i = 0; i < snapshot->project_count; i++) {
        begin_series(out, "runai_project_guaranteed_gpus", cluster, "project", snapshot->projects[i].name);
        end_series(out, sums[i].deserved.of[RESOURCE_GPU], 1000);
    }
    prometheus_head(out, "runai_project_info", "gauge", "Quotas of a project, as labels.");
    for (size_t i = 0; i < snapshot->project_count; i++) {
        const struct snapshot_project *project = &snapshot->projects[i];
        begin_series(out, "runai_project_info", cluster, "project", project->name);
        write_quotas(out, &sums[i].deserved, snapshot->departments[project->department].name);
    }
}

static void write_queue_info(struct buffer *out, const char *cluster, const char *pool, const char *name,
                             const char *department, const struct plan_queue *queue)
{
    begin_series(out, "runai_queue_info", cluster, "nodepool", pool);
    buffer_char(out, ',');
    prometheus_label(out, "queue_name", name);
    write_quotas(out, &queue->deserved, department);
}

// A department's row has no label department: a project may have its name.
static void write_queue_infos(struct buffer *out, const char *cluster, const struct snapshot *snapshot,
                              const struct plan *plan)
{
    size_t pools = snapshot->node_pool_count;
    prometheus_head(out, "runai_queue_info", "gauge", "Quotas of a project or department in a node pool, as labels.");
    for (size_t i = 0; i < snapshot->department_count * pools; i++)
        write_queue_info(out, cluster, snapshot->node_pools[i % pools].name, snapshot->departments[i / pools].name, "",
                         &plan->departments[i]);
    for (size_t i = 0; i < snapshot->project_count * pools; i++) {
        const struct snapshot_project *project = &snapshot->projects[i / pools];
        write_queue_info(out, cluster, snapshot->node_pools[i % pools].name, project->name,
                         snapshot->departments[project->department].name, &plan->projects[i]);
    }
}

enum node_amount {
    NODE_GPUS_HELD,
    NODE_CPU_HELD,
    NODE_MEMORY_HELD,
    NODE_GPU_MEMORY
};

struct node_metric {
    const char *name, *help;
    enum node_amount amount;
    int64_t unit;
};

static const struct node_metric NODE_METRICS[] = {
    {"runai_allocated_gpu_count_per_node", "GPUs that pods hold on a node.", NODE_GPUS_HELD, 1000},
    {"runai_node_cpu_requested_cores", "CPU cores that pods on a node asked for.", NODE_CPU_HELD, 1000},
    {"runai_node_requested_memory_bytes", "Memory that pods on a node asked for.", NODE_MEMORY_HELD, 1},
    {"runai_gpu_memory_total_mebibytes_per_node", "Memory of all GPUs of a node.", NODE_GPU_MEMORY, 1},
};

static int64_t node_amount(const struct snapshot_node *node, const struct amounts *held, enum node_amount amount)
{
    switch (amount) {
    case NODE_GPUS_HELD:
        return held->of[RESOURCE_GPU];
    case NODE_CPU_HELD:
        return held->of[RESOURCE_CPU];
    case NODE_MEMORY_HELD:
        return held->of[RESOURCE_MEMORY];
    default:
        return node->gpu_memory_mib * node->gpu_count;
    }
}

// What the pods of each node hold now.
static struct amounts *read_held(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena)
{
    struct amounts *held = arena_array(arena, snapshot->node_count, sizeof(*held));
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        uint32_t node = plan->pods[i].node;
        if (node == SNAPSHOT_NONE || !plan_reading_holds(plan->pods[i].status))
            continue;
        struct amounts of_pod = plan_reading_charge(snapshot, &snapshot->pods[i], &snapshot->nodes[node]);
        for (size_t r = 0; r < RESOURCE_COUNT; r++)
            held[node].of[r] = quantity_add(held[node].of[r], of_pod.of[r]);
    }
    return held;
}

static void write_gpu_counts(struct buffer *out, const char *cluster, const struct snapshot *snapshot, size_t count)
{
    prometheus_head(out, "runai_gpu_count_per_node", "gauge", "GPUs of a node.");
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        begin_series(out, "runai_gpu_count_per_node", cluster, "node", node->name);
        buffer_char(out, ',');
        prometheus_label(out, "modelName", node->gpu_type ? node->gpu_type : "");
        buffer_printf(out, ",ready=\"%s\",schedulable=\"%s\"", node->ready ? "true" : "false",
                      node->cordoned ? "false" : "true");
        end_series(out, node->gpu_count, 1);
    }
}

static void write_device_memory(struct buffer *out, const char *cluster, const struct snapshot *snapshot)
{
    int64_t devices = 0;
    for (size_t i = 0; i < snapshot->node_count; i++)
        devices += snapshot->nodes[i].gpu_count;
    if (devices > PROMETHEUS_DEVICES_MAX)
        return;
    prometheus_head(out, "runai_gpu_memory_total_mebibytes_per_gpu", "gauge", "Memory of a GPU.");
    for (size_t i = 0; i < snapshot->node_count; i++)
        for (uint32_t gpu = 0; gpu < snapshot->nodes[i].gpu_count; gpu++) {
            begin_series(out, "runai_gpu_memory_total_mebibytes_per_gpu", cluster, "node", snapshot->nodes[i].name);
            buffer_printf(out, ",gpu=\"%" PRIu32 "\"", gpu);
            end_series(out, snapshot->nodes[i].gpu_memory_mib, 1);
        }
}

static void write_nodes(struct buffer *out, const char *cluster, const struct snapshot *snapshot,
                        const struct plan *plan, struct arena *arena)
{
    const struct amounts *held = read_held(snapshot, plan, arena);
    size_t count = snapshot->node_count < PROMETHEUS_NODES_MAX ? snapshot->node_count : PROMETHEUS_NODES_MAX;
    write_gpu_counts(out, cluster, snapshot, count);
    for (size_t m = 0; m < sizeof(NODE_METRICS) / sizeof(*NODE_METRICS); m++) {
        prometheus_head(out, NODE_METRICS[m].name, "gauge", NODE_METRICS[m].help);
        for (size_t i = 0; i < count; i++) {
            begin_series(out, NODE_METRICS[m].name, cluster, "node", snapshot->nodes[i].name);
            end_series(out, node_amount(&snapshot->nodes[i], &held[i], NODE_METRICS[m].amount), NODE_METRICS[m].unit);
        }
    }
    write_device_memory(out, cluster, snapshot);
}

void allocation_metrics_write(const struct reconciler_view *view, struct buffer *out)
{
    const char *cluster = reconciler_view_cluster_uuid(view);
    struct arena arena;
    arena_init(&arena);
    write_queues(out, view->snapshot, view->plan);
    write_projects(out, cluster, view->snapshot, view->plan, &arena);
    write_queue_infos(out, cluster, view->snapshot, view->plan);
    write_nodes(out, cluster, view->snapshot, view->plan, &arena);
    arena_done(&arena);
}
