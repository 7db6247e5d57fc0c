#include "reconciler/outcome/figures.h"

#include "reconciler/outcome/held.h"
#include "reconciler/outcome/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_INTERVAL_MS = 1000,
    OVERTIME_INTERVAL_MS = 60 * 1000
};
#define MB 1e6

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
    gauges_done(&figures->gauges);
    *figures = (struct figures){0};
}

void figures_clear(struct figures *figures)
{
    figures_done(figures);
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
    struct held *departments, *projects = held_count(turn->cache, turn->arena, &departments);
    changes->queues = arena_array(turn->arena, (world->rows.project_count + world->rows.department_count) * pools,
                                  sizeof(*changes->queues));
    for (size_t i = 0; i < world->rows.project_count * pools; i++)
        take_queue(figures, world->queue_ids[QUEUE_KIND_PROJECT][i], world->rows.projects[i / pools].id,
                   &plan->projects[i], &projects[i], changes);
    for (size_t i = 0; i < world->rows.department_count * pools; i++)
        take_queue(figures, world->queue_ids[QUEUE_KIND_DEPARTMENT][i], world->rows.departments[i / pools].id,
                   &plan->departments[i], &departments[i], changes);
}

// Sums over the nodes of a pool, or of all.
struct totals {
    int64_t gpus, gpu_nodes, ready_gpus;
    int64_t cpu_milli, memory_bytes;
    int64_t allocated_milli;
    int64_t gpu_memory_bytes, held_memory_bytes; // of all devices; of what is held of them
    struct held_use use;
    bool has_memory; // of a device: how much is used of it is known
    int64_t quota_milli;
    int64_t workloads;
    struct load load, measured; // what nodes use of CPU and memory, and what those nodes have
};

// Percent of all devices but those that are held and not measured; NAN where that says nothing of what is held.
static double utilization_of_all(const struct sampler *sampler, const struct totals *totals)
{
    int64_t known_milli = totals->gpus * 1000 - (totals->allocated_milli - totals->use.measured_milli);
    bool is_known = totals->allocated_milli ? totals->use.measured_milli > 0 : sampler->figures->is_measuring;
    return is_known && known_milli > 0 ? totals->use.busy_milli / (double)known_milli * 100 : NAN;
}

// Likewise of the memory of devices.
static double memory_utilization_of_all(const struct sampler *sampler, const struct totals *totals)
{
    int64_t known_bytes = totals->gpu_memory_bytes - (totals->held_memory_bytes - totals->use.memory_held_bytes);
    bool is_known =
        totals->held_memory_bytes ? totals->use.memory_held_bytes > 0 : sampler->figures->is_measuring_memory;
    return is_known && known_bytes > 0 ? (double)totals->use.memory_used_bytes / (double)known_bytes * 100 : NAN;
}

static double percent_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole * 100 : NAN;
}

static void sample_totals(struct sampler *sampler, const char *scope, int64_t id, const struct totals *totals)
{
    double allocated = (double)totals->allocated_milli / 1000;
    sampler_set(sampler, scope, id, 0, "TOTAL_GPU", (double)totals->gpus);
    sampler_set(sampler, scope, id, 0, "TOTAL_GPU_NODES", (double)totals->gpu_nodes);
    sampler_set(sampler, scope, id, 0, "READY_GPU", (double)totals->ready_gpus);
    sampler_set(sampler, scope, id, 0, "CPU_CAPACITY_MILLICORES", (double)totals->cpu_milli);
    sampler_set(sampler, scope, id, 0, "CPU_MEMORY_CAPACITY_MB", (double)totals->memory_bytes / MB);
    sampler_set(sampler, scope, id, 0, "ALLOCATED_GPU", allocated);
    sampler_set(sampler, scope, id, 0, "UNALLOCATED_GPU", fmax(0, (double)totals->gpus - allocated));
    sampler_set(sampler, scope, id, 0, "GPU_QUOTA", (double)totals->quota_milli / 1000);
    sampler_set(sampler, scope, id, 0, "GPU_UTILIZATION", utilization_of_all(sampler, totals));
    sampler_set(sampler, scope, id, 0, "GPU_MEMORY_UTILIZATION", memory_utilization_of_all(sampler, totals));
    sampler_set(sampler, scope, id, 0, "CPU_UTILIZATION",
                percent_of(totals->load.cpu_milli, totals->measured.cpu_milli));
    sampler_set(sampler, scope, id, 0, "CPU_MEMORY_UTILIZATION",
                percent_of(totals->load.memory_bytes, totals->measured.memory_bytes));
    sampler_set(sampler, scope, id, 0, "WORKLOADS_COUNT", (double)totals->workloads);
}

