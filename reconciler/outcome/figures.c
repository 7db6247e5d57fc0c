#include "reconciler/outcome/figures.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_INTERVAL_MS = 1000,
    OVERTIME_INTERVAL_MS = 60 * 1000,
    GAUGE_SLOTS_MINIMUM = 256
};
#define MB 1e6

struct gauge {
    const char *scope; // static, as metric is (or the gauge's own text)
    int64_t scope_id;
    int64_t node_pool_id;
    char metric[40];
    double value;
    int64_t generation;
    struct gauge *next; // in its slot
};

void figures_init(struct figures *figures)
{
    *figures = (struct figures){0};
}

void figures_done(struct figures *figures)
{
    size_t position = 0;
    for (void *queue; (queue = id_map_next(&figures->queues, &position));)
        free(queue);
    id_map_done(&figures->queues);
    for (size_t i = 0; i < figures->gauge_capacity; i++)
        for (struct gauge *gauge = figures->gauges[i], *next; gauge; gauge = next) {
            next = gauge->next;
            free(gauge);
        }
    free(figures->gauges);
    *figures = (struct figures){0};
}

void figures_clear(struct figures *figures)
{
    figures_done(figures);
}

// What is held of each resource in a queue; [0] all, [1] by what is not preemptible.
struct held {
    struct amounts of[2];
    double busy_milli; // devices, times how busy they are
};

static double busy_of(const struct cache_pod *pod)
{
    return pod->status == POD_STATUS_RUNNING && pod->gpu_utilization > 0 ? pod->gpu_utilization / 100 : 0;
}

static void add_held(struct held *held, const struct cache_pod *pod)
{
    held->busy_milli += (double)pod->gpu_allocated_milli * busy_of(pod);
    for (int i = 0; i < (pod->workload->preemptible ? 1 : 2); i++) {
        held->of[i].of[RESOURCE_GPU] += pod->gpu_allocated_milli;
        held->of[i].of[RESOURCE_CPU] += pod->cpu_milli;
        held->of[i].of[RESOURCE_MEMORY] += pod->memory_bytes;
    }
}

// By project and pool, then by department and pool.
static struct held *count_held(const struct cache *cache, struct arena *arena, struct held **out_departments)
{
    const struct world *world = cache->world;
    size_t pools = world->rows.pool_count;
    struct held *projects = arena_array(arena, world->rows.project_count * pools, sizeof(*projects));
    struct held *departments = arena_array(arena, world->rows.department_count * pools, sizeof(*departments));
    size_t position = 0;
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        if (!pod_status_is_placed(pod->status))
            continue;
        uint32_t project = world_project(world, pod->workload->project_id), node = world_node(world, pod->node_id);
        if (project == SNAPSHOT_NONE || node == SNAPSHOT_NONE || world->nodes[node].node_pool == SNAPSHOT_NONE)
            continue;
        uint32_t pool = world->nodes[node].node_pool;
        add_held(&projects[project * pools + pool], pod);
        add_held(&departments[world->projects[project].department * pools + pool], pod);
    }
    *out_departments = departments;
    return projects;
}

static void take_queue(struct figures *figures, int64_t queue_id, int64_t owner_id, const struct plan_queue *planned,
                       const struct held *held, struct figure_changes *changes)
{
    if (!queue_id)
        return;
    struct queue_figures now = {.queue_id = queue_id, .owner_id = owner_id};
    int64_t *const rows[] = {now.gpu_milli, now.cpu_milli, now.memory_bytes};
    for (int resource = 0; resource < RESOURCE_COUNT; resource++) {
        rows[resource][0] = planned->fair_share.of[resource];
        rows[resource][1] = held->of[0].of[resource];
        rows[resource][2] = held->of[1].of[resource];
        rows[resource][3] = planned->requested.of[resource];
    }
    struct queue_figures *last = id_map_find(&figures->queues, queue_id);
    if (last && memcmp(last, &now, sizeof(now)) == 0)
        return;
    if (!last) {
        last = memory_alloc(sizeof(*last));
        id_map_put(&figures->queues, queue_id, last);
    }
    *last = now;
    changes->queues[changes->queue_count++] = now;
}

