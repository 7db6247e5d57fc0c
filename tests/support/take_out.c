#include "tests/support/take_out.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct loose_workload loose_workload(const struct snapshot *snapshot, uint32_t index, const char *name,
                                     struct arena *arena)
{
    struct loose_workload loose = {.workload = snapshot->workloads[index]};
    struct snapshot_workload *workload = &loose.workload;
    loose.pods = arena_array(arena, workload->pod_count, sizeof(*loose.pods));
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        struct snapshot_pod *pod = &loose.pods[i];
        *pod = snapshot->pods[workload->first_pod + i];
        pod->status = SNAPSHOT_POD_PENDING;
        pod->node = SNAPSHOT_NONE;
        pod->gpu_groups = NULL;
        pod->gpu_indices = NULL;
        pod->gpu_group_count = pod->gpu_index_count = 0;
        pod->started_ms = SNAPSHOT_TIME_NONE;
    }
    workload->name = name;
    workload->created_ms = snapshot->now_ms;
    workload->deleting = false;
    workload->promise = SNAPSHOT_PROMISE_NONE;
    workload->stale_ms = workload->last_eviction_ms = SNAPSHOT_TIME_NONE;
    return loose;
}

static int compare(const void *a, const void *b)
{
    const struct loose_workload *one = a, *other = b;
    return strcmp(one->workload.name, other->workload.name);
}

struct snapshot *snapshot_rebuild(const struct snapshot *snapshot, uint32_t without, const struct loose_workload *added,
                                  struct arena *arena)
{
    struct loose_workload *all = arena_array(arena, snapshot->workload_count + 1, sizeof(*all));
    size_t count = 0, pod_count = 0;
    for (uint32_t i = 0; i < snapshot->workload_count; i++) {
        if (i != without)
            all[count++] = (struct loose_workload){snapshot->workloads[i], (struct snapshot_pod *)snapshot->pods +
                                                                               snapshot->workloads[i].first_pod};
    }
    if (added)
        all[count++] = *added;
    qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count; i++)
        pod_count += all[i].workload.pod_count;
    struct snapshot *rebuilt = arena_alloc(arena, sizeof(*rebuilt));
    struct snapshot_workload *workloads = arena_array(arena, count, sizeof(*workloads));
    struct snapshot_pod *pods = arena_array(arena, pod_count, sizeof(*pods));
    *rebuilt = *snapshot;
    rebuilt->workloads = workloads;
    rebuilt->workload_count = count;
    rebuilt->pods = pods;
    rebuilt->pod_count = pod_count;
    pod_count = 0;
    for (size_t i = 0; i < count; i++) {
        workloads[i] = all[i].workload;
        workloads[i].first_pod = (uint32_t)pod_count;
        for (uint32_t p = 0; p < workloads[i].pod_count; p++) {
            pods[pod_count] = all[i].pods[p];
            pods[pod_count++].workload = (uint32_t)i;
        }
    }
    return rebuilt;
}

uint32_t snapshot_find(const struct snapshot *snapshot, const char *name)
{
    for (uint32_t i = 0; i < snapshot->workload_count; i++) {
        if (strcmp(snapshot->workloads[i].name, name) == 0)
            return i;
    }
    return SNAPSHOT_NONE;
}
