#include "base/arena.h"
#include "base/error.h"
#include "reconciler/check/plan_check.h"
#include "reconciler/check/plan_reading.h"
#include "scheduler/pod_status.h"

// The members of one workload: its sub-groups, and behind them the root, which is a leaf where there are none.
struct gang {
    const struct snapshot_workload *workload;
    uint32_t *before;    // pods that a leaf held
    uint32_t *held;      // and holds now
    uint32_t *bound;     // those of them that are more than promised
    uint32_t *children;  // of a set
    uint32_t *satisfied; // of them
    bool *gets;          // a pod in it or below has a place that had none
    bool *moves;         // a pod in it or below has another place
};

static uint32_t root_of(const struct gang *gang)
{
    return (uint32_t)gang->workload->sub_group_count;
}

static uint32_t parent_of(const struct gang *gang, uint32_t member)
{
    uint32_t parent = gang->workload->sub_groups[member].parent;
    return parent == SNAPSHOT_NONE ? root_of(gang) : parent;
}

static uint32_t minimum_of(const struct gang *gang, uint32_t member)
{
    bool is_root = member == root_of(gang);
    if (gang->children[member] == 0)
        return is_root ? gang->workload->min_pods : gang->workload->sub_groups[member].min_pods;
    uint32_t minimum = is_root ? gang->workload->min_sub_groups : gang->workload->sub_groups[member].min_sub_groups;
    return minimum < gang->children[member] ? minimum : gang->children[member];
}

static uint32_t filled(const struct gang *gang, uint32_t member, const uint32_t *pods)
{
    return gang->children[member] > 0 ? gang->satisfied[member] : pods[member];
}

// Counts satisfied children from the leaves up: as many rounds as the tree is deep, which a snapshot bounds.
static void count_satisfied(struct gang *gang, const uint32_t *pods)
{
    uint32_t root = root_of(gang);
    bool changes = true;
    for (uint32_t g = 0; g <= root; g++)
        gang->satisfied[g] = 0;
    while (changes) {
        changes = false;
        uint32_t *before = gang->satisfied + root + 1;
        for (uint32_t g = 0; g <= root; g++) {
            before[g] = gang->satisfied[g];
            gang->satisfied[g] = 0;
        }
        for (uint32_t g = 0; g < root; g++) {
            uint32_t count = gang->children[g] > 0 ? before[g] : filled(gang, g, pods);
            gang->satisfied[parent_of(gang, g)] += count >= minimum_of(gang, g);
        }
        for (uint32_t g = 0; g <= root; g++)
            changes = changes || gang->satisfied[g] != before[g];
    }
}

static void count_pod(struct gang *gang, const struct snapshot *snapshot, const struct plan *plan, uint32_t index,
                      bool *starts)
{
    const struct snapshot_pod *pod = &snapshot->pods[index];
    enum snapshot_pod_status after = plan->pods[index].status;
    uint32_t leaf = pod->sub_group == SNAPSHOT_NONE ? root_of(gang) : pod->sub_group;
    bool had_place = pod_status_is_held(pod->status);
    gang->before[leaf] += had_place;
    gang->held[leaf] += pod_status_is_held(after);
    gang->bound[leaf] += pod_status_is_held(after) && after != SNAPSHOT_POD_PIPELINED;
    if (!plan_reading_is_new(snapshot, plan, index))
        return;
    *starts = *starts || after == SNAPSHOT_POD_BINDING;
    bool *touched = had_place ? gang->moves : gang->gets;
    touched[leaf] = true;
    for (uint32_t member = leaf; member != root_of(gang);) {
        member = parent_of(gang, member);
        touched[member] = true;
    }
}

// Whether a member that got something is not whole. One that stood in part before may move as it stands.
static int check_members(struct gang *gang, size_t count, struct arena *arena, struct error *err)
{
    const struct snapshot_workload *workload = gang->workload;
    bool *stood = arena_array(arena, count, sizeof(*stood));
    count_satisfied(gang, gang->before);
    for (uint32_t g = 0; g < count; g++)
        stood[g] = filled(gang, g, gang->before) >= minimum_of(gang, g);
    count_satisfied(gang, gang->held);
    for (uint32_t g = 0; g < count; g++) {
        if ((gang->gets[g] || (gang->moves[g] && stood[g])) && filled(gang, g, gang->held) < minimum_of(gang, g))
            return error_set(err, ERROR_INTERNAL, "workload %s%s%s: %u would be placed of a gang of %u", workload->name,
                             g + 1 < count ? ", sub-group " : "", g + 1 < count ? workload->sub_groups[g].name : "",
                             filled(gang, g, gang->held), minimum_of(gang, g));
    }
    return 0;
}

static int check_gang(const struct snapshot *snapshot, const struct plan *plan, uint32_t index, bool loses,
                      struct arena *arena, struct error *err)
{
    const struct snapshot_workload *workload = &snapshot->workloads[index];
    size_t count = workload->sub_group_count + 1;
    struct gang gang = {.workload = workload,
                        .held = arena_array(arena, count, sizeof(uint32_t)),
                        .bound = arena_array(arena, count, sizeof(uint32_t)),
                        .before = arena_array(arena, count, sizeof(uint32_t)),
                        .children = arena_array(arena, count, sizeof(uint32_t)),
                        .satisfied = arena_array(arena, 2 * count, sizeof(uint32_t)),
                        .gets = arena_array(arena, count, sizeof(bool)),
                        .moves = arena_array(arena, count, sizeof(bool))};
    bool starts = false;
    for (uint32_t g = 0; g + 1 < count; g++)
        gang.children[parent_of(&gang, g)]++;
    for (uint32_t p = workload->first_pod; p < workload->first_pod + workload->pod_count; p++)
        count_pod(&gang, snapshot, plan, p, &starts);
    if (check_members(&gang, count, arena, err) < 0)
        return -1;
    count_satisfied(&gang, gang.bound);
    // What gives something up in the same cycle may leave the rest of its gang waiting for a new place.
    if (starts && !loses && filled(&gang, root_of(&gang), gang.bound) < minimum_of(&gang, root_of(&gang)))
        return error_set(err, ERROR_INTERNAL, "workload %s: a part of its gang would start while the rest waits",
                         workload->name);
    return 0;
}

int plan_check_gangs(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err)
{
    bool *gets = arena_array(arena, snapshot->workload_count, sizeof(*gets));
    bool *loses = arena_array(arena, snapshot->workload_count, sizeof(*loses));
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        bool places = decision->verb == PLAN_BIND || decision->verb == PLAN_PIPELINE;
        (places ? gets : loses)[decision->workload] = true;
    }
    for (uint32_t w = 0; w < snapshot->workload_count; w++) {
        if (gets[w] && check_gang(snapshot, plan, w, loses[w], arena, err) < 0)
            return -1;
    }
    return 0;
}
