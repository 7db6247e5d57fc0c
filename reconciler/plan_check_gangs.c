#include "base/arena.h"
#include "base/error.h"
#include "reconciler/plan_check.h"
#include "scheduler/pod_status.h"

// The members of one workload: its sub-groups, and behind them the root, which is a leaf where there are none.
struct gang {
    const struct snapshot_workload *workload;
    uint32_t *held;      // pods, of a leaf
    uint32_t *waiting;   // those of them that are only promised
    uint32_t *children;  // of a set
    uint32_t *satisfied; // of them
    bool *gets;          // something new is in it or below
};

static uint32_t root_of(const struct gang *gang)
{
    return (uint32_t)gang->workload->sub_group_count;
}

static uint32_t parent_of(const struct gang *gang, uint32_t member)
{
    const uint32_t parent = gang->workload->sub_groups[member].parent;
    return parent == SNAPSHOT_NONE ? root_of(gang) : parent;
}

static uint32_t minimum_of(const struct gang *gang, uint32_t member)
{
    const bool is_root = member == root_of(gang);
    if (gang->children[member] == 0)
        return is_root ? gang->workload->min_pods : gang->workload->sub_groups[member].min_pods;
    const uint32_t minimum =
        is_root ? gang->workload->min_sub_groups : gang->workload->sub_groups[member].min_sub_groups;
    return minimum < gang->children[member] ? minimum : gang->children[member];
}

static uint32_t filled(const struct gang *gang, uint32_t member, bool with_promises)
{
    if (gang->children[member] > 0)
        return gang->satisfied[member];
    return gang->held[member] - (with_promises ? 0 : gang->waiting[member]);
}

// Counts satisfied children from the leaves up: as many rounds as the tree is deep, which a snapshot bounds.
static void count_satisfied(struct gang *gang, bool with_promises)
{
    const uint32_t root = root_of(gang);
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
            const uint32_t count = gang->children[g] > 0 ? before[g] : filled(gang, g, with_promises);
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
    const enum snapshot_pod_status after = plan->pods[index].status;
    const uint32_t leaf = pod->sub_group == SNAPSHOT_NONE ? root_of(gang) : pod->sub_group;
    gang->held[leaf] += pod_status_is_held(after);
    gang->waiting[leaf] += after == SNAPSHOT_POD_PIPELINED;
    if (!plan_check_is_new(snapshot, plan, index))
        return;
    *starts = *starts || after == SNAPSHOT_POD_BINDING;
    gang->gets[leaf] = true;
    for (uint32_t member = leaf; member != root_of(gang);) {
        member = parent_of(gang, member);
        gang->gets[member] = true;
    }
}

static int check_gang(const struct snapshot *snapshot, const struct plan *plan, uint32_t index, bool loses,
                      struct arena *arena, struct error *err)
{
    const struct snapshot_workload *workload = &snapshot->workloads[index];
    const size_t count = workload->sub_group_count + 1;
    struct gang gang = {.workload = workload,
                        .held = arena_array(arena, count, sizeof(uint32_t)),
                        .waiting = arena_array(arena, count, sizeof(uint32_t)),
                        .children = arena_array(arena, count, sizeof(uint32_t)),
                        .satisfied = arena_array(arena, 2 * count, sizeof(uint32_t)),
                        .gets = arena_array(arena, count, sizeof(bool))};
    bool starts = false;
    for (uint32_t g = 0; g + 1 < count; g++)
        gang.children[parent_of(&gang, g)]++;
    for (uint32_t p = workload->first_pod; p < workload->first_pod + workload->pod_count; p++)
        count_pod(&gang, snapshot, plan, p, &starts);
    count_satisfied(&gang, true);
    for (uint32_t g = 0; g < count; g++) {
        if (gang.gets[g] && filled(&gang, g, true) < minimum_of(&gang, g))
            return error_set(err, ERROR_INTERNAL, "workload %s%s%s: %u would be placed of a gang of %u", workload->name,
                             g + 1 < count ? ", sub-group " : "", g + 1 < count ? workload->sub_groups[g].name : "",
                             filled(&gang, g, true), minimum_of(&gang, g));
    }
    count_satisfied(&gang, false);
    // What gives something up in the same cycle may leave the rest of its gang waiting for a new place.
    if (starts && !loses && filled(&gang, root_of(&gang), false) < minimum_of(&gang, root_of(&gang)))
        return error_set(err, ERROR_INTERNAL, "workload %s: a part of its gang would start while the rest waits",
                         workload->name);
    return 0;
}

int plan_check_gangs(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err)
{
    bool *gets = arena_array(arena, snapshot->workload_count, sizeof *gets);
    bool *loses = arena_array(arena, snapshot->workload_count, sizeof *loses);
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        const bool places = decision->verb == PLAN_BIND || decision->verb == PLAN_PIPELINE;
        (places ? gets : loses)[decision->workload] = true;
    }
    for (uint32_t w = 0; w < snapshot->workload_count; w++) {
        if (gets[w] && check_gang(snapshot, plan, w, loses[w], arena, err) < 0)
            return -1;
    }
    return 0;
}
