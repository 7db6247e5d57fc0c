#include "scheduler/victims/taken.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/search_state.h"

// What became of a victim, in the order in which the next probe takes them.
enum fate {
    FATE_LOST,     // has no place
    FATE_PROMISED, // has another, or a promise
    FATE_WHOLE,    // was put back, but its gang cannot do without those that were not
    FATE_PUT_BACK
};

static enum fate fate_of(const struct pod *pod)
{
    if (pod->state.evicted)
        return FATE_LOST;
    return pod->state.status == SNAPSHOT_POD_PIPELINED ? FATE_PROMISED : FATE_PUT_BACK;
}

// Pods that waited may stand in for victims of their gang: without those the pods that were put back are a part of it.
static bool is_left_in_part(const struct search *search, const struct workload *workload, const enum fate *fates,
                            struct arena *arena)
{
    uint32_t *before = arena_array(arena, workload->group_count, sizeof(*before));
    uint32_t *left = arena_array(arena, workload->group_count, sizeof(*left));
    for (uint32_t g = 0; g < workload->group_count; g++)
        before[g] = left[g] = workload->groups[g].counts.held;
    for (size_t i = 0; i < search->solution.count; i++) {
        const struct pod *pod = &search->cycle->pods[search->solution.pods[i]];
        if (pod->workload == workload->index && fates[i] != FATE_PUT_BACK)
            left[pod->group]--;
    }
    return unit_is_broken(workload, before, left);
}

// Pods that a leaf of the workload held before the scenario, from what it holds now.
static void count_before(const struct search *search, const struct scenario *scenario, size_t checkpoint,
                         const struct workload *workload, uint32_t *out_held)
{
    const struct cycle *cycle = search->cycle;
    for (uint32_t g = 0; g < workload->group_count; g++)
        out_held[g] = workload->groups[g].counts.held;
    for (size_t i = 0; i < scenario->count; i++) {
        const struct pod *pod = &cycle->pods[scenario->pods[i]];
        if (pod->workload == workload->index && !pod_status_is_held(pod->state.status))
            out_held[pod->group]++;
    }
    for (size_t i = checkpoint; i < cycle->log->count; i++) {
        const struct operation *operation = &cycle->log->operations[i];
        const struct pod *pod = &cycle->pods[operation->pod];
        if (pod->workload == workload->index && operation->kind == OPERATION_PLACE && !operation->before.evicted)
            out_held[pod->group]--;
    }
}

bool taken_leaves_gangs_whole(struct search *search, const struct scenario *scenario, size_t checkpoint)
{
    struct cycle *cycle = search->cycle;
    uint32_t is_seen = ++cycle->stamp;
    for (size_t i = 0; i < scenario->count; i++) {
        struct workload *workload = &cycle->workloads[cycle->pods[scenario->pods[i]].workload];
        if (workload->stamp == is_seen)
            continue;
        workload->stamp = is_seen;
        uint32_t *before = arena_array(&search->arena, workload->group_count, sizeof(*before));
        uint32_t *held = arena_array(&search->arena, workload->group_count, sizeof(*held));
        for (uint32_t g = 0; g < workload->group_count; g++)
            held[g] = workload->groups[g].counts.held;
        if (unit_is_whole(workload, held))
            continue;
        count_before(search, scenario, checkpoint, workload, before);
        if (unit_is_broken(workload, before, held))
            return false;
    }
    return true;
}

static void keep_gangs_whole(struct search *search, enum fate *fates)
{
    const struct scenario *solution = &search->solution;
    struct cycle *cycle = search->cycle;
    uint32_t some_are_taken = ++cycle->stamp;
    for (size_t i = 0; i < solution->count; i++) {
        if (fates[i] != FATE_PUT_BACK)
            cycle->workloads[cycle->pods[solution->pods[i]].workload].stamp = some_are_taken;
    }
    for (size_t i = 0; i < solution->count; i++) {
        struct workload *workload = &cycle->workloads[cycle->pods[solution->pods[i]].workload];
        if (fates[i] != FATE_PUT_BACK || workload->stamp != some_are_taken)
            continue;
        workload->stamp = 0;
        if (!is_left_in_part(search, workload, fates, &search->arena))
            continue;
        for (size_t j = i; j < solution->count; j++) {
            if (cycle->pods[solution->pods[j]].workload == workload->index && fates[j] == FATE_PUT_BACK)
                fates[j] = FATE_WHOLE;
        }
    }
}

struct scenario taken_back(struct search *search, size_t checkpoint)
{
    const struct cycle *cycle = search->cycle;
    const struct scenario *solution = &search->solution;
    enum fate *fates = arena_array(&search->arena, solution->count, sizeof(*fates));
    for (size_t i = 0; i < solution->count; i++)
        fates[i] = fate_of(&cycle->pods[solution->pods[i]]);
    statement_roll_back(search->cycle, checkpoint);
    keep_gangs_whole(search, fates);
    struct scenario taken = {0};
    uint32_t *pods = arena_array(cycle->scratch, solution->count, sizeof(*pods));
    for (enum fate fate = FATE_LOST; fate < FATE_PUT_BACK; fate++) {
        for (size_t i = 0; i < solution->count; i++) {
            if (fates[i] == fate)
                pods[taken.count++] = solution->pods[i];
        }
    }
    taken.pods = pods;
    arena_clear(&search->arena);
    return taken;
}

bool taken_is_all(const struct search *search)
{
    enum fate last = FATE_LOST;
    for (size_t i = 0; i < search->solution.count; i++) {
        enum fate fate = fate_of(&search->cycle->pods[search->solution.pods[i]]);
        if (fate < last || fate == FATE_PUT_BACK)
            return false;
        last = fate;
    }
    return true;
}
