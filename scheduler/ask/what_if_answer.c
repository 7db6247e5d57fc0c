#include "scheduler/ask/what_if_answer.h"

#include "base/arena.h"
#include "model/told.h"
#include "scheduler/placing/explain.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>
#include <string.h>

// The index in the snapshot that was asked about.
static uint32_t original(const struct what_if_trial *trial, uint32_t workload)
{
    return trial->is_new && workload > trial->workload ? workload - 1 : workload;
}

static bool gives_way(const struct what_if_trial *trial, const struct plan_decision *decision)
{
    return decision->beneficiary == trial->workload &&
           (decision->verb == PLAN_EVICT || (decision->verb == PLAN_WITHDRAW && !decision->moved));
}

static void find_displaced(const struct what_if_trial *trial, struct what_if_outcome *outcome, struct arena *arena)
{
    const struct plan *plan = trial->plan;
    struct what_if_displaced *list = arena_array(arena, plan->decision_count, sizeof(*list));
    size_t count = 0;
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        if (!gives_way(trial, decision))
            continue;
        uint32_t workload = original(trial, decision->workload);
        size_t at = 0;
        while (at < count && list[at].workload < workload)
            at++;
        if (at == count || list[at].workload != workload) {
            memmove(&list[at + 1], &list[at], (count - at) * sizeof(*list));
            count++;
            list[at] = (struct what_if_displaced){.workload = workload,
                                                  .node_pool = decision->node_pool,
                                                  .action = decision->action,
                                                  .moved = true,
                                                  .sentence = decision->why};
        }
        list[at].gpu_milli += decision->gpu_milli;
        list[at].pods++;
        list[at].moved = list[at].moved && decision->moved;
        if (decision->lost_ms > list[at].lost_ms)
            list[at].lost_ms = decision->lost_ms;
        if (!decision->moved) {
            list[at].sentence = decision->why;
            outcome->displaced_milli += decision->gpu_milli;
        }
    }
    outcome->displaced = list;
    outcome->displaced_count = count;
}

// Whether the cycle gave the pod a place and left it that: what was placed first may give way later in the same cycle.
static bool has_new_place(const struct what_if_trial *trial, uint32_t pod)
{
    enum snapshot_pod_status now = trial->plan->pods[pod].status, before = trial->snapshot->pods[pod].status;
    return now == SNAPSHOT_POD_PIPELINED || (now == SNAPSHOT_POD_BINDING && before != SNAPSHOT_POD_BINDING);
}

// What each pod of the workload was charged with when it was placed last.
static const int64_t *placed_milli(const struct what_if_trial *trial, struct arena *arena)
{
    const struct snapshot_workload *workload = &trial->snapshot->workloads[trial->workload];
    int64_t *milli = arena_array(arena, workload->pod_count, sizeof(*milli));
    for (size_t i = 0; i < trial->plan->decision_count; i++) {
        const struct plan_decision *decision = &trial->plan->decisions[i];
        if (decision->workload == trial->workload && (decision->verb == PLAN_BIND || decision->verb == PLAN_PIPELINE))
            milli[decision->pod - workload->first_pod] = decision->gpu_milli;
    }
    return milli;
}

static void find_nodes(const struct what_if_trial *trial, struct what_if_outcome *outcome, struct arena *arena)
{
    const struct snapshot_workload *workload = &trial->snapshot->workloads[trial->workload];
    struct what_if_node *list = arena_array(arena, workload->pod_count, sizeof(*list));
    const int64_t *milli = placed_milli(trial, arena);
    size_t count = 0;
    for (uint32_t pod = workload->first_pod; pod < workload->first_pod + workload->pod_count; pod++) {
        uint32_t node = trial->plan->pods[pod].node;
        size_t at = 0;
        if (!has_new_place(trial, pod))
            continue;
        while (at < count && list[at].node < node)
            at++;
        if (at == count || list[at].node != node) {
            memmove(&list[at + 1], &list[at], (count - at) * sizeof(*list));
            count++;
            list[at] = (struct what_if_node){.node = node};
        }
        list[at].gpu_milli += milli[pod - workload->first_pod];
        list[at].pods++;
        outcome->node_pool = trial->snapshot->nodes[node].node_pool;
    }
    outcome->nodes = list;
    outcome->node_count = count;
}