void figures_of_queues(struct figures *figures, const struct turn *turn, const struct plan *plan,
                       struct figure_changes *changes)
{
    const struct world *world = turn->cache->world;
    size_t pools = world->rows.pool_count;
    struct held *departments, *projects = count_held(turn->cache, turn->arena, &departments);
    changes->queues = arena_array(turn->arena, (world->rows.project_count + world->rows.department_count) * pools,
                                  sizeof(*changes->queues));
    for (size_t i = 0; i < world->rows.project_count * pools; i++)
        take_queue(figures, world->queue_ids[QUEUE_KIND_PROJECT][i], world->rows.projects[i / pools].id,
                   &plan->projects[i], &projects[i], changes);
    for (size_t i = 0; i < world->rows.department_count * pools; i++)
        take_queue(figures, world->queue_ids[QUEUE_KIND_DEPARTMENT][i], world->rows.departments[i / pools].id,
                   &plan->departments[i], &departments[i], changes);
}

struct sampler {
    struct figures *figures;
    struct past_usage *usage;
    int64_t now_ms;
    struct arena *arena;
    struct figure_changes *changes;
};

static size_t slot_of(const struct figures *figures, const struct series *series)
{
    uint64_t hash = hash_text(HASH_START, series->metric);
    hash = hash_bytes(hash, series->scope, 2);
    hash = hash_bytes(hash, &series->scope_id, sizeof(series->scope_id));
    hash = hash_bytes(hash, &series->node_pool_id, sizeof(series->node_pool_id));
    return (hash ^ hash >> 32) & (figures->gauge_capacity - 1);
}

static struct series series_of(const struct gauge *gauge)
{
    return (struct series){gauge->scope, gauge->scope_id, gauge->node_pool_id, gauge->metric};
}

static void grow_gauges(struct figures *figures)
{
    struct figures old = *figures;
    figures->gauge_capacity = old.gauge_capacity ? old.gauge_capacity * 2 : GAUGE_SLOTS_MINIMUM;
    figures->gauges = memory_array(figures->gauge_capacity, sizeof(struct gauge *));
    for (size_t i = 0; i < old.gauge_capacity; i++)
        for (struct gauge *gauge = old.gauges[i], *next; gauge; gauge = next) {
            next = gauge->next;
            struct series series = series_of(gauge);
            struct gauge **slot = &figures->gauges[slot_of(figures, &series)];
            gauge->next = *slot;
            *slot = gauge;
        }
    free(old.gauges);
}

static struct gauge *find_gauge(struct figures *figures, const struct series *series)
{
    if (figures->gauge_count >= figures->gauge_capacity)
        grow_gauges(figures);
    struct gauge **slot = &figures->gauges[slot_of(figures, series)];
    for (struct gauge *gauge = *slot; gauge; gauge = gauge->next)
        if (gauge->scope_id == series->scope_id && gauge->node_pool_id == series->node_pool_id &&
            strcmp(gauge->scope, series->scope) == 0 && strcmp(gauge->metric, series->metric) == 0)
            return gauge;
    struct gauge *gauge = memory_array(1, sizeof(*gauge));
    *gauge = (struct gauge){.scope = series->scope,
                            .scope_id = series->scope_id,
                            .node_pool_id = series->node_pool_id,
                            .value = NAN,
                            .next = *slot};
    strncpy(gauge->metric, series->metric, sizeof(gauge->metric) - 1);
    *slot = gauge;
    figures->gauge_count++;
    return gauge;
}

static void add_sample(struct sampler *sampler, const struct series *series, double value)
{
    struct figure_changes *changes = sampler->changes;
    changes->samples = arena_grow(sampler->arena, changes->samples, &changes->sample_capacity,
                                  changes->sample_count + 1, sizeof(*changes->samples));
    struct series copy = *series;
    copy.metric = arena_strdup(sampler->arena, series->metric);
    changes->samples[changes->sample_count++] = (struct sample){copy, value};
}

static void sample(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id, const char *metric,
                   double value)
{
    struct series series = {scope, id, pool_id, metric};
    struct gauge *gauge = find_gauge(sampler->figures, &series);
    gauge->generation = sampler->figures->generation;
    if (fabs(gauge->value - value) < 1e-9)
        return;
    gauge->value = value;
    add_sample(sampler, &series, value);
}

// What is not there any more is 0 from now on, and forgotten.
static void sample_gone(struct sampler *sampler)
{
    struct figures *figures = sampler->figures;
    for (size_t i = 0; i < figures->gauge_capacity; i++)
        for (struct gauge **link = &figures->gauges[i]; *link;) {
            struct gauge *gauge = *link;
            if (gauge->generation == figures->generation) {
                link = &gauge->next;
                continue;
            }
            struct series series = series_of(gauge);
            if (gauge->value > 0)
                add_sample(sampler, &series, 0);
            *link = gauge->next;
            free(gauge);
            figures->gauge_count--;
        }
}

