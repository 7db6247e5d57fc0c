// What becomes of a workload: stopped and resumed, ended well and badly, limited, deleted, lost with its node.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

#define ANNOTATION(key, value) "[{\"name\":\"prorata.io/sim-" key "\",\"value\":\"" value "\"}]"

static void open_small(struct live *live)
{
    *live = (struct live){0};
    live_open(live, 2, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 2);
}

static const char *phases(struct live *live, const char *workload)
{
    return live_text(live, arena_printf(&live->arena,
                                        "SELECT group_concat(phase, ' ') FROM (SELECT h.phase FROM phase_history h JOIN"
                                        " workloads w ON w.id = h.workload_id WHERE w.name = '%s' ORDER BY h.id)",
                                        workload));
}

static void test_phases_and_events(void)
{
    struct live live;
    open_small(&live);
    live_submit(
        &live, &(struct live_spec){.name = "job", .project = "team-a", .annotations = ANNOTATION("start-delay", "5s")});
    live_run(&live);
    check_text(live_phase(&live, "job"), "Initializing", "it pulls");
    check_text(live_text(&live, "SELECT status FROM pods"), "Bound", "its pod is bound");
    live_advance(&live, 5000);
    check_text(phases(&live, "job"), "Creating Pending Initializing Running", "the phases it goes through");
    for (const char **reason = (const char *[]){"Submitted", "Scheduled", "Pulled", "Created", "Started", NULL};
         *reason; reason++)
        check_int(live_events(&live, "job", *reason), 1, "event %s", *reason);
    check_text(live_text(&live, "SELECT name || ' ' || node_name || ' ' || gpu_indices_json FROM pods"),
               "job-0-0 node0 [0]", "where it is");
    check_int(live_number(&live, "SELECT gpu_allocated_milli FROM workloads"), 1000, "what it holds");
    check_int(live_number(&live, "SELECT pods_running FROM workloads"), 1, "a pod runs");
    check_text(live_text(&live, "SELECT current_node_pools_json FROM workloads"), "[\"default\"]", "in which pool");
    check_int(live_number(&live, "SELECT value FROM samples WHERE scope = 'cluster' AND metric = 'ALLOCATED_GPU'"
                                 " ORDER BY time_ms DESC"),
              1, "the cluster's chart");
    live_close(&live);
}

static void test_suspend_and_resume(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){
                           .name = "job", .project = "team-a", .annotations = ANNOTATION("stop-duration", "10s")});
    live_run(&live);
    live_suspend(&live, "job");
    live_run(&live);
    check_text(live_phase(&live, "job"), "Stopping", "it takes its time to stop");
    check_int(live_number(&live, "SELECT count(*) FROM allocations WHERE ended_ms = 0"), 1, "and holds its GPU");
    live_advance(&live, 10000);
    check_text(live_phase(&live, "job"), "Stopped", "then it is stopped");
    check_int(live_number(&live, "SELECT count(*) FROM allocations WHERE ended_ms = 0"), 0, "and holds nothing");
    live_advance(&live, 60000);
    live_resume(&live, "job");
    live_run(&live);
    check_text(live_phase(&live, "job"), "Running", "it runs again");
    check_text(live_text(&live, "SELECT name FROM pods ORDER BY id DESC"), "job-0-1", "as a new attempt");
    check_text(phases(&live, "job"),
               "Creating Pending Initializing Running Stopping Stopped Resuming Pending Initializing Running",
               "the phases it went through");
    live_suspend(&live, "job");
    live_run(&live);
    live_resume(&live, "job");
    live_run(&live);
    check_text(live_phase(&live, "job"), "Resuming", "resumed while it is still stopping: it waits for that");
    live_advance(&live, 10000);
    check_text(live_phase(&live, "job"), "Running", "and runs again");
    live_suspend(&live, "job");
    live_resume(&live, "job"); // before a turn saw either
    live_run(&live);
    check_text(live_phase(&live, "job"), "Running", "both at once: it runs on");
    live_check(&live, "suspend and resume");
    live_close(&live);
}

