#include "reconciler/turn/limits.h"

#include "base/duration.h"
#include "db/events.h"
#include "model/event_reason.h"
#include "model/workload_type.h"

struct limit {
    const char *name;  // "time limit", "idle limit"
    const char *scope; // whose; NULL: not known
    const char *verb;  // "ran", "GPUs idle for"
    int64_t limit_ms, spent_ms;
    int64_t *warned_ms;
    bool was_announced; // this time
    enum event_reason warning, exceeded;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t notice_ms(const struct limit *limit)
{
    return smaller(LIMIT_NOTICE_MAX_MS, limit->limit_ms / 10);
}

static const char *words(const struct turn *turn, int64_t ms)
{
    char text[DURATION_WORDS_SIZE];
    return arena_strdup(turn->arena, duration_words(ms, text));
}

// "training time limit of project team-a"
static const char *rule_of(const struct turn *turn, const struct cache_workload *workload, const struct limit *limit)
{
    bool is_workspace = workload_type_is(workload->type, WORKLOAD_TYPE_WORKSPACE);
    return arena_printf(turn->arena, "%s %s of %s", is_workspace ? "workspace" : "training", limit->name,
                        limit->scope ? limit->scope : "its project or department");
}

static void announce(struct turn *turn, struct cache_workload *workload, const struct limit *limit)
{
    int64_t left_ms = limit->limit_ms - limit->spent_ms;
    if (left_ms < notice_ms(limit))
        left_ms = notice_ms(limit);
    turn_touch_workload(turn, workload);
    *limit->warned_ms = turn->now_ms;
    turn_add_workload_event(turn, workload, EVENT_WARNING, event_reason_text(limit->warning), "control-plane",
                            arena_printf(turn->arena, "%s stops in %s: %s %s of %s (%s)", workload->name,
                                         words(turn, left_ms), limit->verb, words(turn, limit->spent_ms),
                                         words(turn, limit->limit_ms), rule_of(turn, workload, limit)));
}

static void stop(struct turn *turn, struct cache_workload *workload, const struct limit *limit)
{
    const char *reason = event_reason_text(limit->exceeded);
    turn_touch_workload(turn, workload);
    workload->stopped_by_rule = true;
    workload->desired = DESIRED_STOPPED;
    const char *message = arena_printf(turn->arena, "Stopped: %s %s (%s)", limit->verb, words(turn, limit->limit_ms),
                                       rule_of(turn, workload, limit));
    turn_add_workload_event(turn, workload, EVENT_WARNING, reason, "control-plane",
                            arena_printf(turn->arena, "%s: %s", workload->name, message));
    turn_set_phase(turn, workload, PHASE_STOPPING, message);
    for (size_t i = 0; i < workload->pod_count; i++)
        turn_release_pod(turn, workload->pods[i], reason);
}

// True where it stopped the workload.
static bool apply(struct turn *turn, struct cache_workload *workload, const struct limit *limit)
{
    int64_t left_ms = limit->limit_ms - limit->spent_ms, notice = notice_ms(limit);
    if (!limit->was_announced) {
        if (left_ms > notice) {
            turn_note_due(turn, turn->now_ms + left_ms - notice);
            return false;
        }
        announce(turn, workload, limit);
    }
    int64_t stop_ms = turn->now_ms + left_ms;
    if (stop_ms < *limit->warned_ms + notice)
        stop_ms = *limit->warned_ms + notice;
    if (stop_ms > turn->now_ms) {
        turn_note_due(turn, stop_ms);
        return false;
    }
    stop(turn, workload, limit);
    return true;
}

static bool apply_time_limit(struct turn *turn, struct cache_workload *workload)
{
    bool is_running = phase_is_running(workload->phase);
    struct limit limit = {
        .name = "time limit",
        .scope = workload->time_limit_scope,
        .verb = "ran",
        .limit_ms = workload->time_limit_ms,
        .spent_ms = workload->running_total_ms + (is_running ? turn->now_ms - workload->phase_updated_ms : 0),
        .warned_ms = &workload->time_warned_ms,
        .was_announced = workload->time_warned_ms > 0,
        .warning = EVENT_REASON_TIME_LIMIT_WARNING,
        .exceeded = EVENT_REASON_TIME_LIMIT_EXCEEDED,
    };
    if (is_running)
        return apply(turn, workload, &limit);
    if (limit.spent_ms < limit.limit_ms)
        return false;
    stop(turn, workload, &limit); // it was resumed, or gave way, with nothing left: it takes no place any more
    return true;
}

// Since when all devices that the workload holds do nothing; 0: some work, or have not been measured since the start of
// the server, or there are none.
static int64_t idle_since(struct turn *turn, struct cache_workload *workload)
{
    int64_t since_ms = 0, window_ms = smaller(IDLE_WINDOW_MAX_MS, workload->idle_limit_ms / 10);
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        if (pod->status != POD_STATUS_RUNNING || pod->gpu_allocated_milli == 0)
            continue;
        if (!pod->unused_since_ms)
            return 0;
        if (!pod->idle_since_ms && turn->now_ms < pod->unused_since_ms + window_ms) {
            turn_note_due(turn, pod->unused_since_ms + window_ms);
            return 0;
        }
        if (!pod->idle_since_ms) {
            pod->idle_since_ms = pod->unused_since_ms;
            turn_touch_pod(turn, pod);
        }
        if (pod->idle_since_ms > since_ms)
            since_ms = pod->idle_since_ms;
    }
    return since_ms;
}

static bool apply_idle_limit(struct turn *turn, struct cache_workload *workload)
{
    int64_t since_ms = idle_since(turn, workload);
    if (since_ms == 0)
        return false;
    struct limit limit = {
        .name = "idle limit",
        .scope = workload->idle_limit_scope,
        .verb = "GPUs idle for",
        .limit_ms = workload->idle_limit_ms,
        .spent_ms = turn->now_ms - since_ms,
        .warned_ms = &workload->idle_warned_ms,
        .was_announced = workload->idle_warned_ms > since_ms,
        .warning = EVENT_REASON_IDLE_LIMIT_WARNING,
        .exceeded = EVENT_REASON_IDLE_LIMIT_EXCEEDED,
    };
    return apply(turn, workload, &limit);
}

bool limits_apply(struct turn *turn, struct cache_workload *workload)
{
    return (workload->time_limit_ms > 0 && apply_time_limit(turn, workload)) ||
           (workload->idle_limit_ms > 0 && apply_idle_limit(turn, workload));
}

void limits_note_use(struct turn *turn, struct cache_pod *pod, bool is_idle, int64_t time_ms)
{
    if (pod->workload->idle_limit_ms == 0)
        return;
    if (is_idle) {
        if (!pod->unused_since_ms)
            pod->unused_since_ms = time_ms;
        return;
    }
    pod->unused_since_ms = 0;
    if (pod->idle_since_ms) {
        pod->idle_since_ms = 0;
        turn_touch_pod(turn, pod);
    }
}
