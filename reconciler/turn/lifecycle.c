#include "reconciler/turn/lifecycle.h"

#include "db/events.h"
#include "model/sub_groups.h"
#include "model/workload_type.h"
#include "reconciler/turn/drains.h"
#include "reconciler/turn/limits.h"
#include "reconciler/turn/replicas.h"

#include <inttypes.h>
#include <string.h>

enum {
    RETRY_DELAY_MS = 10 * 1000,
    RETRY_DELAY_MAX_MS = 6 * 60 * 1000,
    RUNS_TOLD = 10,            // of those that failed, by their numbers
    STEADY_MS = 10 * 60 * 1000 // a replica that ran so long fails as if for the first time
};

struct pod_counts {
    int64_t pending, placed, running, releasing, succeeded, failed;
};

static bool is_pending(enum pod_status status)
{
    return status == POD_STATUS_PENDING || status == POD_STATUS_PIPELINED;
}

static struct pod_counts count_pods(const struct cache_workload *workload)
{
    struct pod_counts counts = {0};
    for (size_t i = 0; i < workload->pod_count; i++) {
        enum pod_status status = workload->pods[i]->status;
        counts.pending += is_pending(status);
        counts.placed += pod_status_is_placed(status);
        counts.running += status == POD_STATUS_RUNNING;
        counts.releasing += status == POD_STATUS_RELEASING;
        counts.succeeded += status == POD_STATUS_SUCCEEDED;
        counts.failed += status == POD_STATUS_FAILED;
    }
    return counts;
}

static bool is_distributed(const struct cache_workload *workload)
{
    return workload_type_is(workload->type, WORKLOAD_TYPE_DISTRIBUTED);
}

static int64_t creations_of(const struct turn *turn, const struct cache_workload *workload)
{
    int64_t count = 0;
    for (size_t i = 0; i < turn->creation_count; i++)
        count += turn->creations[i].workload == workload;
    return count;
}

static void release_all(struct turn *turn, struct cache_workload *workload, const char *reason)
{
    for (size_t i = 0; i < workload->pod_count; i++)
        turn_release_pod(turn, workload->pods[i], reason);
}

static void finish(struct turn *turn, struct cache_workload *workload, enum workload_phase phase, const char *message)
{
    turn_set_phase(turn, workload, phase, message);
    workload->completed_ms = turn->now_ms;
    turn->cache->needs_plan = true;
    turn_add_workload_event(turn, workload, phase == PHASE_COMPLETED ? EVENT_NORMAL : EVENT_WARNING,
                            phase == PHASE_COMPLETED ? "Completed" : "Failed", "control-plane",
                            arena_printf(turn->arena, "%s: %s", workload->name, message));
    release_all(turn, workload, phase == PHASE_COMPLETED ? "Completed" : "Failed");
}

static bool is_complete(const struct cache_workload *workload)
{
    if (workload->restarts_always || replicas_are_of(workload))
        return false;
    if (!is_distributed(workload))
        return workload->succeeded_count >= workload->completions;
    if (workload->pod_count > 0 && workload->pods[0]->is_master)
        return workload->pods[0]->status == POD_STATUS_SUCCEEDED;
    int64_t succeeded = 0;
    for (size_t i = 0; i < workload->pod_count; i++)
        succeeded += workload->pods[i]->status == POD_STATUS_SUCCEEDED;
    return succeeded > 0 && succeeded >= workload->pods_wanted;
}

int64_t lifecycle_retry_delay(const struct reconciler_options *options, int64_t failures)
{
    int64_t delay = options->retry_delay_ms ? options->retry_delay_ms : RETRY_DELAY_MS;
    int64_t maximum = options->retry_delay_max_ms ? options->retry_delay_max_ms : RETRY_DELAY_MAX_MS;
    for (int64_t i = 1; i < failures && delay < maximum; i++)
        delay *= 2;
    return delay < maximum ? delay : maximum;
}

static bool is_lost(const struct cache_pod *pod)
{
    return strcmp(pod->reason, "NodeLost") == 0 || strcmp(pod->reason, "Lost") == 0;
}

// A run that is not tried again, and ends no other.
static bool has_failed_for_good(const struct cache_workload *workload, const struct cache_pod *pod)
{
    return workload->fails_by_index && pod->status == POD_STATUS_FAILED && !is_lost(pod);
}

static int64_t runs_failed(const struct cache_workload *workload)
{
    int64_t count = 0;
    for (size_t i = 0; workload->fails_by_index && i < workload->pod_count; i++)
        count += has_failed_for_good(workload, workload->pods[i]);
    return count;
}

