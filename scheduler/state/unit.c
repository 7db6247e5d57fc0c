#include "scheduler/state/unit.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"

bool unit_is_below(const struct workload *workload, uint32_t group, uint32_t ancestor)
{
    while (group != ancestor && group != SNAPSHOT_NONE)
        group = workload->groups[group].parent;
    return group == ancestor;
}

static const struct group *child_of(const struct workload *workload, const struct group *group, uint32_t i)
{
    return &workload->groups[workload->children[group->first_child + i]];
}

// Placing looks at what a leaf holds; choosing victims at what is left of it.
enum view {
    VIEW_HELD,
    VIEW_LEFT
};

static uint32_t pods_of(const struct group *leaf, enum view view)
{
    return view == VIEW_HELD ? leaf->counts.held : leaf->counts.held - leaf->taken;
}

static bool is_satisfied(const struct workload *workload, const struct group *group, enum view view);

static uint32_t count_satisfied(const struct workload *workload, const struct group *set, enum view view)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->child_count; i++)
        count += is_satisfied(workload, child_of(workload, set, i), view);
    return count;
}

// Satisfied children of a set, pods of a leaf.
static uint32_t filled(const struct workload *workload, const struct group *group, enum view view)
{
    return group->is_set ? count_satisfied(workload, group, view) : pods_of(group, view);
}

static bool is_satisfied(const struct workload *workload, const struct group *group, enum view view)
{
    return filled(workload, group, view) >= group->minimum;
}

// What lost a pod gets nothing more in the cycle, but what the open statement evicted it may get back.
static uint32_t count_placeable(const struct workload *workload, const struct group *leaf)
{
    return leaf->counts.returnable + (workload->lost_pod ? 0 : leaf->counts.pending);
}

bool unit_group_is_ready(const struct workload *workload, const struct group *group)
{
    if (!group->is_set)
        return group->counts.held + count_placeable(workload, group) >= group->minimum;
    uint32_t ready = 0;
    for (uint32_t i = 0; i < group->child_count; i++)
        ready += unit_group_is_ready(workload, child_of(workload, group, i));
    return ready >= group->minimum;
}

bool unit_workload_is_ready(const struct workload *workload)
{
    return unit_group_is_ready(workload, &workload->groups[0]);
}

static bool is_filled(const struct workload *workload, uint32_t index, const uint32_t *left)
{
    const struct group *group = &workload->groups[index];
    uint32_t filled = group->is_set ? 0 : left[index];
    for (uint32_t i = 0; i < group->child_count; i++)
        filled += is_filled(workload, workload->children[group->first_child + i], left);
    return filled >= group->minimum;
}

static uint32_t count_left(const struct workload *workload, uint32_t index, const uint32_t *left)
{
    const struct group *group = &workload->groups[index];
    uint32_t pods = group->is_set ? 0 : left[index];
    for (uint32_t i = 0; i < group->child_count; i++)
        pods += count_left(workload, workload->children[group->first_child + i], left);
    return pods;
}

// Whether a member has pods, but not its minimum.
static bool stands_in_part(const struct workload *workload, uint32_t index, const uint32_t *left)
{
    return count_left(workload, index, left) > 0 && !is_filled(workload, index, left);
}

bool unit_is_whole(const struct workload *workload, const uint32_t *left)
{
    bool is_whole = true;
    for (uint32_t i = 0; i < workload->group_count && is_whole; i++)
        is_whole = !stands_in_part(workload, i, left);
    return is_whole;
}

bool unit_is_broken(const struct workload *workload, const uint32_t *before, const uint32_t *left)
{
    bool is_broken = false;
    for (uint32_t i = 0; i < workload->group_count && !is_broken; i++)
        is_broken = stands_in_part(workload, i, left) && !stands_in_part(workload, i, before);
    return is_broken;
}

// <0: a is served first. Equal ones go by index, which is by name.
static int compare_members(const struct workload *workload, const struct group *a, const struct group *b,
                           enum view view)
{
    uint32_t count_a = filled(workload, a, view), count_b = filled(workload, b, view);
    bool satisfied_a = count_a >= a->minimum, satisfied_b = count_b >= b->minimum;
    if (satisfied_a != satisfied_b)
        return satisfied_a - satisfied_b;
    if (!satisfied_a)
        return 0;
    if ((a->minimum > 0) != (b->minimum > 0))
        return a->minimum > 0 ? -1 : 1;
    uint64_t left = a->minimum > 0 ? (uint64_t)count_a * b->minimum : count_a;
    uint64_t right = b->minimum > 0 ? (uint64_t)count_b * a->minimum : count_b;
    return (left > right) - (left < right);
}

