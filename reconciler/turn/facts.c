#include "reconciler/turn/facts.h"

#include "db/events.h"
#include "model/event_reason.h"
#include "reconciler/turn/limits.h"
#include "reconciler/world/volume_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    VOLUME_TERMS_MS = 10 * 60 * 1000 // after them what a volume reaches is asked for again
};

static const char *node_name_of(const struct turn *turn, const struct cache_pod *pod)
{
    uint32_t node = world_node(turn->cache->world, pod->node_id);
    return node == SNAPSHOT_NONE ? "a node that is gone" : turn->cache->world->nodes[node].name;
}

static void end_place(struct turn *turn, struct cache_pod *pod)
{
    turn_touch_pod(turn, pod);
    pod->ends_allocation = true;
    pod->gpu_utilization = -1;
    pod->load = (struct load){-1, -1};
    cache_set_gpu_memory(pod, NULL, 0, 0);
    pod->idle_since_ms = pod->unused_since_ms = 0;
    turn->cache->needs_plan = true;
}

static void fail_preempted(struct turn *turn, struct cache_workload *workload)
{
    static const char MESSAGE[] = "Preempted, and terminateAfterPreemption is set";
    turn_set_phase(turn, workload, PHASE_FAILED, MESSAGE);
    workload->completed_ms = turn->now_ms;
    turn_add_workload_event(turn, workload, EVENT_WARNING, event_reason_text(EVENT_REASON_FAILED), "control-plane",
                            arena_printf(turn->arena, "%s: %s", workload->name, MESSAGE));
}

// Stopped by us, and gone. What is to be in its place is for lifecycle.c to say; only the loss by an eviction is made
// good here, because nothing but this moment tells.
static void take_gone(struct turn *turn, struct cache_pod *pod, int64_t time_ms)
{
    struct cache_workload *workload = pod->workload;
    end_place(turn, pod);
    pod->status = POD_STATUS_DELETED;
    pod->completed_ms = pod->deleted_ms = time_ms;
    turn_order(turn, pod, BACKEND_FORGET);
    bool is_wanted = workload->desired == DESIRED_RUNNING && !phase_is_final(workload->phase) &&
                     workload->phase != PHASE_STOPPING && workload->phase != PHASE_STOPPED &&
                     workload->phase != PHASE_RESUMING;
    if (!is_wanted)
        return;
    bool gave_way = strcmp(pod->reason, event_reason_text(EVENT_REASON_PREEMPTED)) == 0 ||
                    strcmp(pod->reason, event_reason_text(EVENT_REASON_CONSOLIDATED)) == 0;
    if (workload->terminate_after_preemption && gave_way) {
        fail_preempted(turn, workload);
        return;
    }
    if (!workload->serving_json) // replicas.c counts those of an inference
        turn_create_pod(turn, workload, pod->is_master, pod->pod_index, pod->attempt + 1);
}

// fact: NULL where only its end was heard of.
static void take_running(struct turn *turn, struct cache_pod *pod, int64_t time_ms, const struct backend_fact *fact)
{
    if (pod->status != POD_STATUS_BINDING && pod->status != POD_STATUS_BOUND)
        return;
    turn_touch_pod(turn, pod);
    pod->status = POD_STATUS_RUNNING;
    pod->started_ms = time_ms;
    if (fact && fact->message[0]) {
        pod->message = arena_strdup(turn->arena, fact->message);
        turn_add_pod_event(turn, pod, EVENT_NORMAL, "Started", "backend",
                           arena_printf(turn->arena, "%s %s", pod->name, fact->message));
        return;
    }
    turn_add_pod_event(
        turn, pod, EVENT_NORMAL, "Pulled", "backend",
        arena_printf(turn->arena, "The image of %s is present on %s", pod->name, node_name_of(turn, pod)));
    turn_add_pod_event(turn, pod, EVENT_NORMAL, "Created", "backend",
                       arena_printf(turn->arena, "Created the container of %s", pod->name));
    turn_add_pod_event(turn, pod, EVENT_NORMAL, "Started", "backend",
                       arena_printf(turn->arena, "Started %s on %s", pod->name, node_name_of(turn, pod)));
}