static void test_suspend_and_resume_of_what_waits(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "hog", .project = "team-a", .gpus = 2, .non_preemptible = true});
    live_submit(&live, &(struct live_spec){.name = "wait", .project = "team-a", .gpus = 2, .non_preemptible = true});
    live_run(&live);
    check_text(live_phase(&live, "wait"), "Pending", "over quota and not preemptible: waits");
    check_text(live_text(&live, "SELECT phase_reason FROM workloads WHERE name = 'wait'"), "NonPreemptibleOverQuota",
               "and says why");
    check_true(strstr(live_text(&live, "SELECT messages_json FROM workloads WHERE name = 'wait'"),
                      "\"orgType\":\"PROJECT\"") != NULL,
               "to programs too");
    live_suspend(&live, "wait");
    live_run(&live);
    check_text(live_phase(&live, "wait"), "Stopped", "stopped at once");
    check_text(live_text(&live, "SELECT phase_reason FROM workloads WHERE name = 'wait'"), "", "nothing to explain");
    live_delete(&live, "hog");
    live_resume(&live, "wait");
    live_run(&live);
    check_text(live_phase(&live, "wait"), "Running", "resumed, it gets the place");
    live_close(&live);
}

static void test_completion(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "short",
                                           .project = "team-a",
                                           .auto_delete_ms = 60000,
                                           .annotations = ANNOTATION("duration", "30s")});
    live_submit(&live, &(struct live_spec){.name = "many",
                                           .project = "team-b",
                                           .completions = 5,
                                           .parallelism = 2,
                                           .annotations = ANNOTATION("duration", "10s")});
    live_advance(&live, 29000);
    check_text(live_phase(&live, "short"), "Running", "it runs");
    live_advance(&live, 2000);
    check_text(live_phase(&live, "short"), "Completed", "and completes");
    check_int(live_number(&live, "SELECT exit_code FROM pods WHERE name = 'short-0-0'"), 0, "with exit code 0");
    check_int(live_number(&live, "SELECT completed_ms > 0 FROM workloads WHERE name = 'short'"), 1, "at a time");
    check_text(live_phase(&live, "many"), "Completed", "5 completions by 2 at a time take 30 s");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Succeeded' AND name LIKE 'many%'"), 5,
              "five pods ended well");
    check_int(live_number(&live, "SELECT deleted_ms FROM workloads WHERE name = 'short'"), 0, "it stays for a while");
    live_advance(&live, 61000);
    check_int(live_number(&live, "SELECT deleted_ms > 0 FROM workloads WHERE name = 'short'"), 1, "then it is deleted");
    live_check(&live, "completion");
    live_close(&live);
}

static void test_failure_and_backoff(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "bad",
                                           .project = "team-a",
                                           .backoff_limit = 2,
                                           .annotations = "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"1s\"},"
                                                          "{\"name\":\"prorata.io/sim-exit-code\",\"value\":\"3\"}]"});
    live_advance(&live, 2000);
    check_text(live_phase(&live, "bad"), "Pending", "after a failure it waits to be tried again");
    check_text(live_text(&live, "SELECT status || ' ' || exit_code FROM pods"), "Failed 3", "the pod failed");
    live_advance(&live, 11000);
    check_int(live_number(&live, "SELECT count(*) FROM pods"), 2, "the second attempt comes after 10 s");
    live_advance(&live, 10000);
    check_int(live_number(&live, "SELECT count(*) FROM pods"), 2, "the third not after another 10");
    live_advance(&live, 15000);
    check_text(live_phase(&live, "bad"), "Failed", "the third failure is one too many");
    check_int(live_number(&live, "SELECT count(*) FROM pods"), 3, "three attempts");
    check_int(live_events(&live, "bad", "Failed"), 4, "each failure, and the end");
    live_advance(&live, 60000);
    check_int(live_number(&live, "SELECT count(*) FROM pods"), 3, "and no more");
    live_close(&live);
}

static void test_clock_set_back(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "bad",
                                           .project = "team-a",
                                           .backoff_limit = 2,
                                           .annotations = "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"1s\"},"
                                                          "{\"name\":\"prorata.io/sim-exit-code\",\"value\":\"3\"}]"});
    live_submit(&live, &(struct live_spec){.name = "long", .project = "team-b", .time_limit_ms = 60000});
    live_advance(&live, 2000);
    live.now_ms -= 3600 * 1000;
    live_run(&live);
    live_advance(&live, 11000);
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE name LIKE 'bad%'"), 2, "the second attempt comes");
    check_text(live_phase(&live, "long"), "Running", "not yet");
    live_advance(&live, 50000);
    check_text(live_phase(&live, "long"), "Stopped", "the time limit counts from the jump");
    live_close(&live);
}

