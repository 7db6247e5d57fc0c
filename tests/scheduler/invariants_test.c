// Random clusters, cycle after cycle: what must hold whatever the scheduler decides. A failure prints its seed; run the
// program with a seed to see that one cluster alone, or with a seed and a count.
#include "base/arena.h"
#include "base/error.h"
#include "scheduler/scheduler.h"
#include "simulation/simulation.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 2000,
    CYCLES = 24,
    MOST_GROUPS = 64
};

struct view {
    uint64_t seed;
    int cycle;
    const struct snapshot *snapshot;
    const struct plan *plan;
};

static bool stands(enum snapshot_pod_status status)
{
    return status >= SNAPSHOT_POD_BINDING && status <= SNAPSHOT_POD_STUCK_IN_RELEASING;
}

static bool is_held(enum snapshot_pod_status status)
{
    return status >= SNAPSHOT_POD_PIPELINED && status <= SNAPSHOT_POD_RUNNING;
}

static void expect(const struct view *view, bool ok, const char *what, const char *name)
{
    check_true(ok, "seed %llu, cycle %d: %s: %s", (unsigned long long)view->seed, view->cycle, what, name);
}

struct device_use {
    bool held;
    const char *group; // NULL: whole
    int64_t mib;
};

static void use_devices(const struct view *view, const struct snapshot_pod *pod, const struct plan_pod *place,
                        struct device_use *uses, uint32_t count)
{
    const struct plan_devices *devices = &place->devices;
    if (pod->gpu_devices == 0)
        return;
    const bool is_shared = pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0;
    const int64_t mib = pod->gpu_memory_mib > 0 ? pod->gpu_memory_mib : pod->gpu_portion_milli * 16;
    expect(view, !is_shared || devices->gpu_group_count == pod->gpu_devices, "a group for each device", pod->name);
    if (devices->gpu_index_count == 0)
        return; // nothing was decided yet, and nobody wrote them down
    expect(view, devices->gpu_index_count == pod->gpu_devices, "an index for each device", pod->name);
    for (size_t i = 0; i < devices->gpu_index_count; i++) {
        const uint32_t gpu = devices->gpu_indices[i];
        const char *group = is_shared ? devices->gpu_groups[i] : NULL;
        expect(view, gpu < count, "an index below the node's number of devices", pod->name);
        if (gpu >= count)
            return;
        struct device_use *use = &uses[gpu];
        expect(view, !use->held || (group && use->group && strcmp(group, use->group) == 0), "no device twice",
               pod->name);
        use->held = true;
        use->group = group;
        use->mib += mib;
        expect(view, !is_shared || use->mib <= 16000, "no device over its memory", pod->name);
    }
}

static void check_node(const struct view *view, uint32_t index)
{
    const struct snapshot_node *node = &view->snapshot->nodes[index];
    struct device_use uses[MOST_GROUPS] = {0};
    int64_t cpu_milli = 0, later_cpu_milli = 0, pods = 0;
    for (size_t p = 0; p < view->snapshot->pod_count; p++) {
        const struct snapshot_pod *pod = &view->snapshot->pods[p];
        const struct plan_pod *place = &view->plan->pods[p];
        if (place->node != index)
            continue;
        if (stands(place->status)) {
            cpu_milli += pod->cpu_milli;
            pods++;
            use_devices(view, pod, place, uses, node->gpu_count);
        }
        if (is_held(place->status))
            later_cpu_milli += pod->cpu_milli;
    }
    expect(view, cpu_milli <= node->cpu_milli && pods <= node->max_pods, "no node over its amounts", node->name);
    expect(view, later_cpu_milli <= node->cpu_milli, "no promise over a node's amounts", node->name);
    const struct plan_node *numbers = &view->plan->nodes[index];
    expect(view, numbers->idle_gpus >= 0 && numbers->idle_gpus + numbers->releasing_gpus >= 0,
           "idle and promised GPUs fit the node", node->name);
}

static void count_group(const struct view *view, uint32_t workload, uint32_t sub_group, uint32_t *out_before,
                        uint32_t *out_after, bool *out_placed)
{
    const struct snapshot_workload *spec = &view->snapshot->workloads[workload];
    *out_before = *out_after = 0;
    *out_placed = false;
    for (uint32_t i = 0; i < spec->pod_count; i++) {
        const struct snapshot_pod *pod = &view->snapshot->pods[spec->first_pod + i];
        if (pod->sub_group != sub_group)
            continue;
        const enum snapshot_pod_status after = view->plan->pods[spec->first_pod + i].status;
        *out_before += is_held(pod->status) && pod->status != SNAPSHOT_POD_PIPELINED;
        *out_after += is_held(after);
        *out_placed = *out_placed || after == SNAPSHOT_POD_BINDING || after == SNAPSHOT_POD_PIPELINED;
    }
}

static void check_gangs(const struct view *view, uint32_t workload)
{
    const struct snapshot_workload *spec = &view->snapshot->workloads[workload];
    const size_t groups = spec->sub_group_count ? spec->sub_group_count : 1;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t before, after;
        bool placed;
        count_group(view, workload, spec->sub_group_count ? g : SNAPSHOT_NONE, &before, &after, &placed);
        const uint32_t minimum = spec->sub_group_count ? spec->sub_groups[g].min_pods : spec->min_pods;
        if (placed)
            expect(view, after >= minimum, "a gang is placed whole", spec->name);
        if (before >= minimum)
            expect(view, after == 0 || after >= minimum, "a gang is evicted whole or keeps its minimum", spec->name);
    }
}