// Sums over the nodes of a pool, or of all.
struct totals {
    int64_t gpus, gpu_nodes, ready_gpus;
    int64_t cpu_milli, memory_bytes;
    int64_t allocated_milli;
    double busy_milli; // allocated, times how busy
    int64_t quota_milli;
    int64_t workloads;
};

static void sample_totals(struct sampler *sampler, const char *scope, int64_t id, const struct totals *totals)
{
    double allocated = (double)totals->allocated_milli / 1000;
    sample(sampler, scope, id, 0, "TOTAL_GPU", (double)totals->gpus);
    sample(sampler, scope, id, 0, "TOTAL_GPU_NODES", (double)totals->gpu_nodes);
    sample(sampler, scope, id, 0, "READY_GPU", (double)totals->ready_gpus);
    sample(sampler, scope, id, 0, "CPU_CAPACITY_MILLICORES", (double)totals->cpu_milli);
    sample(sampler, scope, id, 0, "CPU_MEMORY_CAPACITY_MB", (double)totals->memory_bytes / MB);
    sample(sampler, scope, id, 0, "ALLOCATED_GPU", allocated);
    sample(sampler, scope, id, 0, "UNALLOCATED_GPU", fmax(0, (double)totals->gpus - allocated));
    sample(sampler, scope, id, 0, "GPU_QUOTA", (double)totals->quota_milli / 1000);
    sample(sampler, scope, id, 0, "GPU_UTILIZATION",
           totals->gpus ? totals->busy_milli / (double)(totals->gpus * 1000) * 100 : 0);
    sample(sampler, scope, id, 0, "WORKLOADS_COUNT", (double)totals->workloads);
}

static void sample_node(struct sampler *sampler, const struct world *world, uint32_t node, const double *allocated,
                        const double *busy)
{
    int64_t id = world->rows.nodes[node].id;
    uint32_t gpus = world->nodes[node].gpu_count;
    double sum = 0;
    for (uint32_t i = 0; i < gpus; i++) {
        sample(sampler, "node", id, 0, arena_printf(sampler->arena, "GPU_ALLOCATION_PER_GPU:%u", i), allocated[i]);
        sample(sampler, "node", id, 0, arena_printf(sampler->arena, "GPU_UTILIZATION_PER_GPU:%u", i), busy[i] * 100);
        sum += busy[i];
    }
    if (gpus)
        sample(sampler, "node", id, 0, "GPU_UTILIZATION", sum / gpus * 100);
}

// Per device of each node: what is allocated and how busy it is; and the sums of each pool ([pool_count]: of all).
static void sample_nodes(struct sampler *sampler, const struct cache *cache, struct totals *totals)
{
    const struct world *world = cache->world;
    size_t pool_count = world->rows.pool_count, position = 0;
    size_t *first = arena_array(sampler->arena, world->rows.node_count + 1, sizeof(*first));
    for (size_t i = 0; i < world->rows.node_count; i++)
        first[i + 1] = first[i] + world->nodes[i].gpu_count;
    size_t devices = first[world->rows.node_count];
    double *allocated = arena_array(sampler->arena, devices, sizeof(*allocated));
    double *busy = arena_array(sampler->arena, devices, sizeof(*busy));
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        uint32_t node = world_node(world, pod->node_id);
        if (!pod_status_holds_place(pod->status) || node == SNAPSHOT_NONE)
            continue;
        uint32_t pool = world->nodes[node].node_pool;
        size_t sums[] = {pool == SNAPSHOT_NONE ? pool_count : pool, pool_count};
        for (size_t i = sums[0] == sums[1] ? 1 : 0; i < 2; i++) {
            totals[sums[i]].allocated_milli += pod->gpu_allocated_milli;
            totals[sums[i]].busy_milli += (double)pod->gpu_allocated_milli * busy_of(pod);
        }
        double share =
            pod->gpu_index_count ? (double)pod->gpu_allocated_milli / 1000 / (double)pod->gpu_index_count : 0;
        for (size_t i = 0; i < pod->gpu_index_count; i++)
            if (pod->gpu_indices[i] < world->nodes[node].gpu_count) {
                allocated[first[node] + pod->gpu_indices[i]] += share;
                busy[first[node] + pod->gpu_indices[i]] += share * busy_of(pod);
            }
    }
    for (uint32_t i = 0; i < world->rows.node_count; i++)
        sample_node(sampler, world, i, allocated + first[i], busy + first[i]);
}

struct queue_sums {
    struct amounts quota, held;
    double busy_milli;
};

static void add_amounts(struct amounts *sum, const struct amounts *amounts)
{
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (amounts->of[i] != QUANTITY_UNLIMITED)
            sum->of[i] += amounts->of[i];
}

