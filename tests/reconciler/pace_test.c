// When the last cycle ended, and since when the next one is being planned: asked while the planner plans, and after it.
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>

static struct live live;
static struct reconciler_pace seen; // by the latest plan

static int plan_and_look(const struct snapshot *snapshot, struct arena *arena, struct plan **out_plan,
                         struct error *err)
{
    reconciler_read_pace(live.reconciler, &seen);
    return scheduler_plan(snapshot, arena, out_plan, err);
}

int main(void)
{
    struct reconciler_pace pace;
    live_open(&live, 1, 4);
    live.options.plan = plan_and_look;
    live_crash(&live); // opened again with the planner above
    reconciler_read_pace(live.reconciler, &pace);
    check_int(pace.decided_ms, 0, "before the first cycle");
    check_int(pace.planning_ms, 0, "and nothing is planned");
    live_add_project(&live, "team-a", 4);
    live_run(&live);
    reconciler_read_pace(live.reconciler, &pace);
    check_int(pace.planning_ms, 0, "at rest");
    int64_t first_ms = pace.decided_ms;
    check_true(first_ms > 0 && first_ms <= live.now_ms, "decided at %" PRId64, first_ms);

    live.now_ms += 60 * 1000;
    live_submit(&live, &(struct live_spec){.name = "late", .project = "team-a"});
    int64_t submitted_ms = live.now_ms;
    live_run(&live);
    check_true(seen.planning_ms >= submitted_ms, "while it plans: since %" PRId64, seen.planning_ms);
    check_true(seen.decided_ms >= first_ms && seen.decided_ms <= seen.planning_ms, "and decided before that");
    reconciler_read_pace(live.reconciler, &pace);
    check_int(pace.planning_ms, 0, "at rest again");
    check_true(pace.decided_ms >= seen.planning_ms, "decided at %" PRId64, pace.decided_ms);
    live_close(&live);
    return check_finish();
}