static void test_gang_and_a_clock_set_back(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "gang", .project = "team-a", .workers = 4});
    live_run(&live);
    live_add_node(&live, "node1", 2, false);
    live_run(&live);
    check_text(live_phase(&live, "gang"), "Degraded", "half of it is lost");
    live.now_ms -= 3600 * 1000;
    live_crash(&live); // no server saw the jump
    live_advance(&live, 62000);
    check_text(live_phase(&live, "gang"), "Pending", "it does not stay half for an hour");
    live_close(&live);
}

static void test_restart_policy(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "again",
                                           .project = "team-a",
                                           .restart_policy = "Always",
                                           .annotations = ANNOTATION("duration", "1s")});
    live_advance(&live, 15000);
    check_text(live_phase(&live, "again"), "Pending", "it starts again after it ended well");
    check_int(live_number(&live, "SELECT count(*) FROM pods"), 2, "as a new attempt");
    live_close(&live);
}

static void test_limits(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "long", .project = "team-a", .time_limit_ms = 60000});
    live_submit(&live, &(struct live_spec){.name = "lazy",
                                           .project = "team-b",
                                           .idle_limit_ms = 90000,
                                           .annotations = ANNOTATION("gpu-utilization", "0")});
    live_submit(&live, &(struct live_spec){.name = "busy", .project = "team-b", .idle_limit_ms = 90000});
    live_run(&live);
    live_advance(&live, 59000);
    check_text(live_phase(&live, "long"), "Running", "not yet");
    live_advance(&live, 2000);
    check_text(live_phase(&live, "long"), "Stopped", "the time limit stops it");
    check_int(live_events(&live, "long", "TimeLimitExceeded"), 1, "and says so");
    check_text(live_text(&live, "SELECT desired_phase FROM workloads WHERE name = 'long'"), "Stopped", "for good");
    live_advance(&live, 31000);
    check_text(live_phase(&live, "lazy"), "Stopped", "the idle limit stops what does nothing");
    check_text(live_phase(&live, "busy"), "Running", "and leaves what works");
    live_close(&live);
}

static void test_deletion(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){
                           .name = "job", .project = "team-a", .annotations = ANNOTATION("stop-duration", "5m")});
    live_run(&live);
    live_delete(&live, "job");
    live_run(&live);
    check_text(live_phase(&live, "job"), "Deleting", "it is being deleted");
    live_advance(&live, 29000);
    check_text(live_phase(&live, "job"), "Deleting", "within the grace time");
    live_advance(&live, 2000);
    check_int(live_number(&live, "SELECT deleted_ms > 0 FROM workloads"), 1, "which bounds how long it takes");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE deleted_ms = 0"), 0, "its pods are gone");
    live_submit(&live, &(struct live_spec){.name = "job", .project = "team-a"});
    live_run(&live);
    check_text(live_phase(&live, "job"), "Running", "the name is free again");
    live.now_ms += INT64_C(13) * 24 * 3600 * 1000;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE deleted_ms > 0"), 1, "it is kept for a while");
    live.now_ms += INT64_C(2) * 24 * 3600 * 1000;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE deleted_ms > 0"), 0, "and gone after 14 days");
    check_int(live_number(&live, "SELECT count(*) FROM workloads"), 1, "what lives stays");
    check_int(live_number(&live, "SELECT count(*) FROM events WHERE reason = 'Killing'"), 0, "its events go with it");
    live_close(&live);
}