// Of a device that nobody holds nothing is used, where devices are measured at all.
static double memory_used_of(const struct sampler *sampler, const struct totals *device)
{
    if (device->has_memory)
        return (double)device->use.memory_used_bytes;
    return device->allocated_milli || !sampler->figures->is_measuring_memory ? NAN : 0;
}

static void sample_node_memory(struct sampler *sampler, int64_t id, uint32_t gpus, const struct totals *devices,
                               const struct totals *sum)
{
    double used = NAN;
    for (uint32_t i = 0; i < gpus; i++) {
        double of_device = memory_used_of(sampler, &devices[i]);
        sampler_set_sparse(sampler, "node", id, 0, arena_printf(sampler->arena, "GPU_MEMORY_USAGE_BYTES_PER_GPU:%u", i),
                           of_device, isnan(of_device));
        if (!isnan(of_device))
            used = isnan(used) ? of_device : used + of_device;
    }
    sampler_set_sparse(sampler, "node", id, 0, "GPU_MEMORY_USAGE_BYTES", used, isnan(used));
    double utilization = memory_utilization_of_all(sampler, sum);
    sampler_set_sparse(sampler, "node", id, 0, "GPU_MEMORY_UTILIZATION", utilization, isnan(utilization));
}

static void sample_node(struct sampler *sampler, const struct world *world, uint32_t node, const struct totals *devices)
{
    int64_t id = world->rows.nodes[node].id;
    uint32_t gpus = world->nodes[node].gpu_count;
    struct totals sum = {.gpus = gpus};
    for (uint32_t i = 0; i < gpus; i++) {
        sampler_set(sampler, "node", id, 0, arena_printf(sampler->arena, "GPU_ALLOCATION_PER_GPU:%u", i),
                    (double)devices[i].allocated_milli / 1000);
        sampler_set(sampler, "node", id, 0, arena_printf(sampler->arena, "GPU_UTILIZATION_PER_GPU:%u", i),
                    utilization_of_all(sampler, &devices[i]));
        sum.allocated_milli += devices[i].allocated_milli;
        sum.gpu_memory_bytes += devices[i].gpu_memory_bytes;
        sum.held_memory_bytes += devices[i].held_memory_bytes;
        held_use_sum(&sum.use, &devices[i].use);
    }
    if (!gpus)
        return;
    sampler_set(sampler, "node", id, 0, "GPU_UTILIZATION", utilization_of_all(sampler, &sum));
    sample_node_memory(sampler, id, gpus, devices, &sum);
}

// A pod's part of a device, the same of each that it holds.
static void add_to_device(struct totals *device, const struct cache_pod *pod)
{
    int64_t milli = pod->gpu_allocated_milli / (int64_t)pod->gpu_index_count;
    device->allocated_milli += milli;
    device->held_memory_bytes += device->gpu_memory_bytes * milli / 1000;
    if (!held_is_measured(pod))
        return;
    device->use.measured_milli += milli;
    device->use.busy_milli += (double)milli * held_busy_of(pod);
}

// Devices are told by the driver, which may have given others than were planned.
static void add_memory_to_devices(struct totals *devices, size_t count, const struct cache_pod *pod)
{
    const struct gpu_memory *memory = &pod->gpu_memory;
    int64_t milli = pod->gpu_index_count ? pod->gpu_allocated_milli / (int64_t)pod->gpu_index_count : 0;
    for (size_t i = 0; i < memory->device_count && i < count; i++) {
        if (memory->device_mib[i] < 0)
            continue;
        devices[i].has_memory = true;
        devices[i].use.memory_used_bytes += (int64_t)memory->device_mib[i] << 20;
        devices[i].use.memory_held_bytes += devices[i].gpu_memory_bytes * milli / 1000;
    }
}

static void add_pod(struct sampler *sampler, const struct snapshot_node *node, const struct cache_pod *pod,
                    struct totals *devices)
{
    sampler->figures->is_measuring |= held_is_measured(pod);
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        if (pod->gpu_indices[i] < node->gpu_count)
            add_to_device(&devices[pod->gpu_indices[i]], pod);
    if (!held_memory_is_measured(pod))
        return;
    sampler->figures->is_measuring_memory = true;
    add_memory_to_devices(devices, node->gpu_count, pod);
}

static struct totals *make_devices(const struct world *world, const size_t *first, struct arena *arena)
{
    struct totals *devices = arena_array(arena, first[world->rows.node_count], sizeof(*devices));
    for (size_t i = 0; i < world->rows.node_count; i++)
        for (size_t k = first[i]; k < first[i + 1]; k++)
            devices[k] = (struct totals){.gpus = 1, .gpu_memory_bytes = world->nodes[i].gpu_memory_mib << 20};
    return devices;
}

