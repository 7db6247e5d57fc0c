// A fault sweep: the same story again and again, with a crash before its 1st, 2nd, 3rd ... turn, then with one between
// the commit and the orders that follow from it, until a run goes through without. It must come out the same every
// time.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

#define LIFE                                                                                                  \
    "[{\"name\":\"prorata.io/sim-start-delay\",\"value\":\"2s\"},{\"name\":\"prorata.io/sim-stop-duration\"," \
    "\"value\":\"3s\"}]"

static const char *story(struct live *live)
{
    live_open(live, 2, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 2);
    live_submit(live, &(struct live_spec){.name = "a2", .project = "team-a", .gpus = 2, .annotations = LIFE});
    live_submit(live, &(struct live_spec){.name = "gang", .project = "team-a", .workers = 2, .annotations = LIFE});
    live_advance(live, 3000);
    live_check(live, "both run");
    live_submit(live, &(struct live_spec){.name = "b", .project = "team-b", .annotations = LIFE});
    live_advance(live, 2000);
    live_check(live, "the gang is being stopped");
    live_submit(live, &(struct live_spec){.name = "short",
                                          .project = "team-b",
                                          .annotations = "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"4s\"}]"});
    live_advance(live, 10000);
    live_check(live, "the owner has its share");
    live_suspend(live, "a2");
    live_advance(live, 2000);
    live_resume(live, "a2");
    live_advance(live, 8000);
    live_check(live, "stopped and resumed");
    live_delete(live, "b");
    live_add_node(live, "node0", 2, false);
    live_advance(live, 5000);
    live_add_node(live, "node0", 2, true);
    live_advance(live, 70000);
    live_check(live, "in the end");
    return live_text(live, "SELECT group_concat(name || '=' || phase || iif(deleted_ms, ' deleted', ''), ', ')"
                           " FROM (SELECT * FROM workloads ORDER BY name)");
}

#define WANTED "a2=Running, b=Deleting deleted, gang=Running, short=Completed"

int main(void)
{
    int64_t step = check_sample(30) < 30 ? 3 : 1; // between the turns at which it crashes
    int sweeps = 0;
    bool has_crashed = true;
    for (int64_t n = 1; has_crashed; n += step, sweeps++) {
        struct live live = {.crash_at = n};
        check_text(story(&live), WANTED, "crash before turn %d", (int)n);
        has_crashed = live.has_crashed;
        live_close(&live);
    }
    check_true(sweeps * step > 30, "the story has turns enough");
    has_crashed = true;
    sweeps = 0;
    for (int64_t n = 1; has_crashed; n += step, sweeps++) {
        struct live live = {.lose_at = n};
        check_text(story(&live), WANTED, "orders %d are lost", (int)n);
        has_crashed = live.has_crashed;
        live_close(&live);
    }
    check_true(sweeps * step > 8, "the story has orders enough");
    return check_finish();
}
