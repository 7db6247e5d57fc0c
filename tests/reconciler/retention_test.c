// What the database keeps: by age, and by size where it is over its bound; totals of what was held never change.
#include "base/buffer.h"
#include "base/error.h"
#include "db/usage_days.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define DAY_MS (24 * 60 * MINUTE_MS)

static void open_bounded(struct live *live, int64_t bound_bytes)
{
    *live = (struct live){.options.retention.bound_bytes = bound_bytes};
    live_open(live, 2, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 2);
}

static void run_and_delete(struct live *live, const char *name, const char *project, int64_t ran_ms)
{
    live_submit(live, &(struct live_spec){.name = name, .project = project});
    live_run(live);
    live->now_ms += ran_ms;
    live_run(live);
    live_delete(live, name);
    live_run(live);
}

// All that was held until a moment, in one text.
static const char *usage_until(struct live *live, int64_t now_ms)
{
    struct usage_day *days;
    size_t count;
    struct error err = {0};
    struct buffer text;
    struct db_conn *conn = db_acquire(live->db);
    check_int(db_list_usage(conn, 0, now_ms, now_ms, &live->arena, &days, &count, &err), 0, "%s", err.message);
    db_give_back(live->db, conn);
    buffer_init(&text, 0);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&text, "%" PRId64 " %s %s %s %" PRId64 " %" PRId64 " %" PRId64 "\n", days[i].day_ms / DAY_MS,
                      days[i].project_name, days[i].node_pool_name, days[i].person, days[i].gpu_milli_ms,
                      days[i].cpu_milli_ms, days[i].memory_mib_ms);
    const char *copy = arena_strdup(&live->arena, text.data);
    buffer_done(&text);
    return copy;
}

static void test_the_last_sample_of_what_lives_stays(void)
{
    struct live live;
    open_bounded(&live, 0);
    live_submit(&live, &(struct live_spec){.name = "long", .project = "team-a"});
    live_run(&live);
    live_advance(&live, 3000);
    live_suspend(&live, "long");
    live_run(&live);
    live_resume(&live, "long");
    live_advance(&live, 3000);
    static const char COUNT_SQL[] =
        "SELECT count(*) FROM samples WHERE scope = 'workload' AND metric = 'RUNNING_POD_COUNT'";
    check_int(live_number(&live, COUNT_SQL) > 1, 1, "a series of several values");
    live.now_ms += 31 * DAY_MS;
    live_run(&live);
    check_int(live_number(&live, COUNT_SQL), 1, "of which one is left after 30 days");
    check_int(live_number(&live, "SELECT value FROM samples WHERE scope = 'workload' AND metric = "
                                 "'RUNNING_POD_COUNT'"),
              1, "the last: it still runs");
    check_int(live_events(&live, "long", "Started"), 0, "its events are over");
    check_text(live_phase(&live, "long"), "Running", "it is not");
    live_close(&live);
}

static void test_totals_stay_when_allocations_go(void)
{
    struct live live;
    open_bounded(&live, 0);
    run_and_delete(&live, "short", "team-a", 90 * MINUTE_MS);
    run_and_delete(&live, "days", "team-b", 3 * DAY_MS + 7);
    live_submit(&live, &(struct live_spec){.name = "runs", .project = "team-a"});
    live_run(&live);
    live.now_ms += DAY_MS;
    live_run(&live);
    int64_t then_ms = live.now_ms;
    const char *before = usage_until(&live, then_ms);
    check_int(live_number(&live, "SELECT count(*) FROM allocations"), 3, "three have held devices");
    live.now_ms += 34 * DAY_MS;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE deleted_ms > 0"), 0, "their workloads go");
    check_int(live_number(&live, "SELECT count(*) FROM allocations"), 3, "they stay");
    check_text(usage_until(&live, then_ms), before, "with their totals");
    live.now_ms += 60 * DAY_MS;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM allocations"), 1, "after 90 days they go as well");
    check_text(usage_until(&live, then_ms), before, "and the totals are the same");
    live_crash(&live);
    live_run(&live);
    check_text(usage_until(&live, then_ms), before, "also after a crash");
    check_int(live_number(&live, "SELECT sum(gpu_milli_ms) FROM usage_days"), 1000 * (90 * MINUTE_MS + 3 * DAY_MS + 7),
              "to the millisecond");
    live_close(&live);
}

static void test_size_wins_but_not_over_what_lives(void)
{
    struct live live;
    struct buffer health;
    open_bounded(&live, 1); // whatever is there is too much
    live_submit(&live, &(struct live_spec){.name = "runs", .project = "team-a"});
    run_and_delete(&live, "gone", "team-b", MINUTE_MS);
    live_submit(&live, &(struct live_spec){.name = "waits", .project = "team-a", .gpus = 64});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE name = 'gone'"), 1, "it is seen to be deleted");
    live.now_ms += 2 * MINUTE_MS;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM workloads WHERE name = 'gone'"), 0, "then it goes");
    check_int(live_number(&live, "SELECT count(*) FROM samples s WHERE scope = 'workload' AND NOT EXISTS"
                                 " (SELECT 1 FROM workloads w WHERE w.id = s.scope_id)"),
              0, "with its figures");
    check_text(live_phase(&live, "runs"), "Running", "what runs stays");
    check_text(live_phase(&live, "waits"), "Pending", "and what waits");
    check_int(live_number(&live, "SELECT count(*) FROM events WHERE reason = 'RemovedBySize'"), 1, "it is said once");
    buffer_init(&health, 0);
    reconciler_write_health(live.reconciler, &health);
    check_int(strstr(health.data, "over its bound") != NULL, 1, "that it is not enough is said");
    buffer_done(&health);
    live.now_ms += 34 * DAY_MS;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM allocations WHERE ended_ms > 0"), 1, "35 days are kept");
    live.now_ms += 2 * DAY_MS;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM allocations WHERE ended_ms > 0"), 0, "and no more");
    check_int(live_number(&live, "SELECT sum(gpu_milli_ms) FROM usage_days"), 1000 * MINUTE_MS, "but its sum");
    live_check(&live, "size wins");
    live_close(&live);
}

// A number that a row had is never another's: allocations and sums name rows that are gone.
static void test_numbers_are_not_given_twice(void)
{
    struct live live;
    open_bounded(&live, 1);
    live_submit(&live, &(struct live_spec){.name = "first", .project = "team-a"});
    live_submit(&live, &(struct live_spec){.name = "last", .project = "team-a"});
    live_run(&live);
    live_suspend(&live, "first");
    live_run(&live);
    live_resume(&live, "first"); // its pod is the newest now
    live_run(&live);
    int64_t id = live_number(&live, "SELECT max(id) FROM workloads");
    int64_t pod_id = live_number(&live, "SELECT max(id) FROM pods");
    live_delete(&live, "first");
    live_delete(&live, "last");
    live_run(&live);
    live.now_ms += 2 * MINUTE_MS;
    live_run(&live);
    live_submit(&live, &(struct live_spec){.name = "second", .project = "team-a"});
    live_run(&live);
    check_int(live_number(&live, "SELECT id FROM workloads WHERE name = 'second'") > id, 1, "a workload's");
    check_int(live_number(&live, "SELECT max(id) FROM pods") > pod_id, 1, "and a pod's");
    live_close(&live);
}

int main(void)
{
    test_the_last_sample_of_what_lives_stays();
    test_totals_stay_when_allocations_go();
    test_size_wins_but_not_over_what_lives();
    test_numbers_are_not_given_twice();
    return check_finish();
}
