// Time limits and limits on idle GPUs: announced once, carried out, over restarts, suspensions and preemptions, for one
// pod and for gangs. Hours pass by the test's own clock.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define UTILIZATION(value) "[{\"name\":\"prorata.io/sim-gpu-utilization\",\"value\":\"" value "\"}]"
#define TIME_WARNING "TimeLimitWarning"
#define IDLE_WARNING "IdleLimitWarning"
#define TIME_EXCEEDED "TimeLimitExceeded"
#define IDLE_EXCEEDED "IdleLimitExceeded"

static void open_small(struct live *live)
{
    *live = (struct live){0};
    live_open(live, 2, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 2);
}

// In one step: what is due in between comes late, as after a time without a server.
static void leap(struct live *live, int64_t ms)
{
    live->now_ms += ms;
    live_run(live);
}

static const char *last_event(struct live *live, const char *workload, const char *reason)
{
    return live_text(live, arena_printf(&live->arena,
                                        "SELECT e.message FROM events e JOIN workloads w ON w.id = e.workload_id WHERE"
                                        " w.name = '%s' AND e.reason = '%s' ORDER BY e.id DESC",
                                        workload, reason));
}

static const char *phase_message(struct live *live, const char *workload)
{
    return live_text(live,
                     arena_printf(&live->arena, "SELECT phase_message FROM workloads WHERE name = '%s'", workload));
}

struct notice_case {
    const char *name;
    int64_t limit_ms;
    int64_t notice_ms; // before the limit
    const char *warning;
    const char *exceeded;
};

static const struct notice_case NOTICES[] = {
    {"a tenth of a short limit", MINUTE, 6000,
     "job stops in 6 s: ran 54 s of 60 s (training time limit of project team-a)",
     "Stopped: ran 60 s (training time limit of project team-a)"},
    {"ten minutes of none that is long", 24 * HOUR, 10 * MINUTE,
     "job stops in 10 min: ran 23 h 50 min of 24 h (training time limit of project team-a)",
     "Stopped: ran 24 h (training time limit of project team-a)"},
    {"both are the same", 100 * MINUTE, 10 * MINUTE,
     "job stops in 10 min: ran 90 min of 100 min (training time limit of project team-a)",
     "Stopped: ran 100 min (training time limit of project team-a)"},
};

static void test_notices(void)
{
    for (size_t i = 0; i < COUNT(NOTICES); i++) {
        const struct notice_case *row = &NOTICES[i];
        struct live live;
        open_small(&live);
        live_submit(&live, &(struct live_spec){.name = "job", .project = "team-a", .time_limit_ms = row->limit_ms});
        live_run(&live);
        leap(&live, row->limit_ms - row->notice_ms - 1000);
        check_int(live_events(&live, "job", TIME_WARNING), 0, "%s: not yet", row->name);
        leap(&live, 1000);
        check_text(last_event(&live, "job", TIME_WARNING), row->warning, "%s", row->name);
        leap(&live, row->notice_ms - 1000);
        check_text(live_phase(&live, "job"), "Running", "%s: it runs to the end", row->name);
        leap(&live, 1000);
        check_text(live_phase(&live, "job"), "Stopped", "%s: it stops", row->name);
        check_text(phase_message(&live, "job"), row->exceeded, "%s: and says why", row->name);
        check_int(live_events(&live, "job", TIME_WARNING), 1, "%s: announced once", row->name);
        check_int(live_events(&live, "job", TIME_EXCEEDED), 1, "%s: stopped once", row->name);
        live_close(&live);
    }
}

static void test_idle_notice(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){
                    .name = "lazy", .project = "team-a", .idle_limit_ms = HOUR, .annotations = UTILIZATION("0")});
    live_run(&live);
    leap(&live, 54 * MINUTE - 1000);
    check_int(live_events(&live, "lazy", IDLE_WARNING), 0, "not yet");
    leap(&live, 1000);
    check_text(last_event(&live, "lazy", IDLE_WARNING),
               "lazy stops in 6 min: GPUs idle for 54 min of 60 min (training idle limit of project team-a)",
               "announced");
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "lazy"), "Stopped", "and stopped");
    check_text(phase_message(&live, "lazy"), "Stopped: GPUs idle for 60 min (training idle limit of project team-a)",
               "by which rule");
    check_int(live_events(&live, "lazy", IDLE_WARNING), 1, "announced once");
    live_close(&live);
}