static void take_ended(struct turn *turn, struct cache_pod *pod, const struct backend_fact *fact)
{
    if (!pod_status_holds_place(pod->status))
        return;
    if (pod->status == POD_STATUS_RELEASING) {
        take_gone(turn, pod, fact->time_ms);
        return;
    }
    if (!pod->started_ms)
        take_running(turn, pod, fact->time_ms, NULL);
    end_place(turn, pod);
    bool is_good = fact->exit_code == 0;
    pod->status = is_good ? POD_STATUS_SUCCEEDED : POD_STATUS_FAILED;
    snprintf(pod->reason, sizeof(pod->reason), "%s", fact->reason);
    pod->message = arena_strdup(turn->arena, fact->message);
    pod->has_exit_code = true;
    pod->exit_code = fact->exit_code;
    pod->completed_ms = fact->time_ms;
    if (is_good)
        pod->workload->succeeded_count++;
    else
        pod->workload->failed_count++;
    turn_order(turn, pod, BACKEND_FORGET);
    const char *message =
        is_good ? arena_printf(turn->arena, "%s ended well", pod->name) : turn_describe_failure(turn, pod);
    turn_add_pod_event(turn, pod, is_good ? EVENT_NORMAL : EVENT_WARNING, is_good ? "Completed" : "Failed", "backend",
                       message);
    if (fact->is_final && pod->workload->desired == DESIRED_RUNNING && !phase_is_final(pod->workload->phase)) {
        turn_set_phase(turn, pod->workload, PHASE_FAILED, message);
        pod->workload->completed_ms = turn->now_ms;
    }
}

static void take_lost(struct turn *turn, struct cache_pod *pod, const char *reason, const char *message)
{
    if (!pod_status_holds_place(pod->status))
        return;
    if (pod->status == POD_STATUS_RELEASING) {
        take_gone(turn, pod, turn->now_ms);
        return;
    }
    end_place(turn, pod);
    pod->status = POD_STATUS_FAILED;
    snprintf(pod->reason, sizeof(pod->reason), "%s", reason);
    pod->message = message;
    pod->completed_ms = turn->now_ms;
    turn_add_pod_event(turn, pod, EVENT_WARNING, reason, "backend", message);
}

static void take_refused(struct turn *turn, struct cache_pod *pod, const struct backend_fact *fact)
{
    if (!pod_status_is_placed(pod->status) || pod->started_ms)
        return;
    turn_add_pod_event(turn, pod, EVENT_WARNING, "FailedBinding", "backend",
                       arena_printf(turn->arena, "%s was refused by %s: %s", pod->name, node_name_of(turn, pod),
                                    fact->message[0] ? fact->message : fact->reason));
    end_place(turn, pod);
    if (fact->is_final && pod->workload->desired == DESIRED_RUNNING && !phase_is_final(pod->workload->phase)) {
        pod->status = POD_STATUS_FAILED;
        pod->completed_ms = turn->now_ms;
        snprintf(pod->reason, sizeof(pod->reason), "%s", fact->reason);
        turn_set_phase(turn, pod->workload, PHASE_FAILED, arena_strdup(turn->arena, fact->message));
        pod->workload->completed_ms = turn->now_ms;
        turn_order(turn, pod, BACKEND_FORGET);
        return;
    }
    if (fact->avoid_ms)
        cache_avoid_node(pod->workload, pod->node_id, turn->now_ms + fact->avoid_ms);
    if (fact->node_terms[0])
        volume_rules_set(pod->workload, fact->node_terms, turn->now_ms + VOLUME_TERMS_MS);
    pod->status = POD_STATUS_PENDING;
    pod->node_id = 0;
    pod->gpu_allocated_milli = 0;
    pod->scheduled_ms = 0;
    cache_set_devices(pod, NULL, 0, "[]");
}

