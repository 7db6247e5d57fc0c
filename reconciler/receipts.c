#include "base/buffer.h"
#include "reconciler/carry_out.h"

// What allows an action to stop a pod; docs/scheduler.md, 6 to 9.
static const char *const RULES[ACTION_COUNT] = {
    [ACTION_ALLOCATE] = "",
    [ACTION_CONSOLIDATION] = "pods that can be placed elsewhere make room for a workload that fits nowhere else",
    [ACTION_RECLAIM] = "a project within its fair share takes back what another holds above its own",
    [ACTION_PREEMPT] = "a workload of higher priority goes before others of its project",
    [ACTION_STALE_GANG_EVICTION] = "a gang below its minimum gives back what it holds",
};

static const char *indices_json(const struct cache_pod *pod, struct arena *arena)
{
    struct buffer text;
    buffer_init(&text, 0);
    buffer_char(&text, '[');
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        buffer_printf(&text, "%s%u", i ? "," : "", pod->gpu_indices[i]);
    buffer_char(&text, ']');
    const char *copy = arena_strdup(arena, text.data);
    buffer_done(&text);
    return copy;
}

void receipt_add(struct turn *turn, const struct live_snapshot *live, const struct plan_decision *decision)
{
    const struct cache_pod *pod = live->pods[decision->pod];
    bool is_for_somebody = decision->beneficiary != SNAPSHOT_NONE;
    struct receipt_row receipt = {
        .workload_id = pod->workload->id,
        .pod_name = arena_strdup(turn->arena, pod->name),
        .time_ms = turn->now_ms,
        .action = scheduler_action_name(decision->action),
        .rule = RULES[decision->action],
        .node_pool_name = live->snapshot.node_pools[decision->node_pool].name,
        .node_name = live->snapshot.nodes[decision->node].name,
        .gpu_milli = pod->gpu_allocated_milli,
        .gpu_indices_json = indices_json(pod, turn->arena),
        .beneficiary_id = is_for_somebody ? live->workloads[decision->beneficiary]->id : 0,
        .is_moved = decision->moved,
        .lost_ms = decision->lost_ms,
        .sentence = decision->why,
    };
    turn_add_receipt(turn, &receipt);
}