static enum what_if_verdict judge(const struct what_if_trial *trial, const struct what_if_outcome *outcome)
{
    const struct snapshot_workload *workload = &trial->snapshot->workloads[trial->workload];
    for (uint32_t pod = workload->first_pod; pod < workload->first_pod + workload->pod_count; pod++) {
        if (has_new_place(trial, pod) && trial->plan->pods[pod].status == SNAPSHOT_POD_BINDING)
            return WHAT_IF_STARTS;
    }
    if (outcome->node_count == 0)
        return WHAT_IF_WAITS;
    return outcome->displaced_count > 0 ? WHAT_IF_STARTS_BY_EVICTION : WHAT_IF_STARTS_AFTER_RELEASE;
}

// "gpu-a01 with 2 GPUs", "gpu-a01 and gpu-a02 with 4 pods and 16 GPUs", "gpu-a01 and 3 other nodes with ..."
static const char *word_places(const struct what_if_trial *trial, const struct what_if_outcome *outcome,
                               struct arena *arena)
{
    const struct snapshot_node *nodes = trial->snapshot->nodes;
    const char *first = nodes[outcome->nodes[0].node].name;
    int64_t milli = 0;
    uint32_t pods = 0;
    for (size_t i = 0; i < outcome->node_count; i++) {
        milli += outcome->nodes[i].gpu_milli;
        pods += outcome->nodes[i].pods;
    }
    const char *where = first;
    if (outcome->node_count == 2)
        where = arena_printf(arena, "%s and %s", first, nodes[outcome->nodes[1].node].name);
    else if (outcome->node_count > 2)
        where = arena_printf(arena, "%s and %zu other nodes", first, outcome->node_count - 1);
    const char *what = milli > 0 ? wording_amount(arena, RESOURCE_GPU, milli) : NULL;
    if (pods == 1)
        return what ? arena_printf(arena, "%s with %s", where, what) : where;
    return arena_printf(arena, "%s with %u pods%s%s", where, pods, what ? " and " : "", what ? what : "");
}

const char *what_if_word_displaced(const struct what_if_trial *trial, const struct what_if_outcome *outcome,
                                   struct arena *arena)
{
    const struct snapshot *snapshot = trial->snapshot;
    const char *lost = NULL;
    size_t moved = 0, others = 0;
    int64_t milli = 0;
    uint32_t project = SNAPSHOT_NONE;
    for (size_t i = 0; i < outcome->displaced_count; i++) {
        const struct what_if_displaced *one = &outcome->displaced[i];
        uint32_t index = trial->is_new && one->workload >= trial->workload ? one->workload + 1 : one->workload;
        moved += one->moved;
        others += !one->moved;
        milli += one->moved ? 0 : one->gpu_milli;
        if (!one->moved)
            project = project == SNAPSHOT_NONE || project == snapshot->workloads[index].project
                          ? snapshot->workloads[index].project
                          : SNAPSHOT_NONE - 1;
    }
    if (others > 0) {
        const char *whose =
            project < snapshot->project_count
                ? arena_printf(arena, " of %s", told_name(arena, TOLD_PROJECT, snapshot->projects[project].name))
                : " of other projects";
        lost = arena_printf(arena, "%zu %s%s %s %s", others, others == 1 ? "workload" : "workloads", whose,
                            others == 1 ? "yields" : "yield", wording_amount(arena, RESOURCE_GPU, milli));
    }
    if (moved == 0)
        return lost ? lost : "nobody is displaced";
    return arena_printf(arena, "%s%s%zu %s to other nodes", lost ? lost : "", lost ? " and " : "", moved,
                        moved == 1 ? "workload moves" : "workloads move");
}