// Crashes before every step.
static void test_restarts(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "long", .project = "team-a", .time_limit_ms = HOUR});
    live_submit(&live,
                &(struct live_spec){
                    .name = "lazy", .project = "team-b", .idle_limit_ms = HOUR, .annotations = UTILIZATION("0")});
    live_run(&live);
    for (int minute = 0; minute < 59; minute++) {
        live_crash(&live);
        leap(&live, MINUTE);
    }
    check_text(live_phase(&live, "long"), "Running", "it runs for its hour");
    check_text(live_phase(&live, "lazy"), "Running", "the other too");
    check_int(live_events(&live, "long", TIME_WARNING), 1, "of 59 restarts none repeats the notice");
    check_int(live_events(&live, "lazy", IDLE_WARNING), 1, "nor that of the idle one");
    live_crash(&live);
    leap(&live, MINUTE);
    check_text(live_phase(&live, "long"), "Stopped", "and no restart lengthens it");
    check_text(live_phase(&live, "lazy"), "Stopped", "nor the idle time");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE idle_since_ms > 0"), 0, "who is gone idles no more");
    live_crash(&live);
    live_run(&live);
    check_text(phase_message(&live, "long"), "Stopped: ran 60 min (training time limit of project team-a)",
               "what stopped it stays said");
    live_close(&live);
}

static void test_late_notice(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "long", .project = "team-a", .time_limit_ms = HOUR});
    live_run(&live);
    live_crash(&live);
    leap(&live, 2 * HOUR);
    check_text(live_phase(&live, "long"), "Running", "a notice that comes late leaves its time");
    check_text(last_event(&live, "long", TIME_WARNING),
               "long stops in 6 min: ran 2 h of 60 min (training time limit of project team-a)", "and says so");
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "long"), "Stopped", "then it acts");
    live_close(&live);
}

static void test_suspended_time_does_not_count(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "job", .project = "team-a", .time_limit_ms = HOUR});
    live_run(&live);
    leap(&live, 55 * MINUTE);
    live_suspend(&live, "job");
    leap(&live, 5 * HOUR);
    check_text(live_phase(&live, "job"), "Stopped", "suspended");
    live_resume(&live, "job");
    live_run(&live);
    check_text(live_phase(&live, "job"), "Running", "it has five minutes left");
    leap(&live, 5 * MINUTE - 1000);
    check_text(live_phase(&live, "job"), "Running", "and has them");
    leap(&live, 1000);
    check_text(live_phase(&live, "job"), "Stopped", "not more");
    check_int(live_events(&live, "job", TIME_WARNING), 1, "the notice of before stands");
    live_resume(&live, "job");
    live_run(&live);
    check_text(live_phase(&live, "job"), "Stopped", "resumed with nothing left, it does not start");
    check_int(live_events(&live, "job", TIME_EXCEEDED), 2, "and is told so");
    check_int(live_number(&live, "SELECT count(*) FROM allocations"), 2, "it takes no place for that");
    live_check(&live, "suspended");
    live_close(&live);
}

static void test_preempted_time_does_not_count(void)
{
    struct live live;
    open_small(&live);
    for (int i = 0; i < 3; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "a%d", i),
                                               .project = "team-a",
                                               .time_limit_ms = i == 2 ? HOUR : 0});
    live_run(&live);
    leap(&live, 30 * MINUTE);
    live_submit(&live, &(struct live_spec){.name = "b", .project = "team-b", .gpus = 2});
    live_run(&live);
    check_text(live_phase(&live, "a2"), "Pending", "it gave way");
    leap(&live, 10 * HOUR);
    check_text(live_phase(&live, "a2"), "Pending", "who waits is not limited");
    live_delete(&live, "b");
    live_run(&live);
    check_text(live_phase(&live, "a2"), "Running", "it comes back");
    leap(&live, 24 * MINUTE);
    check_int(live_events(&live, "a2", TIME_WARNING), 1, "after 54 minutes of its own");
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "a2"), "Stopped", "and 60");
    live_close(&live);
}

static void test_gangs(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "gang", .project = "team-a", .workers = 2, .time_limit_ms = HOUR});
    live_submit(
        &live,
        &(struct live_spec){
            .name = "lazy", .project = "team-b", .workers = 2, .idle_limit_ms = HOUR, .annotations = UTILIZATION("0")});
    live_run(&live);
    leap(&live, 54 * MINUTE);
    check_int(live_events(&live, "gang", TIME_WARNING), 1, "a gang is told once, not pod by pod");
    check_int(live_events(&live, "lazy", IDLE_WARNING), 1, "so is one whose pods all idle");
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "gang"), "Stopped", "and stops whole");
    check_text(live_phase(&live, "lazy"), "Stopped", "as the other");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE deleted_ms = 0"), 0, "no pod is left");
    check_int(live_events(&live, "gang", TIME_EXCEEDED), 1, "told once");
    live_close(&live);
}

