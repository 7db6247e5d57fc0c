#include "reconciler/turn/turn.h"

#include "db/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    OVERDUE_AGAIN_MS = 1000
};

void turn_touch_workload(struct turn *turn, struct cache_workload *workload)
{
    if (workload->is_touched)
        return;
    workload->is_touched = true;
    turn->workloads = arena_grow(turn->arena, turn->workloads, &turn->workload_capacity, turn->workload_count + 1,
                                 sizeof(struct cache_workload *));
    turn->workloads[turn->workload_count++] = workload;
}

void turn_touch_pod(struct turn *turn, struct cache_pod *pod)
{
    turn_touch_workload(turn, pod->workload);
    if (pod->is_touched)
        return;
    pod->is_touched = true;
    turn->pods =
        arena_grow(turn->arena, turn->pods, &turn->pod_capacity, turn->pod_count + 1, sizeof(struct cache_pod *));
    turn->pods[turn->pod_count++] = pod;
}

void turn_add_event(struct turn *turn, const struct turn_event *event)
{
    turn->events =
        arena_grow(turn->arena, turn->events, &turn->event_capacity, turn->event_count + 1, sizeof(*turn->events));
    turn->events[turn->event_count++] = *event;
}

void turn_add_pod_event(struct turn *turn, const struct cache_pod *pod, const char *type, const char *reason,
                        const char *source, const char *message)
{
    turn_add_event(turn,
                   &(struct turn_event){pod->workload, type, reason, message, source, "Pod", pod->name, pod->uuid});
}

const char *turn_describe_failure(struct turn *turn, const struct cache_pod *pod)
{
    return arena_printf(turn->arena, "%s ended with exit code %" PRId64 ": %s", pod->name, pod->exit_code,
                        pod->message && *pod->message ? pod->message : pod->reason);
}

void turn_add_workload_event(struct turn *turn, const struct cache_workload *workload, const char *type,
                             const char *reason, const char *source, const char *message)
{
    turn_add_event(turn, &(struct turn_event){workload, type, reason, message, source, "Workload", workload->name,
                                              workload->uuid});
}

void turn_create_pod(struct turn *turn, const struct cache_workload *workload, bool is_master, int64_t pod_index,
                     int64_t attempt)
{
    turn->creations = arena_grow(turn->arena, turn->creations, &turn->creation_capacity, turn->creation_count + 1,
                                 sizeof(*turn->creations));
    turn->creations[turn->creation_count++] = (struct turn_creation){
        .workload = workload, .role = is_master ? "master" : "worker", .pod_index = pod_index, .attempt = attempt};
}

void turn_order(struct turn *turn, struct cache_pod *pod, enum backend_verb verb)
{
    turn->orders =
        arena_grow(turn->arena, turn->orders, &turn->order_capacity, turn->order_count + 1, sizeof(*turn->orders));
    turn->orders[turn->order_count++] = (struct turn_order){pod, verb};
}

void turn_add_receipt(struct turn *turn, const struct receipt_row *receipt)
{
    turn->receipts = arena_grow(turn->arena, turn->receipts, &turn->receipt_capacity, turn->receipt_count + 1,
                                sizeof(*turn->receipts));
    turn->receipts[turn->receipt_count++] = *receipt;
}

void turn_add_node_state(struct turn *turn, const struct turn_node_state *state)
{
    turn->node_states = arena_grow(turn->arena, turn->node_states, &turn->node_state_capacity,
                                   turn->node_state_count + 1, sizeof(*turn->node_states));
    turn->node_states[turn->node_state_count++] = *state;
}

void turn_add_drained(struct turn *turn, const char *node_name)
{
    turn->drained = arena_grow(turn->arena, turn->drained, &turn->drained_capacity, turn->drained_count + 1,
                               sizeof(*turn->drained));
    turn->drained[turn->drained_count++] = node_name;
}

