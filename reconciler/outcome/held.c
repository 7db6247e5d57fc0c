#include "reconciler/outcome/held.h"

#include "base/arena.h"
#include "reconciler/world/world.h"

#include <math.h>

bool held_is_measured(const struct cache_pod *pod)
{
    return pod->status == POD_STATUS_RUNNING && pod->gpu_utilization >= 0;
}

bool held_memory_is_measured(const struct cache_pod *pod)
{
    return pod->status == POD_STATUS_RUNNING && pod->gpu_memory.used_bytes >= 0;
}

double held_busy_of(const struct cache_pod *pod)
{
    return held_is_measured(pod) ? pod->gpu_utilization / 100 : 0;
}

void held_use_add(struct held_use *use, const struct cache_pod *pod)
{
    if (held_memory_is_measured(pod)) {
        use->memory_held_bytes += pod->gpu_memory.held_bytes;
        use->memory_used_bytes += pod->gpu_memory.held_bytes ? pod->gpu_memory.used_bytes : 0;
    }
    if (!held_is_measured(pod))
        return;
    use->measured_milli += pod->gpu_allocated_milli;
    use->busy_milli += (double)pod->gpu_allocated_milli * held_busy_of(pod);
}

void held_use_sum(struct held_use *sum, const struct held_use *use)
{
    sum->measured_milli += use->measured_milli;
    sum->busy_milli += use->busy_milli;
    sum->memory_held_bytes += use->memory_held_bytes;
    sum->memory_used_bytes += use->memory_used_bytes;
}

double held_memory_percent(const struct held_use *use)
{
    return use->memory_held_bytes ? (double)use->memory_used_bytes / (double)use->memory_held_bytes * 100 : NAN;
}

double held_use_percent(const struct held_use *use)
{
    return use->measured_milli ? use->busy_milli / (double)use->measured_milli * 100 : NAN;
}

static void add_held(struct held *held, const struct cache_pod *pod)
{
    held_use_add(&held->use, pod);
    for (int i = 0; i < (pod->workload->preemptible ? 1 : 2); i++) {
        held->of[i].of[RESOURCE_GPU] += pod->gpu_allocated_milli;
        held->of[i].of[RESOURCE_CPU] += pod->cpu_milli;
        held->of[i].of[RESOURCE_MEMORY] += pod->memory_bytes;
    }
}

struct held *held_count(const struct cache *cache, struct arena *arena, struct held **out_departments)
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