// A new attempt for each pod that failed, when its time has come; at once for one that was lost through no fault of its
// own.
static void retry_failed(struct turn *turn, struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        bool ends_never = workload->restarts_always || replicas_are_of(workload);
        if (pod->deleted_ms) // a replica that is not wanted any more
            continue;
        if (pod->status != POD_STATUS_FAILED && (pod->status != POD_STATUS_SUCCEEDED || !ends_never))
            continue;
        if (has_failed_for_good(workload, pod))
            continue;
        int64_t failures =
            replicas_are_of(workload) && pod->completed_ms - pod->started_ms >= STEADY_MS ? 1 : pod->attempt + 1;
        int64_t due_ms = pod->completed_ms + (is_lost(pod) ? 0 : lifecycle_retry_delay(turn->options, failures));
        if (due_ms > turn->now_ms) {
            turn_note_due(turn, due_ms);
            continue;
        }
        turn_touch_workload(turn, workload);
        turn_create_pod(turn, workload, pod->is_master, pod->pod_index, pod->attempt + 1);
    }
}

// A training with completions: as many pods at once as it wants, until enough have ended well.
static void continue_completions(struct turn *turn, struct cache_workload *workload, const struct pod_counts *counts)
{
    int64_t failed = runs_failed(workload);
    int64_t active = counts->pending + counts->placed + counts->releasing + counts->failed - failed;
    int64_t wanted = workload->completions - workload->succeeded_count - failed;
    if (wanted > workload->pods_wanted)
        wanted = workload->pods_wanted;
    for (int64_t i = active + creations_of(turn, workload); i < wanted; i++) {
        turn_touch_workload(turn, workload);
        turn_create_pod(turn, workload, false, -1, 0);
    }
}

static bool is_running(enum pod_status status)
{
    return status == POD_STATUS_RUNNING;
}

static bool is_alive(enum pod_status status)
{
    return !pod_status_is_over(status);
}

// Whether the pods of which this holds are a gang; with_done: and with them those that ended well.
static bool is_gang(const struct turn *turn, const struct cache_workload *workload,
                    bool (*holds)(enum pod_status status), bool with_done)
{
    struct sub_groups groups;
    sub_groups_parse(workload->sub_groups_json, turn->arena, &groups);
    int64_t *pods = arena_array(turn->arena, groups.count + 1, sizeof(*pods)), sum = 0;
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        if (!holds(pod->status) && !(with_done && pod->status == POD_STATUS_SUCCEEDED))
            continue;
        size_t place = sub_groups_of_pod(&groups, pod->is_master, pod->pod_index);
        pods[place == SUB_GROUP_NONE ? groups.count : place]++;
        sum++;
    }
    if (groups.count > 0)
        return sub_groups_are_met(&groups, pods, turn->arena);
    return sum >= (workload->min_pods > 0 ? workload->min_pods : 1);
}

static bool is_gang_met(const struct turn *turn, const struct cache_workload *workload,
                        bool (*holds)(enum pod_status status))
{
    return is_gang(turn, workload, holds, is_distributed(workload));
}

static bool has_interrupted_pod(const struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++)
        if (workload->pods[i]->attempt > 0 && is_pending(workload->pods[i]->status))
            return true;
    return false;
}

static bool is_none(enum pod_status status)
{
    (void)status;
    return false;
}

// A gang starts whole: pods that have to start again, or never came up, are none without those that ended well
// meanwhile. Where those were gang enough, the others were extra, and it has completed without them.
static void restart_gang(struct turn *turn, struct cache_workload *workload)
{
    struct pod_counts counts = count_pods(workload);
    bool is_left_alone = counts.pending > 0 && counts.placed + counts.releasing + counts.failed == 0;
    if (!(has_interrupted_pod(workload) || is_left_alone) || is_gang(turn, workload, is_alive, false) ||
        !is_gang(turn, workload, is_alive, true))
        return;
    if (!has_interrupted_pod(workload) && is_gang(turn, workload, is_none, true)) {
        finish(turn, workload, PHASE_COMPLETED, "Completed");
        return;
    }
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        if (pod->status != POD_STATUS_SUCCEEDED)
            continue;
        turn_touch_workload(turn, workload);
        turn_create_pod(turn, workload, pod->is_master, pod->pod_index, pod->attempt + 1);
        turn_add_pod_event(
            turn, pod, EVENT_NORMAL, "Restarted", "control-plane",
            arena_printf(turn->arena, "%s ended well, and starts again with the rest of its gang", pod->name));
    }
}

