#include "base/arena.h"
#include "base/error.h"
#include "reconciler/check/plan_check.h"
#include "reconciler/check/plan_reading.h"
#include "scheduler/pod_status.h"

#include <inttypes.h>

// What the queue holds when the plan is carried out, and what of it is new.
struct sums {
    struct amounts held;
    struct amounts non_preemptible;
    struct amounts gets;
    struct amounts gets_non_preemptible;
};

static void add(struct amounts *sum, const struct amounts *amounts)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        sum->of[r] += amounts->of[r];
}

static void add_pod(struct sums *sums, const struct amounts *amounts, bool preemptible, bool is_new)
{
    add(&sums->held, amounts);
    if (is_new)
        add(&sums->gets, amounts);
    if (preemptible)
        return;
    add(&sums->non_preemptible, amounts);
    if (is_new)
        add(&sums->gets_non_preemptible, amounts);
}

static int check_queue(const struct sums *sums, const struct snapshot_queue *queue, const char *kind, const char *name,
                       struct error *err)
{
    static const char *const WORDS[RESOURCE_COUNT] = {"GPU thousandths", "CPU millicores", "bytes of memory"};
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        if (sums->gets.of[r] > 0 && sums->held.of[r] > queue->limit.of[r])
            return error_set(err, ERROR_INTERNAL, "%s %s would hold %" PRId64 " %s, and its limit is %" PRId64, kind,
                             name, sums->held.of[r], WORDS[r], queue->limit.of[r]);
        if (sums->gets_non_preemptible.of[r] > 0 && sums->non_preemptible.of[r] > queue->deserved.of[r])
            return error_set(err, ERROR_INTERNAL,
                             "%s %s would hold %" PRId64 " %s that are not preemptible, and its quota is %" PRId64,
                             kind, name, sums->non_preemptible.of[r], WORDS[r], queue->deserved.of[r]);
    }
    return 0;
}

int plan_check_queues(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err)
{
    size_t pools = snapshot->node_pool_count;
    struct sums *projects = arena_array(arena, snapshot->project_count * pools, sizeof(*projects));
    struct sums *departments = arena_array(arena, snapshot->department_count * pools, sizeof(*departments));
    for (size_t p = 0; p < snapshot->pod_count; p++) {
        const struct snapshot_pod *pod = &snapshot->pods[p];
        const struct plan_pod *after = &plan->pods[p];
        if (!pod_status_is_held(after->status) || after->node >= snapshot->node_count)
            continue;
        const struct snapshot_workload *workload = &snapshot->workloads[pod->workload];
        const struct snapshot_node *node = &snapshot->nodes[after->node];
        struct amounts amounts = plan_reading_charge(snapshot, pod, node);
        bool is_new = plan_reading_is_new(snapshot, plan, p);
        uint32_t department = snapshot->projects[workload->project].department;
        add_pod(&projects[workload->project * pools + node->node_pool], &amounts, workload->preemptible, is_new);
        add_pod(&departments[department * pools + node->node_pool], &amounts, workload->preemptible, is_new);
    }
    for (size_t i = 0; i < snapshot->project_count * pools; i++) {
        const struct snapshot_project *project = &snapshot->projects[i / pools];
        if (check_queue(&projects[i], &project->queues[i % pools], "project", project->name, err) < 0)
            return -1;
    }
    for (size_t i = 0; snapshot->settings.full_hierarchy_fairness && i < snapshot->department_count * pools; i++) {
        const struct snapshot_department *department = &snapshot->departments[i / pools];
        if (check_queue(&departments[i], &department->queues[i % pools], "department", department->name, err) < 0)
            return -1;
    }
    return 0;
}
