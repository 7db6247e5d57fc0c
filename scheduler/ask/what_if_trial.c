#include "scheduler/ask/what_if_trial.h"

#include "scheduler/scheduler.h"

int what_if_plan(struct what_if_inquiry *inquiry, const struct snapshot *snapshot, struct arena *arena,
                 const struct plan **out_plan, struct error *err)
{
    struct plan *planned;
    inquiry->plan_count++;
    if (scheduler_plan(snapshot, arena, &planned, err) < 0)
        return -1;
    *out_plan = planned;
    return 0;
}

static void bound_scenarios(const struct what_if_inquiry *inquiry, struct snapshot_settings *settings)
{
    uint32_t left = inquiry->question->fix_scenarios - (uint32_t)inquiry->fix_scenarios;
    settings->scenarios_per_workload =
        settings->scenarios_per_workload < left ? settings->scenarios_per_workload : left;
    settings->scenarios_per_action = settings->scenarios_per_action < left ? settings->scenarios_per_action : left;
}

// Where searches for all that waits do not end in one cycle, the one that is asked about is searched victims for alone.
static void look_at_one(struct snapshot *snapshot, uint32_t workload)
{
    if (snapshot->search_turn_count == 0)
        return;
    snapshot->search_turn_count = 0;
    snapshot->settings.search_steps = SNAPSHOT_STEPS_UNLIMITED;
    snapshot->searches_for = workload;
}

int what_if_try(struct what_if_inquiry *inquiry, const struct what_if_change *change, struct arena *arena,
                struct what_if_trial *out_trial, struct error *err)
{
    struct snapshot *copy;
    *out_trial = (struct what_if_trial){.is_new = inquiry->question->workload != NULL};
    if (what_if_apply(inquiry->snapshot, inquiry->question, change, arena, &copy, &out_trial->workload, err) < 0)
        return -1;
    out_trial->snapshot = copy;
    look_at_one(copy, out_trial->workload);
    if (change && inquiry->question->fix_scenarios > 0)
        bound_scenarios(inquiry, &copy->settings);
    if (what_if_plan(inquiry, copy, arena, &out_trial->plan, err) < 0)
        return -1;
    for (size_t i = 0; change && i < ACTION_COUNT; i++)
        inquiry->fix_scenarios += out_trial->plan->actions[i].scenarios_simulated;
    return 0;
}