// Rows say that it should be there, and it is not.
static void take_unknown(struct turn *turn, struct cache_pod *pod)
{
    if (pod->status == POD_STATUS_RELEASING)
        take_gone(turn, pod, turn->now_ms);
    else if (pod->status == POD_STATUS_RUNNING)
        take_lost(turn, pod, "Lost", arena_printf(turn->arena, "%s is gone; how it ended is unknown", pod->name));
    else if (pod_status_is_placed(pod->status))
        turn_order(turn, pod, BACKEND_START);
}

static void take_usage(struct turn *turn, struct cache_pod *pod, const struct backend_fact *fact)
{
    const struct world *world = turn->cache->world;
    uint32_t node = world_node(world, pod->node_id);
    pod->gpu_utilization = fact->gpu_utilization;
    cache_set_gpu_memory(pod, fact->gpu_memory_mib, fact->has_gpu_memory ? BACKEND_DEVICES_MAX : 0,
                         node == SNAPSHOT_NONE ? 0 : world->nodes[node].gpu_memory_mib);
    if (fact->gpu_utilization >= 0) // what nobody measures is neither idle nor busy
        limits_note_use(turn, pod, fact->gpu_utilization == 0 && pod->gpu_allocated_milli > 0, fact->time_ms);
}

// What was read before it ended is not its any more.
static void take_load(struct cache_pod *pod, const struct backend_fact *fact)
{
    if (pod->status == POD_STATUS_RUNNING)
        pod->load = (struct load){fact->cpu_milli, fact->memory_bytes};
}

static void take_node_load(struct turn *turn, const struct backend_fact *fact)
{
    const struct world *world = turn->cache->world;
    uint32_t node = world_node_by_name(world, fact->node_name);
    if (node != SNAPSHOT_NONE)
        cache_set_node_load(turn->cache, world->rows.nodes[node].id,
                            &(struct load){fact->cpu_milli, fact->memory_bytes});
}

static const char *find_node_name(const struct turn *turn, const char *name, bool *out_ready)
{
    const struct world *world = turn->cache->world;
    for (size_t i = 0; i < world->rows.node_count; i++) {
        *out_ready = world->nodes[i].ready;
        if (strcmp(world->nodes[i].name, name) == 0)
            return world->nodes[i].name;
    }
    return NULL;
}

static void take_node_state(struct turn *turn, const struct backend_fact *fact)
{
    bool was_ready = false;
    const char *name = find_node_name(turn, fact->node_name, &was_ready);
    if (name && was_ready != fact->ready)
        turn_add_node_state(turn, &(struct turn_node_state){.name = name,
                                                            .ready = fact->ready,
                                                            .reason = arena_strdup(turn->arena, fact->reason)});
}

static void take_node_devices(struct turn *turn, const struct backend_fact *fact)
{
    bool is_ready;
    const char *name = find_node_name(turn, fact->node_name, &is_ready), *list = "";
    if (!name)
        return;
    for (unsigned i = 0; i < 64; i++)
        if (fact->unusable_gpus >> i & 1)
            list = arena_printf(turn->arena, "%s%s%u", list, list[0] ? "," : "", i);
    const char *message = arena_strdup(turn->arena, fact->message);
    turn_add_node_state(turn, &(struct turn_node_state){.name = name,
                                                        .reason = fact->unusable_gpus ? message : "",
                                                        .unusable_gpus_json = arena_printf(turn->arena, "[%s]", list)});
    turn_add_event(turn, &(struct turn_event){.type = fact->unusable_gpus ? EVENT_WARNING : EVENT_NORMAL,
                                              .reason = arena_strdup(turn->arena, fact->reason),
                                              .message = message,
                                              .source = "backend",
                                              .object_kind = "Node",
                                              .object_name = name,
                                              .object_uuid = ""});
}

static void take_node_warning(struct turn *turn, const struct backend_fact *fact)
{
    bool is_ready;
    const char *name = find_node_name(turn, fact->node_name, &is_ready);
    if (name)
        turn_add_event(turn, &(struct turn_event){.type = EVENT_WARNING,
                                                  .reason = arena_strdup(turn->arena, fact->reason),
                                                  .message = arena_strdup(turn->arena, fact->message),
                                                  .source = "backend",
                                                  .object_kind = "Node",
                                                  .object_name = name,
                                                  .object_uuid = ""});
}