static void test_an_idle_gang_that_lost_a_pod(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "lazy",
                                           .project = "team-a",
                                           .workers = 4,
                                           .min_pods = 2,
                                           .idle_limit_ms = HOUR,
                                           .annotations = UTILIZATION("0")});
    live_run(&live);
    leap(&live, 54 * MINUTE);
    live_add_node(&live, "node1", 2, false);
    live_run(&live);
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "lazy"), "Stopped", "the pods that are left idled for the hour");
    live_close(&live);
}

static void test_work_begins_the_idle_time_again(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){
                           .name = "job", .project = "team-a", .idle_limit_ms = HOUR, .annotations = UTILIZATION("0")});
    live_run(&live);
    leap(&live, 55 * MINUTE);
    check_int(live_events(&live, "job", IDLE_WARNING), 1, "announced");
    live_report_use(&live, "job", 5);
    live_run(&live);
    leap(&live, 10 * MINUTE);
    check_text(live_phase(&live, "job"), "Running", "it works: nothing stops it");
    live_report_use(&live, "job", 0);
    live_run(&live);
    leap(&live, 54 * MINUTE);
    check_int(live_events(&live, "job", IDLE_WARNING), 2, "a new stretch is announced anew");
    check_text(live_phase(&live, "job"), "Running", "and counts from its begin");
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "job"), "Stopped", "to its end");
    live_close(&live);
}

static void test_short_idle_stretches_are_not_written(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){
                    .name = "job", .project = "team-a", .idle_limit_ms = HOUR, .annotations = UTILIZATION("50")});
    live_run(&live);
    int64_t revision = live_number(&live, "SELECT max(revision) FROM pods");
    for (int i = 0; i < 10; i++) {
        live_report_use(&live, "job", i % 2 ? 50 : 0);
        leap(&live, 20000);
    }
    check_int(live_number(&live, "SELECT max(revision) FROM pods"), revision, "a pod that pauses writes nothing");
    live_report_use(&live, "job", 0);
    live_run(&live);
    leap(&live, 30000);
    check_int(live_number(&live, "SELECT max(revision) FROM pods") > revision, 1, "one that idles for a window does");
    live_close(&live);
}

static void test_stopping_takes_its_grace(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){.name = "job",
                                    .project = "team-a",
                                    .time_limit_ms = MINUTE,
                                    .annotations = "[{\"name\":\"prorata.io/sim-stop-duration\",\"value\":\"20s\"}]"});
    live_advance(&live, 61000);
    check_text(live_phase(&live, "job"), "Stopping", "it may end in peace");
    live_crash(&live);
    live_advance(&live, 20000);
    check_text(live_phase(&live, "job"), "Stopped", "within its grace");
    check_text(phase_message(&live, "job"), "Stopped: ran 60 s (training time limit of project team-a)",
               "and still says why");
    check_int(live_events(&live, "job", TIME_EXCEEDED), 1, "once, over a restart too");
    live_close(&live);
}

static void test_clock_set_back(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){
                    .name = "lazy", .project = "team-a", .idle_limit_ms = HOUR, .annotations = UTILIZATION("0")});
    live_run(&live);
    leap(&live, 55 * MINUTE);
    live.now_ms -= 3 * HOUR;
    live_run(&live);
    leap(&live, 54 * MINUTE);
    check_int(live_events(&live, "lazy", IDLE_WARNING), 2, "what counts from the jump is announced again");
    leap(&live, 6 * MINUTE);
    check_text(live_phase(&live, "lazy"), "Stopped", "and carried out an hour after it");
    live_close(&live);
}

int main(void)
{
    test_notices();
    test_idle_notice();
    test_restarts();
    test_late_notice();
    test_suspended_time_does_not_count();
    test_preempted_time_does_not_count();
    test_gangs();
    test_an_idle_gang_that_lost_a_pod();
    test_work_begins_the_idle_time_again();
    test_short_idle_stretches_are_not_written();
    test_stopping_takes_its_grace();
    test_clock_set_back();
    return check_finish();
}