static void add_node_load(struct totals *totals, const struct snapshot_node *node, const struct load *load)
{
    totals->load.cpu_milli += load->cpu_milli;
    totals->load.memory_bytes += load->memory_bytes;
    totals->measured.cpu_milli = quantity_add(totals->measured.cpu_milli, node->cpu_milli);
    totals->measured.memory_bytes = quantity_add(totals->measured.memory_bytes, node->memory_bytes);
}

// Per device of each node: what is allocated and how busy it is; and the sums of each pool ([pool_count]: of all).
static void sample_nodes(struct sampler *sampler, const struct cache *cache, struct totals *totals)
{
    const struct world *world = cache->world;
    size_t pool_count = world->rows.pool_count, position = 0;
    size_t *first = arena_array(sampler->arena, world->rows.node_count + 1, sizeof(*first));
    for (size_t i = 0; i < world->rows.node_count; i++)
        first[i + 1] = first[i] + world->nodes[i].gpu_count;
    struct totals *devices = make_devices(world, first, sampler->arena);
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        uint32_t node = world_node(world, pod->node_id);
        if (!pod_status_holds_place(pod->status) || node == SNAPSHOT_NONE)
            continue;
        uint32_t pool = world->nodes[node].node_pool;
        size_t sums[] = {pool == SNAPSHOT_NONE ? pool_count : pool, pool_count};
        for (size_t i = sums[0] == sums[1] ? 1 : 0; i < 2; i++) {
            totals[sums[i]].allocated_milli += pod->gpu_allocated_milli;
            totals[sums[i]].held_memory_bytes +=
                (world->nodes[node].gpu_memory_mib << 20) * pod->gpu_allocated_milli / 1000;
            held_use_add(&totals[sums[i]].use, pod);
        }
        add_pod(sampler, &world->nodes[node], pod, devices + first[node]);
    }
    for (uint32_t i = 0; i < world->rows.node_count; i++) {
        sample_node(sampler, world, i, devices + first[i]);
        const struct load *load = id_map_find(&cache->node_loads, world->rows.nodes[i].id);
        sampler_set_load(sampler, "node", world->rows.nodes[i].id, load, true);
        if (load && load->cpu_milli >= 0) {
            add_node_load(&totals[pool_count], &world->nodes[i], load);
            if (world->nodes[i].node_pool != SNAPSHOT_NONE)
                add_node_load(&totals[world->nodes[i].node_pool], &world->nodes[i], load);
        }
    }
}

struct queue_sums {
    struct amounts quota, held;
    struct held_use use;
};

static void add_amounts(struct amounts *sum, const struct amounts *amounts)
{
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (amounts->of[i] != QUANTITY_UNLIMITED)
            sum->of[i] = quantity_add(sum->of[i], amounts->of[i]);
}

static void sample_queue(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id,
                         const struct queue_sums *sums)
{
    sampler_set(sampler, scope, id, pool_id, "GPU_QUOTA", (double)sums->quota.of[RESOURCE_GPU] / 1000);
    sampler_set(sampler, scope, id, pool_id, "CPU_QUOTA_MILLICORES", (double)sums->quota.of[RESOURCE_CPU]);
    sampler_set(sampler, scope, id, pool_id, "CPU_MEMORY_QUOTA_MB", (double)sums->quota.of[RESOURCE_MEMORY] / MB);
    sampler_set(sampler, scope, id, pool_id, "GPU_ALLOCATION", (double)sums->held.of[RESOURCE_GPU] / 1000);
    sampler_set(sampler, scope, id, pool_id, "GPU_UTILIZATION", held_use_percent(&sums->use));
    sampler_set(sampler, scope, id, pool_id, "GPU_MEMORY_UTILIZATION", held_memory_percent(&sums->use));
    sampler_set(sampler, scope, id, pool_id, "CPU_ALLOCATION_MILLICORES", (double)sums->held.of[RESOURCE_CPU]);
    sampler_set(sampler, scope, id, pool_id, "CPU_MEMORY_ALLOCATION_MB", (double)sums->held.of[RESOURCE_MEMORY] / MB);
}

