#include "base/arena.h"
#include "base/timestamp.h"
#include "scheduler/plan.h"

static const struct plan_explanation *find(const struct plan_workload *workload, enum explanation_code code)
{
    for (size_t i = 0; i < workload->explanation_count; i++) {
        if (workload->explanations[i].code == code)
            return &workload->explanations[i];
    }
    return NULL;
}

// The first time at which a rule that stands in the way lets go.
static const struct plan_explanation *find_first_end(const struct plan_workload *workload)
{
    const struct plan_explanation *first = NULL;
    for (size_t i = 0; i < workload->explanation_count; i++) {
        const struct plan_explanation *explanation = &workload->explanations[i];
        if (explanation->until_ms != SNAPSHOT_TIME_NONE && (!first || explanation->until_ms < first->until_ms))
            first = explanation;
    }
    return first;
}

// When time limits alone leave room.
static int64_t find_first_room(const struct plan_workload *workload)
{
    int64_t first_ms = SNAPSHOT_TIME_NONE;
    for (size_t i = 0; i < workload->explanation_count; i++) {
        int64_t room_ms = workload->explanations[i].room_ms;
        if (room_ms != SNAPSHOT_TIME_NONE && (first_ms == SNAPSHOT_TIME_NONE || room_ms < first_ms))
            first_ms = room_ms;
    }
    return first_ms;
}

// Whether that is so in every pool that was looked at.
static bool can_never_start(const struct plan_workload *workload)
{
    for (size_t i = 0; i < workload->explanation_count; i++) {
        bool is_never = false;
        for (size_t k = 0; k < workload->explanation_count && !is_never; k++)
            is_never = workload->explanations[k].node_pool == workload->explanations[i].node_pool &&
                       workload->explanations[k].can_never_start;
        if (!is_never)
            return false;
    }
    return true;
}

static const char *say_never(const struct plan_workload *workload)
{
    if (find(workload, EXPLANATION_NOT_READY))
        return "Cannot start as asked: what it waits for will not come";
    if (find(workload, EXPLANATION_OVER_PERSON_LIMIT))
        return "Cannot start as asked: it is more than each person of its project may have";
    return find(workload, EXPLANATION_NO_MATCHING_NODE)
               ? "Cannot start as asked: no node in its node pools may take it, whatever is free"
               : "Cannot start as asked: no node in its node pools is large enough";
}

static const char *say_end(const struct plan_explanation *end, struct arena *arena)
{
    char text[TIMESTAMP_SIZE];
    timestamp_format(end->until_ms, text);
    if (end->code == EXPLANATION_OVER_BUDGET)
        return arena_printf(arena, "May go beyond the quota from %s; until then it starts only within it", text);
    if (end->code == EXPLANATION_NOT_READY)
        return arena_printf(arena, "Joins the queue at %s", text);
    return arena_printf(arena, "%s from %s; until then it starts only if room becomes free",
                        end->code == EXPLANATION_PREEMPTION_DELAY_NOT_ELAPSED ? "May displace others"
                                                                              : "Protected workloads may be displaced",
                        text);
}

struct plan_forecast plan_forecast_of(const struct plan_workload *workload, struct arena *arena)
{
    struct plan_forecast forecast = {.kind = FORECAST_UNKNOWN, .at_ms = SNAPSHOT_TIME_NONE};
    if (workload->explanation_count == 0)
        return (struct plan_forecast){FORECAST_NOW, SNAPSHOT_TIME_NONE, "Starts now"};
    if (find(workload, EXPLANATION_WAITING_FOR_RELEASE)) {
        forecast.kind = FORECAST_DECIDED;
        forecast.sentence =
            "Starts when what stops on its place is gone; a place that is lost until then is looked for "
            "again";
        return forecast;
    }
    if (can_never_start(workload))
        return (struct plan_forecast){FORECAST_NEVER, SNAPSHOT_TIME_NONE, say_never(workload)};
    const struct plan_explanation *reserved = find(workload, EXPLANATION_HAS_RESERVATION);
    if (reserved && reserved->until_ms != SNAPSHOT_TIME_NONE) {
        char text[TIMESTAMP_SIZE];
        timestamp_format(reserved->until_ms, text);
        return (struct plan_forecast){
            FORECAST_RULE, reserved->until_ms,
            arena_printf(arena, "Room is reserved; the last workload using it ends at %s", text)};
    }
    const struct plan_explanation *end = find_first_end(workload);
    if (end)
        return (struct plan_forecast){FORECAST_RULE, end->until_ms, say_end(end, arena)};
    int64_t room_ms = find_first_room(workload);
    if (room_ms != SNAPSHOT_TIME_NONE) {
        char text[TIMESTAMP_SIZE];
        timestamp_format(room_ms, text);
        forecast.kind = FORECAST_RULE;
        forecast.at_ms = room_ms;
        forecast.sentence = arena_printf(arena,
                                         "Time limits free enough GPUs by %s, unless others take them; until then "
                                         "it starts only if room becomes free",
                                         text);
        return forecast;
    }
    forecast.sentence = find(workload, EXPLANATION_NOT_READY) ? "Joins the queue then"
                        : find(workload, EXPLANATION_OVER_PERSON_LIMIT)
                            ? "Depends on its submitter's other workloads to end"
                            : "Depends on others to free or yield room";
    return forecast;
}
