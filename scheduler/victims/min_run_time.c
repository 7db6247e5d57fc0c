#include "scheduler/victims/min_run_time.h"

static int64_t first_set(int64_t a, int64_t b)
{
    return a != SNAPSHOT_TIME_NONE ? a : b;
}

int64_t min_run_time_of(const struct cycle *cycle, const struct pool *pool, uint32_t index,
                        const struct workload *other)
{
    const struct snapshot *snapshot = cycle->snapshot;
    const struct snapshot_project *project = &snapshot->projects[index];
    const struct snapshot_department *department = &snapshot->departments[project->department];
    if (cycle->action == ACTION_PREEMPT)
        return first_set(first_set(project->preempt_min_run_time_ms, department->preempt_min_run_time_ms),
                         pool->spec->preempt_min_run_time_ms);
    bool same_tree = !snapshot->settings.full_hierarchy_fairness ||
                     snapshot->projects[other->spec->project].department == project->department;
    // Between departments only the victim's department counts, unless the method says otherwise.
    if (!same_tree && snapshot->settings.reclaim_min_run_time_method == RECLAIM_MIN_RUN_TIME_LCA)
        return first_set(department->reclaim_min_run_time_ms, pool->spec->reclaim_min_run_time_ms);
    return first_set(first_set(project->reclaim_min_run_time_ms, department->reclaim_min_run_time_ms),
                     pool->spec->reclaim_min_run_time_ms);
}

int64_t min_run_time_protects_until(struct cycle *cycle, const struct pool *pool, const struct workload *victim,
                                    const struct workload *other)
{
    if (victim->last_start_ms == SNAPSHOT_TIME_NONE)
        return SNAPSHOT_TIME_NONE;
    int64_t protected_ms = min_run_time_of(cycle, pool, victim->spec->project, other);
    int64_t until;
    if (protected_ms <= 0 || __builtin_add_overflow(victim->last_start_ms, protected_ms, &until))
        return SNAPSHOT_TIME_NONE;
    return cycle_is_before(cycle, until) ? until : SNAPSHOT_TIME_NONE;
}

bool min_run_time_can_shrink(const struct workload *victim)
{
    for (uint32_t i = 0; i < victim->group_count; i++) {
        const struct group *group = &victim->groups[i];
        if (!group->is_set && group->pod_count > group->minimum)
            return true;
    }
    return false;
}

bool min_run_time_allows(struct search *search, const struct scenario *scenario)
{
    struct cycle *cycle = search->cycle;
    for (size_t i = 0; i < scenario->count; i++) {
        const struct pod *pod = &cycle->pods[scenario->pods[i]];
        const struct workload *victim = &cycle->workloads[pod->workload];
        if (min_run_time_protects_until(cycle, search->pool, victim, search->workload) == SNAPSHOT_TIME_NONE)
            continue;
        // Pods that the scenario evicted don't count, even where they were placed again.
        const struct group *group = &victim->groups[pod->group];
        uint32_t taken = 0;
        for (size_t other = 0; other < scenario->count; other++) {
            const struct pod *taken_pod = &cycle->pods[scenario->pods[other]];
            taken += taken_pod->workload == pod->workload && taken_pod->group == pod->group;
        }
        if (group->counts.used < group->minimum + taken)
            return false;
    }
    return true;
}