static void order_children(const struct workload *workload, const struct group *group, enum view view,
                           uint32_t *out_children)
{
    for (uint32_t i = 0; i < group->child_count; i++) {
        uint32_t child = workload->children[group->first_child + i];
        uint32_t at = i;
        while (at > 0 &&
               compare_members(workload, &workload->groups[child], &workload->groups[out_children[at - 1]], view) < 0) {
            out_children[at] = out_children[at - 1];
            at--;
        }
        out_children[at] = child;
    }
}

void unit_order_children(const struct workload *workload, const struct group *group, uint32_t *out_children)
{
    order_children(workload, group, VIEW_HELD, out_children);
}

static bool is_placeable(const struct workload *workload, const struct pod *pod)
{
    return (pod->state.status == SNAPSHOT_POD_PENDING && !workload->lost_pod) ||
           (pod->state.evicted && pod->state.status == SNAPSHOT_POD_RELEASING);
}

// Whether the open statement evicted pods of the group, which may go back.
static bool may_go_back(const struct workload *workload, const struct group *group)
{
    bool may = group->counts.returnable > 0;
    for (uint32_t i = 0; i < group->child_count && !may; i++)
        may = may_go_back(workload, child_of(workload, group, i));
    return may;
}

static void collect_pods(struct cycle *cycle, struct workload *workload, const struct group *leaf, bool only_back)
{
    uint32_t held = leaf->counts.held;
    uint32_t count = held >= leaf->minimum ? 1 : leaf->minimum - held;
    for (uint32_t i = 0; i < leaf->pod_count && count > 0; i++) {
        uint32_t pod = workload->order[leaf->first_pod + i];
        if (!is_placeable(workload, &cycle->pods[pod]) || (only_back && !cycle->pods[pod].state.evicted))
            continue;
        workload->unit[workload->unit_count++] = pod;
        count--;
    }
}

static bool has_unit(const struct workload *workload, const struct group *group, bool only_back)
{
    return only_back ? may_go_back(workload, group) : unit_group_is_ready(workload, group);
}

static void collect(struct cycle *cycle, struct workload *workload, const struct group *group, bool only_back);

// The gang: what the first members lack, all together. One with too few pods is no member yet. False where there are
// too few members.
static bool collect_gang(struct cycle *cycle, struct workload *workload, const struct group *group,
                         const uint32_t *order, bool only_back)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < group->child_count && members < group->minimum; i++) {
        const struct group *child = &workload->groups[order[i]];
        if (is_satisfied(workload, child, VIEW_HELD)) {
            members++;
        } else if (has_unit(workload, child, only_back)) {
            collect(cycle, workload, child, only_back);
            members++;
        }
    }
    return members >= group->minimum;
}

// only_back: of what stood in part before the open statement, nothing but what that evicted.
static void collect(struct cycle *cycle, struct workload *workload, const struct group *group, bool only_back)
{
    if (!group->is_set) {
        collect_pods(cycle, workload, group, only_back || !unit_group_is_ready(workload, group));
        return;
    }
    uint32_t only = group->child_count ? workload->children[group->first_child] : 0;
    uint32_t *order = &only;
    if (group->child_count > 1) {
        order = arena_array(cycle->scratch, group->child_count, sizeof(*order));
        unit_order_children(workload, group, order);
    }
    uint32_t before = workload->unit_count;
    if (count_satisfied(workload, group, VIEW_HELD) < group->minimum) {
        if (!only_back && collect_gang(cycle, workload, group, order, false))
            return;
        workload->unit_count = before;
        collect_gang(cycle, workload, group, order, true);
        return;
    }
    for (uint32_t i = 0; i < group->child_count && workload->unit_count == before; i++) {
        const struct group *child = &workload->groups[order[i]];
        if (has_unit(workload, child, only_back) || may_go_back(workload, child))
            collect(cycle, workload, child, only_back);
    }
}

void unit_find(struct cycle *cycle, struct workload *workload)
{
    if (workload->unit_is_known)
        return;
    if (!workload->unit)
        workload->unit = arena_array(cycle->scratch, workload->spec->pod_count, sizeof(*workload->unit));
    workload->unit_count = 0;
    collect(cycle, workload, &workload->groups[0], false);
    if (workload->unit_count > workload->unit_cap)
        workload->unit_count = workload->unit_cap;
    workload->unit_is_known = true;
}

struct amounts unit_amounts(struct cycle *cycle, struct workload *workload, int64_t gpu_memory_mib)
{
    unit_find(cycle, workload);
    struct amounts sum = {0};
    for (uint32_t i = 0; i < workload->unit_count; i++)
        sum = amounts_add_asked(sum, request_amounts(&cycle->pods[workload->unit[i]].request, gpu_memory_mib));
    return sum;
}