static void sample_owner(struct sampler *sampler, const char *scope, int64_t id, const struct world *world,
                         const struct snapshot_queue *queues, const struct held *held)
{
    struct queue_sums all = {0};
    for (size_t pool = 0; pool < world->rows.pool_count; pool++) {
        struct queue_sums sums = {.held = held[pool].of[0], .use = held[pool].use};
        add_amounts(&sums.quota, &queues[pool].deserved);
        add_amounts(&all.quota, &sums.quota);
        add_amounts(&all.held, &sums.held);
        held_use_sum(&all.use, &sums.use);
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
    struct held *departments, *projects = held_count(cache, sampler->arena, &departments);
    if (sampler->usage->pool_count > 0)
        past_usage_hold(sampler->usage, world, amounts_of(projects, world->rows.project_count * pools, sampler->arena),
                        amounts_of(departments, world->rows.department_count * pools, sampler->arena), sampler->now_ms);
    people_usage_hold(&sampler->usage->people, cache, sampler->now_ms);
    for (size_t i = 0; i < world->rows.project_count; i++) {
        sample_owner(sampler, "project", world->rows.projects[i].id, world, world->projects[i].queues,
                     projects + i * pools);
        for (size_t pool = 0; pool < pools; pool++) {
            int64_t quota = world->projects[i].queues[pool].deserved.of[RESOURCE_GPU];
            if (quota == QUANTITY_UNLIMITED)
                continue;
            totals[pool].quota_milli = quantity_add(totals[pool].quota_milli, quota);
            totals[pools].quota_milli = quantity_add(totals[pools].quota_milli, quota);
        }
    }
    for (size_t i = 0; i < world->rows.department_count; i++)
        sample_owner(sampler, "department", world->rows.departments[i].id, world, world->departments[i].queues,
                     departments + i * pools);
}

static void add_node(struct totals *sum, const struct snapshot_node *node)
{
    sum->cpu_milli = quantity_add(sum->cpu_milli, node->cpu_milli);
    sum->memory_bytes = quantity_add(sum->memory_bytes, node->memory_bytes);
    if (node->gpu_count == 0)
        return;
    sum->gpus += node->gpu_count;
    sum->ready_gpus += node->ready ? node->gpu_count : 0;
    sum->gpu_nodes++;
    sum->gpu_memory_bytes = quantity_add(sum->gpu_memory_bytes, (node->gpu_memory_mib << 20) * node->gpu_count);
}

// The pool that it runs in counts it.
static void count_workload(const struct world *world, const struct cache_workload *workload, struct totals *totals)
{
    for (size_t k = 0; k < workload->pod_count; k++) {
        uint32_t node = world_node(world, workload->pods[k]->node_id);
        if (!pod_status_holds_place(workload->pods[k]->status) || node == SNAPSHOT_NONE)
            continue;
        if (world->nodes[node].node_pool != SNAPSHOT_NONE)
            totals[world->nodes[node].node_pool].workloads++;
        break;
    }
}

static void sample_all(struct sampler *sampler, const struct cache *cache)
{
    const struct world *world = cache->world;
    size_t pools = world->rows.pool_count;
    struct totals *totals = arena_array(sampler->arena, pools + 1, sizeof(*totals)); // [pools]: of all
    for (size_t i = 0; i < world->rows.node_count; i++) {
        if (world->nodes[i].node_pool != SNAPSHOT_NONE)
            add_node(&totals[world->nodes[i].node_pool], &world->nodes[i]);
        add_node(&totals[pools], &world->nodes[i]);
    }
    sample_nodes(sampler, cache, totals);
    sample_org(sampler, cache, totals);
    for (size_t i = 0; i < cache->workload_count; i++) {
        work_sample(sampler, world, cache->order[i]);
        count_workload(world, cache->order[i], totals);
    }
    totals[pools].workloads = (int64_t)cache->workload_count;
    for (size_t i = 0; i < pools; i++)
        sample_totals(sampler, "nodepool", world->rows.pools[i].id, &totals[i]);
    sample_totals(sampler, "cluster", world->rows.cluster_id, &totals[pools]);
    waiting_sample(sampler, cache);
    work_sample_categories(sampler, cache);
}

void figures_of_samples(struct figures *figures, struct past_usage *usage, struct turn *turn,
                        struct figure_changes *changes)
{
    int64_t interval = turn->options->sample_interval_ms ? turn->options->sample_interval_ms : SAMPLE_INTERVAL_MS;
    if (turn->now_ms - figures->sampled_ms < interval && turn->now_ms >= figures->sampled_ms) {
        turn_note_due(turn, figures->sampled_ms + interval);
        return;
    }
    struct sampler sampler = {&figures->gauges, turn->arena, changes, figures, usage, turn->now_ms};
    figures->sampled_ms = turn->now_ms;
    gauges_begin(&figures->gauges);
    sample_all(&sampler, turn->cache);
    sampler_end(&sampler);
    if (turn->now_ms - figures->overtime_ms >= OVERTIME_INTERVAL_MS) {
        figures->overtime_ms = turn->now_ms;
        changes->is_overtime_due = true;
    }
}