void turn_set_phase(struct turn *turn, struct cache_workload *workload, enum workload_phase phase, const char *message)
{
    if (workload->phase == phase)
        return;
    int64_t spent_ms = turn->now_ms > workload->phase_updated_ms ? turn->now_ms - workload->phase_updated_ms : 0;
    if (phase_is_running(workload->phase)) {
        workload->running_total_ms += spent_ms;
        workload->running_spent_ms += spent_ms;
    }
    if (phase_is_pending(workload->phase))
        workload->pending_spent_ms += spent_ms;
    workload->changes_phase = true;
    workload->last_phase_message = message;
    workload->phase = phase;
    workload->phase_updated_ms = turn->now_ms;
    turn_touch_workload(turn, workload);
    turn->transitions = arena_grow(turn->arena, turn->transitions, &turn->transition_capacity,
                                   turn->transition_count + 1, sizeof(*turn->transitions));
    turn->transitions[turn->transition_count++] = (struct turn_transition){workload, phase, message};
}

void turn_scale(struct turn *turn, struct cache_workload *workload, int64_t replicas)
{
    turn_touch_workload(turn, workload);
    workload->pods_wanted = replicas;
    workload->scales = true;
}

void turn_note_due(struct turn *turn, int64_t due_ms)
{
    if (due_ms <= turn->now_ms)
        due_ms = turn->now_ms + OVERDUE_AGAIN_MS;
    if (due_ms < turn->next_due_ms)
        turn->next_due_ms = due_ms;
}

void turn_note_plan_due(struct turn *turn, int64_t due_ms)
{
    if (due_ms <= turn->now_ms)
        due_ms = turn->now_ms + OVERDUE_AGAIN_MS;
    if (due_ms < turn->plan_due_ms)
        turn->plan_due_ms = due_ms;
}

bool turn_moves_gpus(const struct turn *turn)
{
    for (size_t i = 0; i < turn->pod_count; i++)
        if (turn->pods[i]->begins_allocation || turn->pods[i]->ends_allocation)
            return true;
    return false;
}

bool turn_has_changes(const struct turn *turn)
{
    return turn->workload_count || turn->event_count || turn->creation_count || turn->order_count ||
           turn->node_state_count || turn->machine_count || turn->drained_count || turn->notice_count;
}

bool turn_changes_devices(const struct turn *turn)
{
    if (turn->machine_count)
        return true;
    for (size_t i = 0; i < turn->node_state_count; i++)
        if (turn->node_states[i].unusable_gpus_json)
            return true;
    return false;
}

void turn_clear_marks(struct turn *turn)
{
    for (size_t i = 0; i < turn->pod_count; i++) {
        struct cache_pod *pod = turn->pods[i];
        pod->is_touched = pod->begins_allocation = pod->ends_allocation = pod->has_exit_code = false;
        pod->message = NULL;
    }
    for (size_t i = 0; i < turn->workload_count; i++) {
        struct cache_workload *workload = turn->workloads[i];
        workload->is_touched = workload->creates_all_pods = workload->stopped_by_rule = workload->explains = false;
        workload->changes_phase = workload->scales = false;
        workload->pending_spent_ms = workload->running_spent_ms = 0;
        workload->explanation_json = workload->messages_json = workload->phase_message = NULL;
        workload->last_phase_message = NULL;
    }
}

void turn_release_pod(struct turn *turn, struct cache_pod *pod, const char *reason)
{
    if (pod->status == POD_STATUS_RELEASING || pod_status_is_over(pod->status))
        return;
    turn_touch_pod(turn, pod);
    snprintf(pod->reason, sizeof(pod->reason), "%s", reason);
    cache_set_promise(pod, NULL, NULL);
    pod->stopping_ms = turn->now_ms;
    turn->cache->needs_plan = true;
    if (!pod_status_holds_place(pod->status)) {
        pod->status = POD_STATUS_DELETED;
        pod->deleted_ms = turn->now_ms;
        return;
    }
    pod->status = POD_STATUS_RELEASING;
    turn_order(turn, pod, BACKEND_STOP);
    turn_add_pod_event(turn, pod, EVENT_NORMAL, "Killing", "backend",
                       arena_printf(turn->arena, "Stopping %s: %s", pod->name, reason));
}

void turn_explain_nothing(struct turn *turn, struct cache_workload *workload)
{
    if (!workload->has_explanation && !workload->phase_reason[0])
        return;
    workload->has_explanation = false;
    workload->explanation_hash = workload->explanation_codes = workload->told_code = 0;
    workload->phase_reason[0] = '\0';
    workload->explains = true;
    turn_touch_workload(turn, workload);
}