static void take_fact(struct turn *turn, const struct backend_fact *fact)
{
    if (fact->kind == BACKEND_NODE_STATE) {
        take_node_state(turn, fact);
        return;
    }
    if (fact->kind == BACKEND_SERVICE_CALLED || fact->kind == BACKEND_NODES_CHANGED ||
        fact->kind == BACKEND_LEFTOVERS) // replicas.c, machines.c and clearing.c ask
        return;
    if (fact->kind == BACKEND_NODE_DEVICES) {
        take_node_devices(turn, fact);
        return;
    }
    if (fact->kind == BACKEND_NODE_WARNING) {
        take_node_warning(turn, fact);
        return;
    }
    if (fact->kind == BACKEND_NODE_LOAD) {
        take_node_load(turn, fact);
        return;
    }
    struct cache_pod *pod = cache_find_pod(turn->cache, fact->pod_uuid);
    if (!pod || pod->deleted_ms)
        return;
    switch (fact->kind) {
    case BACKEND_POD_STARTING:
        if (pod->status == POD_STATUS_BINDING) {
            pod->status = POD_STATUS_BOUND;
            turn_touch_pod(turn, pod);
        }
        break;
    case BACKEND_POD_RUNNING:
        take_running(turn, pod, fact->time_ms, fact);
        break;
    case BACKEND_POD_ENDED:
        take_ended(turn, pod, fact);
        break;
    case BACKEND_POD_GONE:
        if (pod->status == POD_STATUS_RELEASING)
            take_gone(turn, pod, fact->time_ms);
        break;
    case BACKEND_POD_REFUSED:
        take_refused(turn, pod, fact);
        break;
    case BACKEND_POD_LOST:
        if (fact->message[0] && strcmp(fact->reason, "NodeLost") != 0)
            take_lost(turn, pod, arena_strdup(turn->arena, fact->reason),
                      arena_printf(turn->arena, "%s %s", pod->name, fact->message));
        else
            take_lost(turn, pod, "NodeLost",
                      arena_printf(turn->arena, "%s was lost with %s", pod->name, node_name_of(turn, pod)));
        break;
    case BACKEND_POD_UNKNOWN:
        take_unknown(turn, pod);
        break;
    case BACKEND_POD_USAGE:
        take_usage(turn, pod, fact);
        break;
    case BACKEND_POD_LOAD:
        take_load(pod, fact);
        break;
    case BACKEND_POD_WARNING:
        turn_add_pod_event(turn, pod, EVENT_WARNING, arena_strdup(turn->arena, fact->reason), "backend",
                           arena_printf(turn->arena, "%s %s", pod->name, fact->message));
        break;
    case BACKEND_SERVICE_CALLED:
    case BACKEND_NODE_STATE:
    case BACKEND_NODE_LOAD:
    case BACKEND_NODE_WARNING:
    case BACKEND_NODE_DEVICES:
    case BACKEND_NODES_CHANGED:
    case BACKEND_LEFTOVERS:
        break;
    }
}

void facts_take(struct turn *turn, const struct backend_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct backend_fact fact = facts[i];
        if (fact.time_ms > turn->now_ms) // written before the clock was set back
            fact.time_ms = turn->now_ms;
        take_fact(turn, &fact);
    }
}

void facts_lose_pods_without_node(struct turn *turn)
{
    for (size_t i = 0; i < turn->cache->workload_count; i++)
        for (size_t k = 0; k < turn->cache->order[i]->pod_count; k++) {
            struct cache_pod *pod = turn->cache->order[i]->pods[k];
            if (!pod_status_holds_place(pod->status) || world_node(turn->cache->world, pod->node_id) != SNAPSHOT_NONE)
                continue;
            turn_order(turn, pod, BACKEND_FORGET);
            take_lost(turn, pod, "NodeLost", arena_printf(turn->arena, "%s was lost: its node was removed", pod->name));
        }
}