static void sample_queue(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id,
                         const struct queue_sums *sums)
{
    sample(sampler, scope, id, pool_id, "GPU_QUOTA", (double)sums->quota.of[RESOURCE_GPU] / 1000);
    sample(sampler, scope, id, pool_id, "CPU_QUOTA_MILLICORES", (double)sums->quota.of[RESOURCE_CPU]);
    sample(sampler, scope, id, pool_id, "CPU_MEMORY_QUOTA_MB", (double)sums->quota.of[RESOURCE_MEMORY] / MB);
    sample(sampler, scope, id, pool_id, "GPU_ALLOCATION", (double)sums->held.of[RESOURCE_GPU] / 1000);
    sample(sampler, scope, id, pool_id, "GPU_UTILIZATION",
           sums->held.of[RESOURCE_GPU] ? sums->busy_milli / (double)sums->held.of[RESOURCE_GPU] * 100 : 0);
    sample(sampler, scope, id, pool_id, "CPU_ALLOCATION_MILLICORES", (double)sums->held.of[RESOURCE_CPU]);
    sample(sampler, scope, id, pool_id, "CPU_MEMORY_ALLOCATION_MB", (double)sums->held.of[RESOURCE_MEMORY] / MB);
}

static void sample_owner(struct sampler *sampler, const char *scope, int64_t id, const struct world *world,
                         const struct snapshot_queue *queues, const struct held *held)
{
    struct queue_sums all = {0};
    for (size_t pool = 0; pool < world->rows.pool_count; pool++) {
        struct queue_sums sums = {.held = held[pool].of[0], .busy_milli = held[pool].busy_milli};
        add_amounts(&sums.quota, &queues[pool].deserved);
        add_amounts(&all.quota, &sums.quota);
        add_amounts(&all.held, &sums.held);
        all.busy_milli += sums.busy_milli;
        sample_queue(sampler, scope, id, world->rows.pools[pool].id, &sums);
    }
    sample_queue(sampler, scope, id, 0, &all);
}

// What is held, for time-based fair share: the amounts alone.
static struct amounts *amounts_of(const struct held *held, size_t count, struct arena *arena)
{
    struct amounts *amounts = arena_array(arena, count, sizeof(*amounts));
    for (size_t i = 0; i < count; i++)
        amounts[i] = held[i].of[0];
    return amounts;
}

static void sample_org(struct sampler *sampler, const struct cache *cache, struct totals *totals)
{
    const struct world *world = cache->world;
    size_t pools = world->rows.pool_count;
    struct held *departments, *projects = count_held(cache, sampler->arena, &departments);
    if (sampler->usage->pool_count > 0)
        past_usage_hold(sampler->usage, world, amounts_of(projects, world->rows.project_count * pools, sampler->arena),
                        amounts_of(departments, world->rows.department_count * pools, sampler->arena), sampler->now_ms);
    for (size_t i = 0; i < world->rows.project_count; i++) {
        sample_owner(sampler, "project", world->rows.projects[i].id, world, world->projects[i].queues,
                     projects + i * pools);
        for (size_t pool = 0; pool < pools; pool++) {
            int64_t quota = world->projects[i].queues[pool].deserved.of[RESOURCE_GPU];
            if (quota == QUANTITY_UNLIMITED)
                continue;
            totals[pool].quota_milli += quota;
            totals[pools].quota_milli += quota;
        }
    }
    for (size_t i = 0; i < world->rows.department_count; i++)
        sample_owner(sampler, "department", world->rows.departments[i].id, world, world->departments[i].queues,
                     departments + i * pools);
}

static void sample_workload(struct sampler *sampler, const struct cache_workload *workload)
{
    int64_t gpu_milli = 0, cpu_milli = 0, memory = 0, running = 0, live = 0;
    double busy = 0;
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        live += !pod_status_is_over(pod->status);
        running += pod->status == POD_STATUS_RUNNING;
        if (!pod_status_is_over(pod->status)) {
            cpu_milli += pod->cpu_milli;
            memory += pod->memory_bytes;
        }
        if (!pod_status_is_placed(pod->status))
            continue;
        gpu_milli += pod->gpu_allocated_milli;
        busy += (double)pod->gpu_allocated_milli * busy_of(pod);
        if (pod->gpu_allocated_milli && pod->gpu_utilization >= 0) // what nobody measures is not 0
            sample(sampler, "pod", pod->id, 0, "GPU_UTILIZATION", busy_of(pod) * 100);
    }
    sample(sampler, "workload", workload->id, 0, "GPU_ALLOCATION", (double)gpu_milli / 1000);
    sample(sampler, "workload", workload->id, 0, "GPU_UTILIZATION", gpu_milli ? busy / (double)gpu_milli * 100 : 0);
    sample(sampler, "workload", workload->id, 0, "CPU_REQUEST_CORES", (double)cpu_milli / 1000);
    sample(sampler, "workload", workload->id, 0, "CPU_MEMORY_REQUEST_BYTES", (double)memory);
    sample(sampler, "workload", workload->id, 0, "POD_COUNT", (double)live);
    sample(sampler, "workload", workload->id, 0, "RUNNING_POD_COUNT", (double)running);
}

