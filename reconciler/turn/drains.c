#include "reconciler/turn/drains.h"

#include "db/events.h"
#include "model/event_reason.h"

static enum node_drain drain_of(const struct turn *turn, const struct cache_pod *pod)
{
    uint32_t node = pod_status_is_placed(pod->status) ? world_node(turn->cache->world, pod->node_id) : SNAPSHOT_NONE;
    return node == SNAPSHOT_NONE ? NODE_DRAIN_NONE : turn->cache->world->rows.nodes[node].drain;
}

static bool must_leave(enum node_drain drain, const struct cache_workload *workload)
{
    return drain == NODE_DRAIN_ALL || (drain != NODE_DRAIN_NONE && workload->preemptible);
}

static bool is_any(const struct turn *turn)
{
    const struct world_rows *rows = &turn->cache->world->rows;
    for (size_t i = 0; i < rows->node_count; i++)
        if (rows->nodes[i].drain != NODE_DRAIN_NONE)
            return true;
    return false;
}

static void send_away(struct turn *turn, struct cache_pod *pod, const char *node_name)
{
    const char *reason = event_reason_text(EVENT_REASON_DRAINED);
    struct cache_workload *workload = pod->workload;
    workload->phase_message = arena_printf(turn->arena, "%s: %s is emptied", reason, node_name);
    turn_add_pod_event(turn, pod, EVENT_WARNING, reason, "control-plane",
                       arena_printf(turn->arena, "%s: an administrator empties %s", pod->name, node_name));
    turn_release_pod(turn, pod, reason);
    pod->message = workload->phase_message;
}

static void attend(struct turn *turn, const struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        enum node_drain drain = drain_of(turn, pod);
        if (!must_leave(drain, workload))
            continue;
        const char *node_name = turn->cache->world->nodes[world_node(turn->cache->world, pod->node_id)].name;
        if (workload->min_pods < 2) {
            send_away(turn, pod, node_name);
            continue;
        }
        for (size_t mate = 0; mate < workload->pod_count; mate++)
            if (pod_status_is_placed(workload->pods[mate]->status))
                send_away(turn, workload->pods[mate], node_name);
    }
}

// Nodes that no pod which must leave holds a place on any more, each told once.
static void note_finished(struct turn *turn)
{
    const struct world *world = turn->cache->world;
    const struct node_row *rows = world->rows.nodes;
    bool *is_held = arena_array(turn->arena, world->rows.node_count, sizeof(*is_held));
    for (size_t i = 0; i < turn->cache->workload_count; i++)
        for (size_t k = 0; k < turn->cache->order[i]->pod_count; k++) {
            const struct cache_pod *pod = turn->cache->order[i]->pods[k];
            uint32_t node = pod_status_holds_place(pod->status) ? world_node(world, pod->node_id) : SNAPSHOT_NONE;
            if (node != SNAPSHOT_NONE && must_leave(rows[node].drain, pod->workload))
                is_held[node] = true;
        }
    for (size_t i = 0; i < world->rows.node_count; i++)
        if (rows[i].drain != NODE_DRAIN_NONE && !rows[i].is_drained && !is_held[i])
            turn_add_drained(turn, rows[i].name);
}

void drains_carry_out(struct turn *turn)
{
    if (!is_any(turn))
        return;
    for (size_t i = 0; i < turn->cache->workload_count; i++)
        attend(turn, turn->cache->order[i]);
    note_finished(turn);
}