static void test_node_loss(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "job", .project = "team-a"});
    live_run(&live);
    check_text(live_text(&live, "SELECT node_name FROM pods"), "node0", "it runs on node0");
    live_add_node(&live, "node0", 2, false);
    live_run(&live);
    check_text(live_text(&live, "SELECT status || ' ' || reason FROM pods WHERE attempt = 0"), "Failed NodeLost",
               "its pod is lost with the node");
    check_text(live_text(&live, "SELECT node_name FROM pods WHERE status = 'Running'"), "node1", "and runs elsewhere");
    check_int(live_number(&live, "SELECT failed_count FROM workloads"), 0, "which counts as no failure of its own");
    live_submit(&live, &(struct live_spec){.name = "wide", .project = "team-b", .gpus = 2});
    live_run(&live);
    check_text(live_phase(&live, "wide"), "Pending", "no room without the node");
    live_add_node(&live, "node0", 2, true);
    live_run(&live);
    check_text(live_phase(&live, "wide"), "Running", "it recovers");
    live_remove_node(&live, "node0");
    live_run(&live);
    check_text(live_phase(&live, "wide"), "Pending", "a removed node takes its pods with it");
    check_int(live_events(&live, "wide", "NodeLost"), 1, "and says so");
    live_check(&live, "node loss");
    live_close(&live);
}

static void test_gang_with_a_lost_pod(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "gang", .project = "team-a", .workers = 4});
    live_run(&live);
    check_text(live_phase(&live, "gang"), "Running", "a gang of four fills both nodes");
    live_add_node(&live, "node1", 2, false);
    live_run(&live);
    check_text(live_phase(&live, "gang"), "Degraded", "half of it is lost");
    live_advance(&live, 59000);
    check_text(live_phase(&live, "gang"), "Degraded", "it has a minute to become whole");
    live_advance(&live, 3000);
    check_text(live_phase(&live, "gang"), "Pending", "then the rest is stopped");
    check_int(live_events(&live, "gang", "StaleJob"), 2, "and says why");
    live_add_node(&live, "node1", 2, true);
    live_run(&live);
    check_text(live_phase(&live, "gang"), "Running", "with the node it comes back whole");
    live_check(&live, "gang");
    live_close(&live);
}

static void test_distributed_completion(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){
                    .name = "gang", .project = "team-a", .workers = 3, .annotations = ANNOTATION("duration", "20s")});
    live_advance(&live, 22000);
    check_text(live_phase(&live, "gang"), "Completed", "it completes when all workers have");
    live_close(&live);
}

// Those left would wait for a gang that is never whole again.
static void test_distributed_half_completion(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live,
                &(struct live_spec){
                    .name = "gang", .project = "team-a", .workers = 4, .annotations = ANNOTATION("duration", "20s")});
    live_run(&live);
    live_advance(&live, 18000);
    live_add_node(&live, "node1", 2, false);
    live_advance(&live, 4000);
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Succeeded'"), 2, "half of it ended well");
    check_text(live_phase(&live, "gang"), "Pending", "all of it waits for room");
    check_int(live_events(&live, "gang", "Restarted"), 2, "and says what starts again");
    live_add_node(&live, "node1", 2, true);
    live_advance(&live, 5000);
    check_text(live_phase(&live, "gang"), "Running", "it starts whole");
    live_advance(&live, 20000);
    check_text(live_phase(&live, "gang"), "Completed", "and completes");
    check_int(live_number(&live, "SELECT max(attempt) FROM pods"), 1, "in its second attempt");
    live_check(&live, "half completion");
    live_close(&live);
}

// Pods beyond the minimum that never came up are not waited for when the others are done.
static void test_elastic_completion(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "gang",
                                           .project = "team-a",
                                           .workers = 6,
                                           .min_pods = 3,
                                           .annotations = ANNOTATION("duration", "20s")});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Running'"), 4, "four of six have room");
    live_advance(&live, 22000);
    check_text(live_phase(&live, "gang"), "Completed", "four ended well, and that is gang enough");
    check_int(live_number(&live, "SELECT max(attempt) FROM pods"), 0, "nothing started again");
    live_check(&live, "elastic completion");
    live_close(&live);
}

static void test_terminate_after_preemption(void)
{
    struct live live;
    open_small(&live);
    for (int i = 0; i < 4; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "a%d", i),
                                               .project = "team-a",
                                               .terminate_after_preemption = true});
    live_run(&live);
    live_submit(&live, &(struct live_spec){.name = "b", .project = "team-b", .gpus = 1});
    live_run(&live);
    check_text(live_phase(&live, "b"), "Running", "the owner takes its share back");
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE phase = 'Failed'"), 1,
              "what was preempted does not come back");
    live_close(&live);
}

