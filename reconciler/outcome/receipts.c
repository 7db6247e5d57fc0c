#include "base/buffer.h"
#include "base/json_writer.h"
#include "form/why_writer.h"
#include "reconciler/outcome/carry_out.h"

static const char *side_json(const struct snapshot *snapshot, const struct plan_receipt_side *side, struct arena *arena)
{
    if (side->project == SNAPSHOT_NONE)
        return NULL;
    struct buffer text;
    struct json_writer json;
    struct why_names names = {.snapshot = snapshot};
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    why_write_receipt_side(&json, &names, side);
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
        .rule = eviction_rule_name(decision->receipt->rule),
        .node_pool_name = live->snapshot.node_pools[decision->node_pool].name,
        .node_name = live->snapshot.nodes[decision->node].name,
        .gpu_milli = pod->gpu_allocated_milli,
        .gpu_indices_json = cache_indices_json(pod, turn->arena),
        .beneficiary_id = is_for_somebody ? live->workloads[decision->beneficiary]->id : 0,
        .is_moved = decision->moved,
        .lost_ms = decision->lost_ms,
        .sentence = decision->why,
        .victim_queue_json = side_json(&live->snapshot, &decision->receipt->victim, turn->arena),
        .beneficiary_queue_json = side_json(&live->snapshot, &decision->receipt->beneficiary, turn->arena),
    };
    turn_add_receipt(turn, &receipt);
}
