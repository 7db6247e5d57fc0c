// Which pod a process belongs to. In this order: the pod's cgroup, which it cannot leave; its supervisor, below which
// it stays as long as that one lives, whatever becomes of its parents; the pod's group, which it cannot drop, and which
// is there in containers, too, and after the supervisor.
#include "backends/local/local_state.h"

static bool comes_from(const struct local_pod *pod, const struct origin *origin)
{
    if (pod->pidfd < 0) // its supervisor's number may be another's by now
        return false;
    bool is_below = origin->pid == pod->supervisor;
    for (size_t i = 0; i < origin->above_count; i++)
        is_below |= origin->above[i] == pod->supervisor;
    return is_below;
}

const struct local_pod *belonging_find(const struct local *local, const struct origin *origin)
{
    if (origin->cgroup_pod[0])
        return local_pods_find(&local->pods, origin->cgroup_pod);
    for (const struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));)
        if (comes_from(pod, origin))
            return pod;
    for (const struct local_pod *pod = NULL; origin->group && (pod = local_pods_next(&local->pods, pod));)
        if (pod->group == origin->group)
            return pod;
    return NULL;
}

static bool is_taken(const struct local *local, gid_t group)
{
    for (const struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));)
        if (pod->group == group)
            return true;
    return false;
}

gid_t belonging_take_group(struct local *local)
{
    const struct uid_range *range = &local->options.users.pod_groups;
    for (int64_t i = 0; i < range->count; i++) {
        gid_t group = (gid_t)(range->first + local->next_group++ % range->count);
        if (!is_taken(local, group))
            return group;
    }
    return 0;
}
