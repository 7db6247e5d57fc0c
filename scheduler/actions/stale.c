// Stale gang eviction: a gang that lost pods below its minimum, and did not get them back within its grace, stops as a
// whole. A sub-group that its workload does not need stops alone; only one a cycle, for what it frees may make another
// whole. docs/scheduler.md, 9.1.
#include "scheduler/actions/evictions.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"

static bool is_held(const struct workload *workload, const struct group *group)
{
    if (!group->is_set)
        return group->counts.used >= group->minimum;
    uint32_t held = 0;
    for (uint32_t i = 0; i < group->child_count; i++)
        held += is_held(workload, &workload->groups[workload->children[group->first_child + i]]);
    return held >= group->minimum;
}

// Pods of a group and all below it.
struct standing_pods {
    uint32_t used;
    uint32_t succeeded;
    uint32_t needed;
};

static struct standing_pods count_pods(const struct workload *workload, const struct group *group)
{
    if (!group->is_set)
        return (struct standing_pods){group->counts.used, group->counts.succeeded, group->minimum};
    struct standing_pods sum = {0};
    for (uint32_t i = 0; i < group->child_count; i++) {
        struct standing_pods child =
            count_pods(workload, &workload->groups[workload->children[group->first_child + i]]);
        sum = (struct standing_pods){sum.used + child.used, sum.succeeded + child.succeeded, sum.needed + child.needed};
    }
    return sum;
}

// The first group in the tree's order that stands in part: the root, or below a set that has its minimum one that it
// does not need. NULL: none.
static const struct group *find_stale(const struct workload *workload, const struct group *group)
{
    if (!is_held(workload, group)) {
        struct standing_pods pods = count_pods(workload, group);
        return pods.used > 0 && pods.succeeded == 0 ? group : NULL;
    }
    for (uint32_t i = 0; group->is_set && i < group->child_count; i++) {
        const struct group *found = find_stale(workload, &workload->groups[workload->children[group->first_child + i]]);
        if (found)
            return found;
    }
    return NULL;
}

bool stale_is(const struct workload *workload)
{
    return find_stale(workload, &workload->groups[0]);
}

struct stale_gang {
    const struct workload *workload;
    const struct group *group;
};

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct stale_gang *gang = context;
    struct standing_pods pods = count_pods(gang->workload, gang->group);
    const char *whose = "its gang";
    (void)pod;
    if (gang->group->parent != SNAPSHOT_NONE)
        whose = arena_printf(cycle->arena, "its sub-group %s",
                             gang->workload->spec->sub_groups[gang->group->sub_group].name);
    return arena_printf(cycle->arena, "Stops with %s: %u of %u pods %s left", whose, pods.used, pods.needed,
                        pods.used == 1 ? "is" : "are");
}

static enum eviction_rule rule(const struct pod *victim)
{
    (void)victim;
    return EVICTION_STALE_GANG;
}

static bool is_over_grace(struct cycle *cycle, const struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    int64_t grace = spec->staleness_grace_ms != SNAPSHOT_TIME_NONE ? spec->staleness_grace_ms
                                                                   : cycle->snapshot->settings.staleness_grace_ms;
    int64_t stale = spec->stale_ms != SNAPSHOT_TIME_NONE ? spec->stale_ms : 0;
    int64_t left, until;
    if (grace < 0 || __builtin_sub_overflow(grace, stale, &left) ||
        __builtin_add_overflow(cycle->snapshot->now_ms, left, &until))
        return false;
    return !cycle_is_before(cycle, until);
}

// Whether the group is the other or lies below it.
static bool is_below(const struct workload *workload, const struct group *group, const struct group *other)
{
    while (group != other && group->parent != SNAPSHOT_NONE)
        group = &workload->groups[group->parent];
    return group == other;
}

void stale_run(struct cycle *cycle, struct pool *pool)
{
    bool freed_surplus = false;
    for (size_t i = 0; i < pool->holder_count; i++) {
        struct workload *workload = pool->holders[i];
        struct stale_gang gang = {workload, find_stale(workload, &workload->groups[0])};
        if (!gang.group || !is_over_grace(cycle, workload))
            continue;
        bool is_surplus = gang.group != &workload->groups[0];
        if (is_surplus && freed_surplus)
            continue;
        freed_surplus = freed_surplus || is_surplus;
        for (uint32_t p = 0; p < workload->spec->pod_count; p++) {
            const struct pod *pod = &cycle->pods[workload->spec->first_pod + p];
            if (pod_status_is_held(pod->state.status) && is_below(workload, &workload->groups[pod->group], gang.group))
                statement_evict(cycle, pod->index);
        }
        struct statement_reasons reasons = {.beneficiary = SNAPSHOT_NONE, .evict = why, .rule = rule, .context = &gang};
        statement_commit(cycle, pool->index, reasons);
    }
}