// The one that brought this turn about, as the rest of a sentence.
static const char *last_failure(struct turn *turn, const struct cache_workload *workload)
{
    const struct cache_pod *last = NULL;
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        if (pod->has_exit_code && pod->exit_code != 0 && (!last || pod->completed_ms >= last->completed_ms))
            last = pod;
    }
    return last ? arena_printf(turn->arena, "; %s", turn_describe_failure(turn, last)) : "";
}

// "2 of 100 runs failed: 4, 17": by their numbers, the first of them.
static const char *failed_runs(struct turn *turn, const struct cache_workload *workload, int64_t failed)
{
    const char *text =
        arena_printf(turn->arena, "%" PRId64 " of %" PRId64 " runs failed:", failed, workload->completions);
    int64_t told = 0;
    for (size_t i = 0; i < workload->pod_count && told < RUNS_TOLD; i++)
        if (has_failed_for_good(workload, workload->pods[i]))
            text = arena_printf(turn->arena, "%s%s %" PRId64, text, told++ ? "," : "", workload->pods[i]->pod_index);
    return told < failed ? arena_printf(turn->arena, "%s and more", text) : text;
}

static void attend_running(struct turn *turn, struct cache_workload *workload)
{
    struct pod_counts counts = count_pods(workload);
    if (is_complete(workload)) {
        finish(turn, workload, PHASE_COMPLETED, "Completed");
        return;
    }
    int64_t failed = runs_failed(workload);
    if (failed > 0 && workload->succeeded_count + failed >= workload->completions) {
        finish(turn, workload, PHASE_FAILED, failed_runs(turn, workload, failed));
        return;
    }
    if (workload->failed_count > workload->backoff_limit && !workload->fails_by_index && !replicas_are_of(workload)) {
        finish(turn, workload, PHASE_FAILED,
               arena_printf(turn->arena, "Failed %" PRId64 " %s, and backoffLimit allows %" PRId64 "%s",
                            workload->failed_count, workload->failed_count == 1 ? "time" : "times",
                            workload->backoff_limit, last_failure(turn, workload)));
        return;
    }
    bool was_suspended =
        workload->phase == PHASE_STOPPED || workload->phase == PHASE_STOPPING || workload->phase == PHASE_RESUMING;
    if (was_suspended && counts.releasing > 0)
        return;                            // until they are gone
    if (workload->phase == PHASE_RESUMING) // it may have been suspended and resumed between two turns
        turn_touch_workload(turn, workload);
    if (limits_apply(turn, workload))
        return;
    bool has_pods = counts.pending + counts.placed + counts.releasing > 0;
    bool wants_none = replicas_are_of(workload) && workload->pods_wanted == 0;
    if (!has_pods && !wants_none &&
        (was_suspended || (workload->pod_count == 0 && creations_of(turn, workload) == 0))) {
        turn_touch_workload(turn, workload);
        workload->creates_all_pods = true;
        workload->failed_count = 0;
        workload->started_ms = 0;
        return;
    }
    if (replicas_are_of(workload))
        replicas_attend(turn, workload);
    retry_failed(turn, workload);
    if (!is_distributed(workload) && workload->completions > 1)
        continue_completions(turn, workload, &counts);
    if (is_distributed(workload))
        restart_gang(turn, workload);
}

static void attend(struct turn *turn, struct cache_workload *workload)
{
    if (workload->deleted_ms)
        return;
    if (workload->desired == DESIRED_DELETED) {
        release_all(turn, workload, "Deleted");
        if (count_pods(workload).releasing == 0) {
            turn_touch_workload(turn, workload);
            workload->deleted_ms = turn->now_ms;
            turn->cache->needs_plan = true;
        }
    } else if (phase_is_final(workload->phase)) {
        release_all(turn, workload, workload->phase == PHASE_COMPLETED ? "Completed" : "Failed");
    } else if (workload->desired == DESIRED_STOPPED) {
        release_all(turn, workload, "Suspended");
        if (workload->phase != PHASE_STOPPED && count_pods(workload).releasing == 0)
            turn_touch_workload(turn, workload);
    } else {
        attend_running(turn, workload);
    }
}

void lifecycle_attend_all(struct turn *turn)
{
    drains_carry_out(turn);
    for (size_t i = 0; i < turn->cache->workload_count; i++)
        attend(turn, turn->cache->order[i]);
    replicas_hand_over(turn);
}