static void test_namesakes(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){.name = "same", .project = "team-a"});
    live_submit(&live, &(struct live_spec){.name = "same", .project = "team-b"});
    live_submit(&live, &(struct live_spec){.name = "same-x", .project = "team-b"});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE phase = 'Running'"), 3,
              "workloads of one name in two projects run side by side");
    live_check(&live, "namesakes");
    live_close(&live);
}

static void test_shared_devices(void)
{
    struct live live;
    open_small(&live);
    for (int i = 0; i < 3; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "half%d", i),
                                               .project = "team-a",
                                               .portion_milli = 500});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Running'"), 3, "three halves run");
    check_int(live_number(&live, "SELECT count(DISTINCT node_id || gpu_indices_json) FROM pods"), 2,
              "two of them on one device");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE gpu_groups_json = '[]'"), 0, "each in its group");
    check_int(live_number(&live, "SELECT sum(gpu_allocated_milli) FROM workloads"), 1500, "a half each");
    live_crash(&live);
    live_run(&live);
    live_submit(&live, &(struct live_spec){.name = "half3", .project = "team-a", .portion_milli = 500});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(DISTINCT node_id || gpu_indices_json) FROM pods"), 2,
              "after a restart the fourth joins the third");
    live_check(&live, "shared devices");
    live_close(&live);
}

static void test_node_pools(void)
{
    struct live live;
    open_small(&live);
    live_add_pool(&live, "fast");
    live_add_node(&live, "fast-0", 2, true);
    live_submit(&live, &(struct live_spec){.name = "f", .project = "team-a", .gpus = 2, .node_pools = "[\"fast\"]"});
    live_submit(&live, &(struct live_spec){
                           .name = "g", .project = "team-a", .gpus = 2, .node_pools = "[\"fast\",\"default\"]"});
    live_submit(&live, &(struct live_spec){.name = "h", .project = "team-a", .node_pools = "[\"fast\"]"});
    live_submit(&live, &(struct live_spec){.name = "d", .project = "team-a"});
    live_run(&live);
    check_text(live_text(&live, "SELECT current_node_pools_json FROM workloads WHERE name = 'f'"), "[\"fast\"]",
               "where it asked for");
    check_text(live_text(&live, "SELECT current_node_pools_json FROM workloads WHERE name = 'g'"), "[\"default\"]",
               "in its second choice, as the first is full");
    check_text(live_text(&live, "SELECT current_node_pools_json FROM workloads WHERE name = 'd'"), "[\"default\"]",
               "without a wish in the default pool");
    check_text(live_phase(&live, "h"), "Pending", "only where it asked for");
    check_int(live_number(&live, "SELECT q.gpu_allocated_milli FROM queues q JOIN projects p ON p.id = q.owner_id JOIN"
                                 " node_pools n ON n.id = q.node_pool_id WHERE q.owner_kind = 'project' AND p.name ="
                                 " 'team-a' AND n.name = 'fast'"),
              2000, "each pool has its own figures");
    live_close(&live);
}

static void test_deletion_of_a_project(void)
{
    struct live live;
    open_small(&live);
    live_submit(&live, &(struct live_spec){
                           .name = "job", .project = "team-a", .annotations = ANNOTATION("stop-duration", "10s")});
    live_run(&live);
    live_delete_project(&live, "team-a");
    live_run(&live);
    check_text(live_text(&live, "SELECT phase FROM projects WHERE name = 'team-a'"), "Deleting",
               "while it has workloads");
    live_advance(&live, 11000);
    check_int(live_number(&live, "SELECT count(*) FROM projects WHERE name = 'team-a'"), 0, "gone with the last one");
    check_int(live_number(&live, "SELECT deleted_ms > 0 FROM workloads"), 1, "which is deleted");
    live_check(&live, "project");
    live_close(&live);
}

int main(void)
{
    test_shared_devices();
    test_node_pools();
    test_deletion_of_a_project();
    test_phases_and_events();
    test_suspend_and_resume();
    test_suspend_and_resume_of_what_waits();
    test_completion();
    test_failure_and_backoff();
    test_clock_set_back();
    test_gang_and_a_clock_set_back();
    test_restart_policy();
    test_limits();
    test_deletion();
    test_node_loss();
    test_gang_with_a_lost_pod();
    test_distributed_completion();
    test_distributed_half_completion();
    test_elastic_completion();
    test_terminate_after_preemption();
    test_namesakes();
    return check_finish();
}
