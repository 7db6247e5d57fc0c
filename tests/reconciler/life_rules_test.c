// Rules of a workload's life over crashes, suspensions and preemptions, for one pod and for gangs: completions,
// backoffLimit, auto-deletion, terminateAfterPreemption.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

#define LIFE(key, value) "[{\"name\":\"prorata.io/sim-" key "\",\"value\":\"" value "\"}]"
#define FAILS                                                                          \
    "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"1s\"},{\"name\":\"prorata.io/" \
    "sim-exit-code\",\"value\":\"3\"}]"

static void open_small(struct live *live)
{
    *live = (struct live){0};
    live_open(live, 2, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 2);
}

static void crash_and_advance(struct live *live, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        live_crash(live);
        live_advance(live, 1000);
    }
}

static int64_t pods(struct live *live, const char *workload, const char *condition)
{
    return live_number(live, arena_printf(&live->arena,
                                          "SELECT count(*) FROM pods p JOIN workloads w ON w.id = p.workload_id"
                                          " WHERE w.name = '%s' AND p.%s",
                                          workload, condition));
}

static void test_completions(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "many",
                                           .project = "team-a",
                                           .completions = 5,
                                           .parallelism = 2,
                                           .annotations = LIFE("duration", "3s")});
    live_run(&live);
    crash_and_advance(&live, 7);
    check_int(pods(&live, "many", "status = 'Succeeded'"), 4, "two rounds of two");
    live_suspend(&live, "many");
    live_advance(&live, 60000);
    live_resume(&live, "many");
    live_run(&live);
    check_int(pods(&live, "many", "status = 'Running'"), 1, "resumed, it runs what is still to be done");
    crash_and_advance(&live, 4);
    check_text(live_phase(&live, "many"), "Completed", "and is done after five");
    check_int(pods(&live, "many", "status = 'Succeeded'"), 5, "not more");
    check_int(live_number(&live, "SELECT count(DISTINCT pod_index) FROM pods WHERE status = 'Succeeded' AND "
                                 "pod_index BETWEEN 0 AND 4"),
              5, "each of the five once, by its number");
    live_close(&live);
}

// Each is tried once, whatever the others do; who is suspended meanwhile goes on with the rest.
static void test_runs_that_fail(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "sweep",
                                           .project = "team-a",
                                           .completions = 5,
                                           .parallelism = 2,
                                           .fails_by_index = true,
                                           .annotations = FAILS});
    live_run(&live);
    crash_and_advance(&live, 2);
    check_true(pods(&live, "sweep", "status = 'Failed'") >= 2, "the first have failed");
    check_true(strcmp(live_phase(&live, "sweep"), "Failed") != 0, "and others go on");
    live_suspend(&live, "sweep");
    live_advance(&live, 60000);
    live_resume(&live, "sweep");
    live_run(&live);
    crash_and_advance(&live, 30);
    check_text(live_phase(&live, "sweep"), "Failed", "it fails when all have ended");
    check_int(live_number(&live, "SELECT count(DISTINCT pod_index) FROM pods WHERE status = 'Failed' AND "
                                 "pod_index BETWEEN 0 AND 4"),
              5, "all of them");
    check_int(pods(&live, "sweep", "status = 'Failed'"), 5, "once each");
    check_text(live_text(&live, "SELECT substr(phase_message, 1, 33) FROM workloads WHERE name = 'sweep'"),
               "5 of 5 runs failed: 0, 1, 2, 3, 4", "named by their numbers");
    live_close(&live);
}

static void test_backoff(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){.name = "bad", .project = "team-a", .backoff_limit = 1, .annotations = FAILS});
    live_submit(&live,
                &(struct live_spec){
                    .name = "gang", .project = "team-b", .workers = 2, .backoff_limit = 1, .annotations = FAILS});
    live_run(&live);
    crash_and_advance(&live, 5);
    check_text(live_phase(&live, "bad"), "Pending", "no restart hurries the next attempt");
    check_text(live_phase(&live, "gang"), "Failed", "a gang's pods fail together: two are one too many");
    crash_and_advance(&live, 9);
    check_text(live_phase(&live, "bad"), "Failed", "nor forgets a failure");
    check_int(pods(&live, "bad", "status = 'Failed'"), 2, "two attempts");
    check_int(pods(&live, "gang", "status IN ('Running', 'Binding', 'Bound')"), 0, "nothing is left of the gang");
    live_close(&live);
}

static void test_auto_deletion(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "gang",
                                           .project = "team-a",
                                           .workers = 2,
                                           .auto_delete_ms = 5000,
                                           .annotations = LIFE("duration", "1s")});
    live_submit(&live,
                &(struct live_spec){.name = "bad", .project = "team-b", .auto_delete_ms = 5000, .annotations = FAILS});
    live_submit(&live, &(struct live_spec){.name = "held", .project = "team-b", .auto_delete_ms = 5000});
    live_run(&live);
    live_suspend(&live, "held");
    crash_and_advance(&live, 2);
    check_text(live_phase(&live, "gang"), "Completed", "it is over");
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE deleted_ms > 0"), 0, "and stays for a while");
    crash_and_advance(&live, 8);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE deleted_ms > 0 AND name IN ('gang', 'bad')"), 2,
              "what completed and what failed is gone in time");
    check_text(live_phase(&live, "held"), "Stopped", "what is suspended stays");
    live_close(&live);
}

static void preempt(struct live *live)
{
    live_submit(live, &(struct live_spec){.name = "gang",
                                          .project = "team-a",
                                          .workers = 4,
                                          .terminate_after_preemption = true,
                                          .annotations = LIFE("stop-duration", "5s")});
    live_run(live);
    check_text(live_phase(live, "gang"), "Running", "a gang over its quota");
}

static void test_terminate_after_preemption(void)
{
    struct live live;
    open_small(&live);
    preempt(&live);
    live_submit(&live, &(struct live_spec){.name = "owner", .project = "team-b", .gpus = 2});
    live_run(&live);
    crash_and_advance(&live, 6);
    check_text(live_phase(&live, "gang"), "Failed", "what gave way does not come back, over a restart either");
    check_int(live_events(&live, "gang", "Failed"), 1, "and says so once");
    check_int(pods(&live, "gang", "status IN ('Pending', 'Running')"), 0, "none of its pods does");
    check_text(live_phase(&live, "owner"), "Running", "who it was for runs");
    live_close(&live);
}

static void test_other_ends_are_no_preemption(void)
{
    struct live live;
    open_small(&live);
    preempt(&live);
    live_add_node(&live, "node1", 2, false);
    live_advance(&live, 70000);
    check_int(live_events(&live, "gang", "StaleJob"), 2, "the rest of a gang that lost a node is stopped");
    check_text(live_phase(&live, "gang"), "Pending", "for nobody else: it comes back");
    live_add_node(&live, "node1", 2, true);
    live_run(&live);
    live_suspend(&live, "gang");
    live_advance(&live, 6000);
    live_resume(&live, "gang");
    live_run(&live);
    check_text(live_phase(&live, "gang"), "Running", "nor does a suspension end it");
    live_close(&live);
}

int main(void)
{
    test_completions();
    test_runs_that_fail();
    test_backoff();
    test_auto_deletion();
    test_terminate_after_preemption();
    test_other_ends_are_no_preemption();
    return check_finish();
}
