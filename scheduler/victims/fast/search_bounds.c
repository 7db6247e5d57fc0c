#include "scheduler/victims/fast/search_bounds.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/victims/fast/serving_order.h"

#include <string.h>

// What a workload holds may go pod by pod or at once.
static void add_loss(struct loss *loss, const struct cycle *cycle, const struct workload *workload)
{
    int64_t whole_milli = 0;
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (!pod_status_is_held(pod->state.status) || !pod->request.needs_gpu)
            continue;
        int64_t milli =
            request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib).of[RESOURCE_GPU];
        whole_milli += milli;
        loss->grain_milli = loss_grain(loss->grain_milli, milli);
    }
    loss->milli += whole_milli;
    loss->largest_milli = whole_milli > loss->largest_milli ? whole_milli : loss->largest_milli;
}

static void count_holders(void *context, uint32_t project)
{
    struct search_bounds *bounds = context;
    const struct holders *holders = &bounds->holders;
    struct search_bound *bound = &bounds->projects[project];
    *bound = (struct search_bound){.lowest_priority = INT64_MAX};
    for (size_t i = 0; i < holders->count[project]; i++) {
        const struct workload *workload = holders->workloads[holders->first[project] + i];
        if (!holders_has(holders, workload))
            continue;
        bound->victim_count++;
        if (workload->spec->priority < bound->lowest_priority)
            bound->lowest_priority = workload->spec->priority;
        add_loss(&bound->loss, bounds->cycle, workload);
    }
}

static void update_holders(struct search_bounds *bounds, struct cycle *cycle, const struct pool *pool)
{
    if (bounds->pool == pool && bounds->opened_count == cycle->opened_count) {
        holders_follow(&bounds->holders, cycle, bounds->decision_count, count_holders, bounds);
        for (size_t i = bounds->decision_count; i < cycle->journal->count; i++)
            project_units_touch(&bounds->units, cycle, &cycle->workloads[cycle->journal->decisions[i].workload]);
        return;
    }
    holders_fill(&bounds->holders, cycle, pool);
    project_units_forget(&bounds->units, cycle);
    for (uint32_t p = 0; p < cycle->snapshot->project_count; p++)
        count_holders(bounds, p);
}

static void sum_free(struct search_bounds *bounds, const struct cycle *cycle)
{
    bounds->free_gpu_milli = bounds->most_free_milli = 0;
    bounds->free_gpu_mib = 0;
    bounds->free_devices = 0;
    for (size_t i = 0; i < bounds->pool->node_count; i++) {
        const struct node *node = bounds->pool->nodes[i];
        if (!node->is_open)
            continue;
        int64_t free = node_free_gpu_milli(cycle->snapshot, node);
        bounds->free_gpu_milli += free;
        bounds->most_free_milli += free > 0 ? free : 0;
        bounds->free_devices += node_free(node, DIMENSION_GPU) > 0 ? node_free(node, DIMENSION_GPU) : 0;
        bounds->free_gpu_mib += (__int128)free * node->gpu_memory_mib;
    }
}

const struct search_bounds *search_bounds_of(struct cycle *cycle, const struct pool *pool)
{
    struct search_bounds *bounds = cycle->bounds;
    if (!bounds) {
        bounds = cycle->bounds = arena_alloc(cycle->scratch, sizeof(*bounds));
        bounds->projects = arena_array(cycle->scratch, cycle->snapshot->project_count, sizeof(*bounds->projects));
        bounds->positions = arena_array(cycle->scratch, cycle->snapshot->workload_count, sizeof(*bounds->positions));
        bounds->cycle = cycle;
        loss_bounds_open(&bounds->losses, cycle, pool, cycle->scratch);
        bounds->frozen = frozen_queues_make(cycle);
        bounds->holders = holders_make(cycle);
        bounds->units = project_units_make(cycle, &bounds->holders);
    } else if (bounds->pool == pool && bounds->decision_count == cycle->journal->count &&
               bounds->opened_count == cycle->opened_count) {
        return bounds;
    }
    update_holders(bounds, cycle, pool);
    bounds->pool = pool;
    bounds->decision_count = cycle->journal->count;
    bounds->opened_count = cycle->opened_count;
    sum_free(bounds, cycle);
    frozen_queues_take(cycle, pool, &bounds->frozen);
    bounds->is_transitive = serving_order_is_transitive(cycle, pool);
    return bounds;
}

int64_t search_bounds_must_free(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                uint32_t pending_count)
{
    if (cycle->has_inexact_gpus)
        return INT64_MIN;
    int64_t milli = -search_bounds_of(cycle, pool)->most_free_milli;
    for (uint32_t i = 0; i < pending_count; i++)
        milli += request_gpu_milli(&cycle->pods[workload->unit[i]].request, pool->largest_gpu_memory_mib);
    return milli;
}

int64_t search_bounds_must_free_devices(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                        uint32_t pending_count)
{
    int64_t devices = -search_bounds_of(cycle, pool)->free_devices;
    for (uint32_t i = 0; i < pending_count; i++) {
        const struct request *request = &cycle->pods[workload->unit[i]].request;
        if (request->of[DIMENSION_GPU] == 0)
            return INT64_MIN;
        devices += request->of[DIMENSION_GPU];
    }
    return devices;
}

static bool is_same_constraint(const struct snapshot_topology_constraint *a,
                               const struct snapshot_topology_constraint *b)
{
    return a->topology == b->topology &&
           (a->topology == SNAPSHOT_NONE || (a->required == b->required && a->preferred == b->preferred));
}

static bool is_same_request(const struct pod *a, const struct pod *b)
{
    const struct request *one = &a->request, *other = &b->request;
    return memcmp(one->of, other->of, sizeof(one->of)) == 0 && one->portion_milli == other->portion_milli &&
           one->memory_mib == other->memory_mib && one->shared_devices == other->shared_devices &&
           one->needs_gpu == other->needs_gpu && a->spec->rules == b->spec->rules && a->spec->extended_count == 0 &&
           b->spec->extended_count == 0;
}

bool search_bounds_are_alike(const struct cycle *cycle, const struct workload *one, const struct workload *other)
{
    const struct snapshot_workload *a = one->spec, *b = other->spec;
    if (one->person != other->person || !a->over_budget != !b->over_budget || a->pod_count != b->pod_count ||
        a->priority != b->priority || a->preemptible != b->preemptible || a->min_pods != b->min_pods ||
        a->min_sub_groups != b->min_sub_groups || a->sub_group_count > 0 || b->sub_group_count > 0 ||
        a->pod_affinity != POD_AFFINITY_NONE || b->pod_affinity != POD_AFFINITY_NONE ||
        !is_same_constraint(&a->topology, &b->topology) || one->counts.pending != a->pod_count ||
        other->counts.pending != b->pod_count)
        return false;
    for (uint32_t i = 0; i < a->pod_count; i++) {
        if (!is_same_request(&cycle->pods[one->order[i]], &cycle->pods[other->order[i]]))
            return false;
    }
    return true;
}
