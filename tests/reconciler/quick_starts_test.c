// The public quick starts and the preemption exercise, at the level of rows.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

static int64_t running(struct live *live, const char *project)
{
    return live_number(live, arena_printf(&live->arena,
                                          "SELECT count(*) FROM workloads WHERE project_name = '%s' AND phase ="
                                          " 'Running' AND deleted_ms = 0",
                                          project));
}

static void submit(struct live *live, const char *name, const char *project, int gpus)
{
    live_submit(live, &(struct live_spec){.name = name, .project = project, .gpus = gpus});
    live_run(live);
    live_check(live, name);
}

static void test_over_quota_and_reclaim(void)
{
    struct live live = {0};
    live_open(&live, 2, 2);
    live_add_project(&live, "team-a", 2);
    live_add_project(&live, "team-b", 2);
    submit(&live, "a1", "team-a", 1);
    submit(&live, "a2", "team-a", 2);
    submit(&live, "b1", "team-b", 1);
    check_text(live_phase(&live, "a1"), "Running", "a1 runs");
    check_text(live_phase(&live, "a2"), "Running", "a2 runs, over quota");
    check_text(live_phase(&live, "b1"), "Running", "b1 runs");
    check_int(live_number(&live, "SELECT gpu_allocated_milli FROM queues q JOIN projects p ON p.id = q.owner_id"
                                 " WHERE owner_kind = 'project' AND p.name = 'team-a'"),
              3000, "team-a is allocated 3 GPUs");
    live_advance(&live, 1000);
    submit(&live, "b2", "team-b", 1);
    check_text(live_phase(&live, "b2"), "Running", "b2 takes back what team-b is due");
    check_text(live_phase(&live, "a1"), "Pending", "a1 gives way");
    check_text(live_phase(&live, "a2"), "Running", "a2 stays");
    check_int(live_events(&live, "a1", "Preempted"), 1, "a1 was preempted once");
    check_int(live_events(&live, "a2", "Preempted"), 0, "a2 was not");
    check_true(strstr(live_text(&live, "SELECT message FROM events WHERE reason = 'Preempted'"),
                      "Yields to \003b2\004 of project \001team-b\004") != NULL,
               "the event names who it yields to");
    check_true(*live_text(&live, "SELECT explanation_json FROM workloads WHERE name = 'a1'") == '{',
               "a1 is told why it waits");
    check_int(live_events(&live, "a1", "Unschedulable") > 0, 1, "and so does an event");
    live_delete(&live, "a2");
    live_run(&live);
    check_text(live_phase(&live, "a1"), "Running", "a1 runs again when a2 is deleted");
    check_text(live_text(&live, "SELECT explanation_json FROM workloads WHERE name = 'a1'"), "",
               "nothing to explain any more");
    check_int(live_number(&live, "SELECT deleted_ms > 0 FROM workloads WHERE name = 'a2'"), 1, "a2 is deleted");
    live_check(&live, "at the end");
    live_close(&live);
}

static void test_consolidation(void)
{
    struct live live = {0};
    live_open(&live, 2, 2);
    live_add_project(&live, "team-a", 4);
    submit(&live, "x1", "team-a", 1);
    submit(&live, "x2", "team-a", 1);
    submit(&live, "y1", "team-a", 1);
    live_delete(&live, "x1");
    live_run(&live);
    submit(&live, "big", "team-a", 2);
    live_advance(&live, 2000);
    check_text(live_phase(&live, "big"), "Running", "the two-GPU job runs");
    check_int(running(&live, "team-a"), 3, "and the moved one runs elsewhere");
    check_int(live_number(&live, "SELECT count(*) FROM events WHERE reason = 'Consolidated'"), 1, "one was moved");
    live_close(&live);
}

static void test_alternation(void)
{
    struct live live = {0};
    live_open(&live, 2, 2);
    live_add_project(&live, "team-a", 1);
    live_add_project(&live, "team-b", 1);
    for (int i = 1; i <= 4; i++)
        submit(&live, arena_printf(&live.arena, "a%d", i), "team-a", 1);
    check_int(running(&live, "team-a"), 4, "four jobs of team-a fill the cluster");
    for (int i = 1; i <= 4; i++)
        submit(&live, arena_printf(&live.arena, "b%d", i), "team-b", 1);
    live_advance(&live, 2000);
    check_int(running(&live, "team-a"), 2, "team-a keeps two");
    check_int(running(&live, "team-b"), 2, "team-b gets two");
    live_delete(&live, "b1");
    live_run(&live);
    check_int(running(&live, "team-b"), 2, "the next of team-b enters");
    check_int(running(&live, "team-a"), 2, "team-a stays at two");
    live_check(&live, "alternation");
    live_close(&live);
}

static void test_preemption_of_a_gang(void)
{
    struct live live = {0};
    live_open(&live, 1, 8);
    live_add_project(&live, "project-a", 4);
    live_add_project(&live, "project-b", 4);
    live_submit(&live, &(struct live_spec){.name = "train", .project = "project-a", .workers = 8});
    live_run(&live);
    check_text(live_phase(&live, "train"), "Running", "a gang of eight runs over quota");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Running'"), 8, "whole");
    live_submit(&live, &(struct live_spec){.name = "notebook", .project = "project-b", .non_preemptible = true});
    live_run(&live);
    check_text(live_phase(&live, "notebook"), "Running", "the owner's workspace runs");
    check_text(live_phase(&live, "train"), "Pending", "the gang waits");
    check_int(live_number(&live, "SELECT count(*) FROM pods p JOIN workloads w ON w.id = p.workload_id WHERE w.name ="
                                 " 'train' AND p.status IN ('Running', 'Releasing', 'Binding')"),
              0, "no pod of it is left");
    check_int(live_events(&live, "train", "Preempted"), 8, "every pod of it was preempted");
    live_delete(&live, "notebook");
    live_run(&live);
    check_text(live_phase(&live, "train"), "Running", "it resumes by itself");
    live_check(&live, "gang");
    live_close(&live);
}

int main(void)
{
    test_over_quota_and_reclaim();
    test_consolidation();
    test_alternation();
    test_preemption_of_a_gang();
    return check_finish();
}
