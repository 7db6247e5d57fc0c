#include "reconciler/outcome/carry_out.h"

#include "base/buffer.h"
#include "base/json_writer.h"
#include "db/events.h"
#include "reconciler/check/plan_reading.h"
#include "scheduler/aftermath.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRUITLESS_PLANS_MAXIMUM = 2,
    UNSETTLED_PLAN_MS = 1000
};

// What a whole or shared request takes of a node's devices.
static int64_t gpu_milli_on(const struct cache_pod *pod, const struct snapshot_node *node, const struct world *world)
{
    int64_t milli = pod->gpu_devices * GPU_MILLI_PER_DEVICE;
    if (pod->gpu_portion_milli > 0)
        milli = pod->gpu_devices * pod->gpu_portion_milli;
    else if (pod->gpu_memory_mib > 0 && node->gpu_memory_mib > 0)
        milli = pod->gpu_devices * ((pod->gpu_memory_mib * 100 + node->gpu_memory_mib - 1) / node->gpu_memory_mib) * 10;
    for (size_t i = 0; pod->placement && i < pod->placement->extended_count; i++)
        milli += world->extended[pod->placement->extended[i].resource].gpu_milli * pod->placement->extended[i].count;
    return milli;
}

static const char *groups_json(const struct plan_devices *devices, struct arena *arena)
{
    if (devices->gpu_group_count == 0)
        return "[]";
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    json_begin_array(&json);
    for (size_t i = 0; i < devices->gpu_group_count; i++)
        json_value_text(&json, devices->gpu_groups[i]);
    json_end_array(&json);
    const char *copy = arena_strdup(arena, text.data);
    buffer_done(&text);
    return copy;
}

static void bind_pod(struct turn *turn, struct cache_pod *pod, const struct snapshot *snapshot,
                     const struct plan_decision *decision)
{
    const struct world *world = turn->cache->world;
    const struct snapshot_node *node = &snapshot->nodes[decision->node];
    turn_touch_pod(turn, pod);
    pod->status = POD_STATUS_BINDING;
    pod->node_id = world->rows.nodes[decision->node].id;
    cache_set_devices(pod, decision->devices.gpu_indices, decision->devices.gpu_index_count,
                      groups_json(&decision->devices, turn->arena));
    cache_set_promise(pod, NULL, NULL);
    pod->gpu_allocated_milli = gpu_milli_on(pod, node, world);
    pod->scheduled_ms = turn->now_ms;
    pod->begins_allocation = true;
    turn_order(turn, pod, BACKEND_START);
    turn_add_pod_event(turn, pod, EVENT_NORMAL, "Scheduled", "scheduler",
                       arena_printf(turn->arena, "%s was given a place on node %s of node pool %s", pod->name,
                                    node->name, snapshot->node_pools[decision->node_pool].name));
}

struct eviction_words {
    const char *reason; // of the event and the pod
    const char *verb;
};

static const struct eviction_words EVICTION_WORDS[ACTION_COUNT] = {
    [ACTION_ALLOCATE] = {"Preempted", "yields to"},
    [ACTION_CONSOLIDATION] = {"Consolidated", "is moved to make room for"},
    [ACTION_RECLAIM] = {"Preempted", "yields to"},
    [ACTION_PREEMPT] = {"Preempted", "yields to"},
    [ACTION_STALE_GANG_EVICTION] = {"StaleJob", "is stopped"},
};

static void evict_pod(struct turn *turn, struct cache_pod *pod, const struct live_snapshot *live,
                      const struct plan_decision *decision)
{
    const struct eviction_words *words = &EVICTION_WORDS[decision->action];
    struct cache_workload *workload = pod->workload;
    const char *whom = "";
    if (decision->beneficiary != SNAPSHOT_NONE) {
        const struct cache_workload *winner = live->workloads[decision->beneficiary];
        // Lists show a phase to whoever may see the workload: the event, where names can be hidden, says who it is.
        whom = strcmp(winner->project_name, workload->project_name) == 0
                   ? arena_printf(turn->arena, " workload %s", winner->name)
                   : " a workload of another project";
    }
    const char *message = arena_printf(turn->arena, "%s: %s", pod->name, decision->why);
    workload->phase_message = arena_printf(turn->arena, "%s: %s%s", words->reason, words->verb, whom);
    turn_add_pod_event(turn, pod, EVENT_WARNING, words->reason, "scheduler", message);
    receipt_add(turn, live, decision);
    turn_release_pod(turn, pod, words->reason);
    pod->message = workload->phase_message;
    workload->last_eviction_ms = turn->now_ms;
}