// Of what inferences do: requests a second of all replicas, and what one takes on the mean of them.
static void sample_service(struct sampler *sampler, const struct cache_workload *workload)
{
    double throughput = 0, latency = 0;
    int64_t with_throughput = 0, with_latency = 0;
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        if (pod->status != POD_STATUS_RUNNING)
            continue;
        if (pod->throughput >= 0) {
            sample(sampler, "pod", pod->id, 0, "THROUGHPUT", pod->throughput);
            throughput += pod->throughput;
            with_throughput++;
        }
        if (pod->latency_ms >= 0) {
            sample(sampler, "pod", pod->id, 0, "LATENCY", pod->latency_ms);
            latency += pod->latency_ms;
            with_latency++;
        }
    }
    if (with_throughput)
        sample(sampler, "workload", workload->id, 0, "THROUGHPUT", throughput);
    if (with_latency)
        sample(sampler, "workload", workload->id, 0, "LATENCY", latency / (double)with_latency);
}

void figures_of_samples(struct figures *figures, struct past_usage *usage, struct turn *turn,
                        struct figure_changes *changes)
{
    int64_t interval = turn->options->sample_interval_ms ? turn->options->sample_interval_ms : SAMPLE_INTERVAL_MS;
    if (turn->now_ms - figures->sampled_ms < interval && turn->now_ms >= figures->sampled_ms) {
        turn_note_due(turn, figures->sampled_ms + interval);
        return;
    }
    const struct cache *cache = turn->cache;
    const struct world *world = cache->world;
    struct sampler sampler = {figures, usage, turn->now_ms, turn->arena, changes};
    figures->sampled_ms = turn->now_ms;
    figures->generation++;
    struct totals *totals = arena_array(turn->arena, world->rows.pool_count + 1, sizeof(*totals));
    struct totals *all = &totals[world->rows.pool_count];
    for (size_t i = 0; i < world->rows.node_count; i++) {
        uint32_t pool = world->nodes[i].node_pool;
        struct totals *sums[] = {pool == SNAPSHOT_NONE ? NULL : &totals[pool], all};
        for (int k = 0; k < 2; k++) {
            if (!sums[k])
                continue;
            sums[k]->cpu_milli += world->nodes[i].cpu_milli;
            sums[k]->memory_bytes += world->nodes[i].memory_bytes;
            if (world->nodes[i].gpu_count > 0) {
                sums[k]->gpus += world->nodes[i].gpu_count;
                sums[k]->ready_gpus += world->nodes[i].ready ? world->nodes[i].gpu_count : 0;
                sums[k]->gpu_nodes++;
            }
        }
    }
    int64_t waiting = 0;
    sample_nodes(&sampler, cache, totals);
    sample_org(&sampler, cache, totals);
    for (size_t i = 0; i < cache->workload_count; i++) {
        const struct cache_workload *workload = cache->order[i];
        sample_workload(&sampler, workload);
        if (workload->serving_json)
            sample_service(&sampler, workload);
        all->workloads++;
        waiting += workload->phase == PHASE_PENDING;
        for (size_t k = 0; k < workload->pod_count; k++) {
            uint32_t node = world_node(world, workload->pods[k]->node_id);
            if (!pod_status_holds_place(workload->pods[k]->status) || node == SNAPSHOT_NONE)
                continue;
            totals[world->nodes[node].node_pool].workloads++;
            break;
        }
    }
    for (size_t i = 0; i < world->rows.pool_count; i++)
        sample_totals(&sampler, "nodepool", world->rows.pools[i].id, &totals[i]);
    sample_totals(&sampler, "cluster", world->rows.cluster_id, all);
    sample(&sampler, "cluster", world->rows.cluster_id, 0, "WAITING_WORKLOADS", (double)waiting);
    sample_gone(&sampler);
    if (turn->now_ms - figures->overtime_ms >= OVERTIME_INTERVAL_MS) {
        figures->overtime_ms = turn->now_ms;
        changes->is_overtime_due = true;
    }
}