static const char *pending_message(const struct turn *turn, const struct cache_workload *workload,
                                   const struct pod_counts *counts)
{
    if (replicas_are_of(workload) && counts->failed > 0)
        return arena_printf(turn->arena, "Starts again after failure %" PRId64, workload->failed_count);
    if (counts->failed > runs_failed(workload))
        return arena_printf(turn->arena, "Starts again after failure %" PRId64 " of at most %" PRId64,
                            workload->failed_count, workload->backoff_limit);
    return workload->phase == PHASE_TERMINATING ? "Waits for resources again" : "Waits for resources";
}

static void set_running_phase(struct turn *turn, struct cache_workload *workload)
{
    struct pod_counts counts = count_pods(workload);
    int64_t needed = workload->min_pods > 0 ? workload->min_pods : 1;
    if (workload->creates_all_pods || (counts.placed == 0 && counts.releasing > 0 &&
                                       (workload->phase == PHASE_STOPPING || workload->phase == PHASE_STOPPED ||
                                        workload->phase == PHASE_RESUMING))) {
        if (workload->phase == PHASE_STOPPED || workload->phase == PHASE_STOPPING)
            turn_set_phase(turn, workload, PHASE_RESUMING, "Resumed");
        return;
    }
    if (replicas_are_of(workload) && workload->pods_wanted == 0 && counts.placed == 0) {
        turn_set_phase(turn, workload, PHASE_RUNNING, "No replica runs: nobody calls");
    } else if (replicas_are_of(workload) && counts.running > 0 && replicas_of_before(workload) > 0) {
        turn_set_phase(turn, workload, PHASE_UPDATING, "Its replicas change over to the new specification");
    } else if (counts.running > 0 && is_gang_met(turn, workload, is_running)) {
        turn_set_phase(turn, workload, PHASE_RUNNING, "Running");
        if (!workload->started_ms)
            workload->started_ms = turn->now_ms;
    } else if (counts.running > 0 && phase_is_running(workload->phase)) {
        turn_set_phase(turn, workload, PHASE_DEGRADED,
                       arena_printf(turn->arena, "%" PRId64 " of %" PRId64 " pods run", counts.running, needed));
    } else if (counts.placed > 0 && is_gang_met(turn, workload, pod_status_is_placed)) {
        if (workload->phase == PHASE_CREATING || workload->phase == PHASE_RESUMING ||
            workload->phase == PHASE_TERMINATING)
            turn_set_phase(turn, workload, PHASE_PENDING, "Waits for resources");
        turn_set_phase(turn, workload, PHASE_INITIALIZING, "Has its place; is starting");
    } else if (counts.releasing > 0) {
        turn_set_phase(turn, workload, PHASE_TERMINATING,
                       workload->phase_message ? workload->phase_message : "Its pods are being stopped");
    } else {
        turn_set_phase(turn, workload, PHASE_PENDING, pending_message(turn, workload, &counts));
    }
}

// What stopped it is said while it stops, and stays said.
static void set_stopped_phase(struct turn *turn, struct cache_workload *workload)
{
    bool was_told = workload->phase == PHASE_STOPPING;
    turn_set_phase(turn, workload, count_pods(workload).releasing ? PHASE_STOPPING : PHASE_STOPPED,
                   was_told ? NULL : "Stopped");
}

void lifecycle_set_phases(struct turn *turn)
{
    for (size_t i = 0; i < turn->workload_count; i++) {
        struct cache_workload *workload = turn->workloads[i];
        if (workload->deleted_ms || phase_is_final(workload->phase) || workload->desired != DESIRED_RUNNING)
            turn_explain_nothing(turn, workload);
        if (workload->deleted_ms || phase_is_final(workload->phase))
            continue;
        if (workload->desired == DESIRED_DELETED)
            turn_set_phase(turn, workload, PHASE_DELETING, "Deleting");
        else if (workload->desired == DESIRED_STOPPED)
            set_stopped_phase(turn, workload);
        else
            set_running_phase(turn, workload);
    }
}

const char *lifecycle_pod_phase(const struct cache_pod *pod)
{
    switch (pod->status) {
    case POD_STATUS_BINDING:
    case POD_STATUS_BOUND:
        return "ContainerCreating";
    case POD_STATUS_RUNNING:
        return "Running";
    case POD_STATUS_RELEASING:
    case POD_STATUS_DELETED:
        return "Terminating";
    case POD_STATUS_SUCCEEDED:
        return "Succeeded";
    case POD_STATUS_FAILED:
        return "Failed";
    default:
        return "Pending";
    }
}