static uint32_t take(struct cycle *cycle, struct workload *workload, uint32_t index, uint32_t *out_pods)
{
    struct pod *pod = &cycle->pods[index];
    pod->taken = true;
    workload->groups[pod->group].taken++;
    *out_pods = index;
    return 1;
}

static bool is_left(const struct pod *pod)
{
    return pod_status_is_held(pod->state.status) && !pod->taken;
}

static uint32_t take_leaf(struct cycle *cycle, struct workload *workload, const struct group *leaf, uint32_t *out_pods)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < leaf->pod_count; i++) {
        uint32_t pod = workload->order[leaf->first_pod + i];
        if (is_left(&cycle->pods[pod]))
            count += take(cycle, workload, pod, out_pods + count);
    }
    return count;
}

static uint32_t take_whole(struct cycle *cycle, struct workload *workload, const struct group *group,
                           uint32_t *out_pods)
{
    if (!group->is_set)
        return take_leaf(cycle, workload, group, out_pods);
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->child_count; i++)
        count += take_whole(cycle, workload, child_of(workload, group, i), out_pods + count);
    return count;
}

static uint32_t take_last(struct cycle *cycle, struct workload *workload, const struct group *leaf, uint32_t *out_pods)
{
    for (uint32_t i = leaf->pod_count; i-- > 0;) {
        uint32_t pod = workload->order[leaf->first_pod + i];
        if (is_left(&cycle->pods[pod]))
            return take(cycle, workload, pod, out_pods);
    }
    return 0;
}

// A surplus pod or sub-group of the member; 0 where it has none.
static uint32_t take_surplus(struct cycle *cycle, struct workload *workload, const struct group *group,
                             uint32_t *out_pods)
{
    if (!group->is_set)
        return pods_of(group, VIEW_LEFT) > group->minimum ? take_last(cycle, workload, group, out_pods) : 0;
    uint32_t only = group->child_count ? workload->children[group->first_child] : 0;
    uint32_t *order = &only;
    if (group->child_count > 1) {
        order = arena_array(cycle->scratch, group->child_count, sizeof(*order));
        order_children(workload, group, VIEW_LEFT, order);
    }
    uint32_t count = 0;
    for (uint32_t i = group->child_count; i-- > 0 && count == 0;)
        count = take_surplus(cycle, workload, &workload->groups[order[i]], out_pods);
    if (count > 0 || count_satisfied(workload, group, VIEW_LEFT) <= group->minimum)
        return count;
    for (uint32_t i = group->child_count; i-- > 0 && count == 0;)
        count = take_whole(cycle, workload, &workload->groups[order[i]], out_pods);
    return count;
}

uint32_t unit_take_victims(struct cycle *cycle, struct workload *workload, uint32_t *out_pods)
{
    const struct group *root = &workload->groups[0];
    uint32_t count = 0;
    if (count_satisfied(workload, root, VIEW_LEFT) > 0)
        count = take_surplus(cycle, workload, root, out_pods);
    return count > 0 ? count : take_whole(cycle, workload, root, out_pods);
}

void unit_give_back(struct cycle *cycle, struct workload *workload)
{
    for (uint32_t i = 0; i < workload->group_count; i++)
        workload->groups[i].taken = 0;
    for (uint32_t i = 0; i < workload->spec->pod_count; i++)
        cycle->pods[workload->spec->first_pod + i].taken = false;
}

bool unit_is_candidate(const struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    if (workload->counts.pending == 0 || spec->deleting || workload->lost_pod)
        return false;
    return unit_workload_is_ready(workload);
}

size_t unit_list_candidates(const struct pool *pool, struct workload **out_workloads)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->waiting_count; i++) {
        if (unit_is_candidate(pool->waiting[i]))
            out_workloads[count++] = pool->waiting[i];
    }
    return count;
}

static int compare_role(const struct snapshot_pod *a, const struct snapshot_pod *b)
{
    bool leads_a = a->role == POD_ROLE_MASTER || a->role == POD_ROLE_LAUNCHER;
    bool leads_b = b->role == POD_ROLE_MASTER || b->role == POD_ROLE_LAUNCHER;
    return leads_b - leads_a;
}

static int compare_head(const struct snapshot_pod *a, const struct snapshot_pod *b)
{
    return (b->role == POD_ROLE_HEAD) - (a->role == POD_ROLE_HEAD);
}

int unit_compare_pods(const struct snapshot_pod *a, const struct snapshot_pod *b)
{
    int order = compare_role(a, b);
    if (order == 0)
        order = compare_head(a, b);
    if (order == 0)
        order = (b->priority > a->priority) - (b->priority < a->priority);
    return order ? order : (a > b) - (a < b); // pods stand in the order of their names
}