static void check_limits(const struct view *view, const struct plan_queue *queue, const struct plan_queue *before,
                         const char *name)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        if (queue->allocated.of[r] > before->allocated.of[r])
            expect(view, queue->allocated.of[r] <= queue->limit.of[r], "no queue over its limit", name);
        if (queue->allocated_non_preemptible.of[r] > before->allocated_non_preemptible.of[r])
            expect(view, queue->allocated_non_preemptible.of[r] <= queue->deserved.of[r],
                   "no non-preemptible pods over quota", name);
    }
}

static void check_decisions(const struct view *view)
{
    for (size_t i = 0; i < view->plan->decision_count; i++) {
        const struct plan_decision *decision = &view->plan->decisions[i];
        const struct snapshot_workload *workload = &view->snapshot->workloads[decision->workload];
        expect(view, decision->why && *decision->why, "every decision says why", workload->name);
        if (decision->verb == PLAN_BIND || decision->verb == PLAN_PIPELINE) {
            const struct snapshot_node *node = &view->snapshot->nodes[decision->node];
            expect(view, node->ready && !node->cordoned, "nothing new on a node that is not ready", workload->name);
            expect(view, node->node_pool == decision->node_pool, "pods stay in the pool", workload->name);
        }
        if (decision->verb != PLAN_EVICT || decision->action == ACTION_STALE_GANG_EVICTION)
            continue;
        expect(view, workload->preemptible, "a non-preemptible workload keeps its pods", workload->name);
        const bool has_beneficiary = decision->beneficiary != SNAPSHOT_NONE;
        expect(view, has_beneficiary, "an eviction has a beneficiary", workload->name);
        bool placed = false;
        for (size_t d = i; d < view->plan->decision_count && has_beneficiary && !placed; d++)
            placed = view->plan->decisions[d].verb == PLAN_PIPELINE &&
                     view->plan->decisions[d].workload == decision->beneficiary;
        expect(view, placed, "the beneficiary gets its place in the same cycle", workload->name);
    }
}

static void check_plan(const struct view *view, const struct plan *before)
{
    const struct snapshot *snapshot = view->snapshot;
    for (uint32_t n = 0; n < snapshot->node_count; n++)
        check_node(view, n);
    for (uint32_t w = 0; w < snapshot->workload_count; w++)
        check_gangs(view, w);
    for (size_t p = 0; p < snapshot->project_count; p++) {
        for (size_t pool = 0; pool < snapshot->node_pool_count; pool++)
            check_limits(view, &view->plan->projects[p * snapshot->node_pool_count + pool],
                         &before->projects[p * snapshot->node_pool_count + pool], snapshot->projects[p].name);
    }
    for (size_t d = 0; d < snapshot->department_count && snapshot->settings.full_hierarchy_fairness; d++) {
        for (size_t pool = 0; pool < snapshot->node_pool_count; pool++)
            check_limits(view, &view->plan->departments[d * snapshot->node_pool_count + pool],
                         &before->departments[d * snapshot->node_pool_count + pool], snapshot->departments[d].name);
    }
    check_decisions(view);
}

static void check_same(const struct view *view, const struct plan *again)
{
    expect(view, view->plan->decision_count == again->decision_count, "same input, same plan", "number of decisions");
    for (size_t i = 0; i < view->plan->decision_count && i < again->decision_count; i++) {
        const struct plan_decision *a = &view->plan->decisions[i], *b = &again->decisions[i];
        expect(view,
               a->pod == b->pod && a->verb == b->verb && a->node == b->node && a->action == b->action &&
                   strcmp(a->why, b->why) == 0,
               "same input, same plan", "a decision");
    }
}

static bool evicts(const struct plan *plan)
{
    for (size_t i = 0; i < plan->decision_count; i++) {
        if (plan->decisions[i].verb == PLAN_EVICT)
            return true;
    }
    return false;
}

static void print_plan(const struct view *view)
{
    const struct snapshot *snapshot = view->snapshot;
    for (size_t i = 0; i < view->plan->decision_count; i++) {
        const struct plan_decision *decision = &view->plan->decisions[i];
        printf("cycle %d: %s %s %s on %s: %s\n", view->cycle, scheduler_action_name(decision->action),
               plan_verb_name(decision->verb), snapshot->pods[decision->pod].name, snapshot->nodes[decision->node].name,
               decision->why);
    }
}

static void check_cluster(uint64_t seed, bool prints)
{
    struct arena arena;
    arena_init(&arena);
    struct simulation simulation;
    struct error err = {0};
    simulation_init(&simulation, random_cluster(seed, &arena));
    for (int cycle = 0; cycle <= CYCLES; cycle++) {
        struct plan *before, *plan, *again;
        struct view view = {.seed = seed, .cycle = cycle, .snapshot = &simulation.snapshot};
        if (simulation_look(&simulation, &before, &err) < 0 || simulation_plan(&simulation, &again, &err) < 0 ||
            simulation_plan(&simulation, &plan, &err) < 0) {
            check_true(0, "seed %llu: %s", (unsigned long long)seed, err.message);
            break;
        }
        view.plan = plan;
        if (prints)
            print_plan(&view);
        check_plan(&view, before);
        check_same(&view, again);
        if (cycle == CYCLES)
            check_true(!evicts(plan), "seed %llu does not come to rest", (unsigned long long)seed);
        simulation_advance(&simulation, plan);
    }
    simulation_done(&simulation);
    arena_done(&arena);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : CLUSTERS;
    printf("seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++)
        check_cluster(seed, argc == 2);
    return check_finish();
}