static const char *word(const struct what_if_trial *trial, const struct what_if_outcome *outcome, struct arena *arena)
{
    const struct plan_workload *planned = &trial->plan->workloads[trial->workload];
    switch (outcome->verdict) {
    case WHAT_IF_STARTS:
        if (outcome->displaced_count > 0)
            return arena_printf(arena, "Starts at once on %s, for more of it %s", word_places(trial, outcome, arena),
                                what_if_word_displaced(trial, outcome, arena));
        return arena_printf(arena, "Starts at once on %s", word_places(trial, outcome, arena));
    case WHAT_IF_STARTS_AFTER_RELEASE:
        return arena_printf(arena, "Starts on %s, once the workload there has stopped",
                            word_places(trial, outcome, arena));
    case WHAT_IF_STARTS_BY_EVICTION:
        return arena_printf(arena, "Starts on %s, once %s", word_places(trial, outcome, arena),
                            what_if_word_displaced(trial, outcome, arena));
    case WHAT_IF_WAITS:
        break;
    }
    if (planned->explanation_count > 0)
        return planned->explanations[0].message;
    return planned->node_pool != SNAPSHOT_NONE ? "Already has all its places" : "The next cycle does not consider it";
}

struct what_if_outcome what_if_read(const struct what_if_trial *trial, struct arena *arena)
{
    struct what_if_outcome outcome = {.node_pool = SNAPSHOT_NONE};
    find_displaced(trial, &outcome, arena);
    find_nodes(trial, &outcome, arena);
    outcome.verdict = judge(trial, &outcome);
    outcome.sentence = word(trial, &outcome, arena);
    return outcome;
}

static int64_t over_quota(const struct plan_queue *queue)
{
    int64_t deserved = queue->deserved.of[RESOURCE_GPU], held = queue->allocated.of[RESOURCE_GPU];
    return deserved == QUANTITY_UNLIMITED || held <= deserved ? 0 : held - deserved;
}

const char *what_if_could_lose_to(const struct what_if_trial *trial, uint32_t node_pool, struct arena *arena)
{
    const struct snapshot *snapshot = trial->snapshot;
    const struct snapshot_workload *workload = &snapshot->workloads[trial->workload];
    const struct snapshot_project *spec = &snapshot->projects[workload->project];
    size_t pools = snapshot->node_pool_count;
    const struct plan_queue *project = &trial->plan->projects[workload->project * pools + node_pool];
    const struct plan_queue *department = &trial->plan->departments[spec->department * pools + node_pool];
    int64_t borrowed = over_quota(project);
    const char *name = told_name(arena, TOLD_PROJECT, spec->name);
    if (!workload->preemptible)
        return "Nobody: it is non-preemptible";
    if (borrowed > 0)
        return arena_printf(
            arena, "Projects below their fair share: with it %s holds %s of its quota of %s, %s of them borrowed", name,
            wording_number(arena, RESOURCE_GPU, project->allocated.of[RESOURCE_GPU]),
            wording_amount(arena, RESOURCE_GPU, project->deserved.of[RESOURCE_GPU]),
            wording_number(arena, RESOURCE_GPU, borrowed));
    if (snapshot->settings.full_hierarchy_fairness && over_quota(department) > 0)
        return arena_printf(arena, "Projects of other departments: with it %s holds %s of its quota of %s",
                            told_name(arena, TOLD_DEPARTMENT, snapshot->departments[spec->department].name),
                            wording_number(arena, RESOURCE_GPU, department->allocated.of[RESOURCE_GPU]),
                            wording_amount(arena, RESOURCE_GPU, department->deserved.of[RESOURCE_GPU]));
    return arena_printf(
        arena, "Work of %s with a higher priority than %" PRId64 " alone: with it the project stays within its quota",
        name, workload->priority);
}