// Pending and Pipelined as the cycle leaves them: a promise that was withdrawn within it was none.
static void keep_promises(struct turn *turn, const struct live_snapshot *live, const struct plan *plan)
{
    for (uint32_t i = 0; i < live->snapshot.pod_count; i++) {
        struct cache_pod *pod = live->pods[i];
        if (pod->status != POD_STATUS_PENDING && pod->status != POD_STATUS_PIPELINED)
            continue;
        struct snapshot_pod next = live->snapshot.pods[i];
        aftermath_as_told(&next, &plan->pods[i], false);
        bool is_promised = next.status == SNAPSHOT_POD_PIPELINED;
        enum pod_status status = is_promised ? POD_STATUS_PIPELINED : POD_STATUS_PENDING;
        const char *node = is_promised ? live->snapshot.nodes[next.node].name : NULL;
        bool is_same_node =
            (node == NULL) == (pod->promise_node == NULL) && (!node || strcmp(node, pod->promise_node) == 0);
        const struct plan_devices *devices = &plan->pods[i].devices;
        const char *groups = is_promised && devices->gpu_group_count > 0 ? groups_json(devices, turn->arena) : NULL;
        if (pod->status == status && is_same_node) {
            cache_set_promise(pod, node, groups);
            continue;
        }
        turn_touch_pod(turn, pod);
        pod->status = status;
        cache_set_promise(pod, node, groups);
        if (node)
            turn_add_pod_event(turn, pod, EVENT_NORMAL, "Pipelined", "scheduler",
                               arena_printf(turn->arena, "%s was promised a place on node %s that is still being freed",
                                            pod->name, node));
    }
}

// True where a promise has changed.
static bool keep_memory(struct turn *turn, const struct live_snapshot *live, const struct plan *plan)
{
    bool has_changed = false;
    for (size_t i = 0; i < live->snapshot.workload_count; i++) {
        struct cache_workload *workload = live->workloads[i];
        struct snapshot_workload next = live->snapshot.workloads[i];
        aftermath_of_workload(&next, &plan->workloads[i], turn->now_ms);
        if (plan->workloads[i].was_displaced) {
            workload->displaced_count = next.displaced_count;
            workload->displaced_ms = next.displaced_ms;
            turn_touch_workload(turn, workload);
        }
        int64_t promise = next.promise == SNAPSHOT_PROMISE_NONE ? -1 : (int64_t)next.promise;
        int64_t stale_since = next.stale_ms == SNAPSHOT_TIME_NONE ? 0
                              : workload->stale_since_ms          ? workload->stale_since_ms
                                                                  : turn->now_ms;
        if (stale_since && live->snapshot.settings.staleness_grace_ms >= 0)
            turn_note_plan_due(turn, stale_since + live->snapshot.settings.staleness_grace_ms);
        if (workload->promise == promise && workload->stale_since_ms == stale_since)
            continue;
        has_changed |= workload->promise != promise;
        workload->promise = promise;
        workload->stale_since_ms = stale_since;
        turn_touch_workload(turn, workload);
    }
    return has_changed;
}

// What follows from a cycle is for the next one. Cycles that change promises alone may go on like this for as long as
// something is being released: after two of them the next comes with the next change or tick.
static void plan_again(struct turn *turn, bool has_carried_out, bool is_unsettled)
{
    struct cache *cache = turn->cache;
    if (has_carried_out || !is_unsettled)
        cache->fruitless_plans = 0;
    else if (cache->fruitless_plans++ >= FRUITLESS_PLANS_MAXIMUM)
        turn_note_plan_due(turn, turn->now_ms + UNSETTLED_PLAN_MS);
    if (has_carried_out || (is_unsettled && cache->fruitless_plans <= FRUITLESS_PLANS_MAXIMUM))
        cache->needs_plan = true;
}

void carry_out(struct turn *turn, const struct live_snapshot *live, const struct plan *plan)
{
    const bool *is_undone = plan_undone(&live->snapshot, plan, turn->arena);
    bool has_carried_out = false, is_unsettled = false;
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        struct cache_pod *pod = live->pods[decision->pod];
        is_unsettled |= is_undone[i];
        if (is_undone[i])
            continue;
        switch (decision->verb) {
        case PLAN_BIND:
            bind_pod(turn, pod, &live->snapshot, decision);
            break;
        case PLAN_EVICT:
            evict_pod(turn, pod, live, decision);
            break;
        case PLAN_PIPELINE: // keep_promises looks at what has come of them
        case PLAN_WITHDRAW:
            continue;
        }
        has_carried_out = true;
    }
    keep_promises(turn, live, plan);
    is_unsettled |= keep_memory(turn, live, plan);
    plan_again(turn, has_carried_out, is_unsettled);
}
