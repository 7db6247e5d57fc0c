// Time-based fair share fed from what was recorded: usage over a window, its half life, its new beginning; and what
// comes of it. scheduler.md, 2.6 and 2.7.
#include "base/error.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_MS (INT64_C(60) * 60 * 1000)
#define BEGIN "2023-11-14T22:13:20Z" // live_open's clock

struct setting_job {
    const char *json;
};

static int set(struct db_conn *conn, void *context, struct error *err)
{
    const struct setting_job *job = context;
    sqlite3_stmt *stmt;
    if (db_prepare_once(conn, "UPDATE node_pools SET time_based_fairshare_json = ?, revision = ?", &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, job->json);
    db_bind_int(stmt, 2, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_NODE_POOL, 1);
    return rc;
}

static void set_time_based(struct live *live, const char *json)
{
    struct error err = {0};
    struct setting_job job = {json};
    check_int(db_write(live->db, set, &job, &err), 0, "the pool's setting: %s", err.message);
}

static void jump(struct live *live, double hours)
{
    live_advance(live, 2000); // what is held is noted each second
    live->now_ms += (int64_t)(hours * HOUR_MS) - 2000;
    live_run(live);
}

// The usage that the latest cycle saw.
static int64_t usage_of(struct live *live, const char *name, enum resource resource)
{
    const struct reconciler_view *view = reconciler_acquire_view(live->reconciler);
    int64_t usage = -1;
    for (size_t i = 0; i < view->snapshot->project_count; i++)
        if (strcmp(view->snapshot->projects[i].name, name) == 0)
            usage = view->snapshot->projects[i].queues[0].usage_micro.of[resource];
    for (size_t i = 0; i < view->snapshot->department_count; i++)
        if (strcmp(view->snapshot->departments[i].name, name) == 0)
            usage = view->snapshot->departments[i].queues[0].usage_micro.of[resource];
    reconciler_release_view(live->reconciler, view);
    return usage;
}

static void check_near(int64_t got, int64_t want, const char *what, const char *name)
{
    check_true(llabs(got - want) <= 300, "%s: %s: %" PRId64 ", want %" PRId64, name, what, got, want);
}

struct usage_case {
    const char *name;
    const char *setting;
    double held_hours, idle_hours; // 4 of 10 GPUs, then none
    int64_t want_micro;
};

static const struct usage_case CASES[] = {
    {"24 of 100 GPU-hours", "{\"enabled\":true,\"windowDuration\":\"10h\"}", 6, 4, 240000},
    {"what has left the window is forgotten", "{\"enabled\":true,\"windowDuration\":\"5h\"}", 6, 4, 80000},
    {"all of it", "{\"enabled\":true,\"windowDuration\":\"5h\"}", 6, 5, 0},
    {"a window longer than the recorded past", "{\"enabled\":true,\"windowDuration\":\"7d\"}", 6, 4, 240000},
    {"the default window", "{\"enabled\":true}", 6, 4, 240000},
    // 0.4 * (2^-0.8 - 2^-2) / (1 - 2^-2)
    {"a half life of 5 hours", "{\"enabled\":true,\"windowDuration\":\"20h\",\"decayHalfLife\":\"5h\"}", 6, 4, 172986},
    {"a tumbling window before its end",
     "{\"enabled\":true,\"windowType\":\"tumbling\",\"windowDuration\":\"7h\",\"tumblingWindowStartTime\":\"" BEGIN
     "\"}",
     4, 2, 266667},
    {"a tumbling window that has begun again",
     "{\"enabled\":true,\"windowType\":\"tumbling\",\"windowDuration\":\"7h\",\"tumblingWindowStartTime\":\"" BEGIN
     "\"}",
     6, 4, 0},
    {"a tumbling window in the middle of what is held",
     "{\"enabled\":true,\"windowType\":\"tumbling\",\"windowDuration\":\"5h\",\"tumblingWindowStartTime\":\"" BEGIN
     "\"}",
     6, 3, 100000},
    {"off", "{\"enabled\":false,\"windowDuration\":\"10h\"}", 6, 4, 0},
    {"without weight", "{\"enabled\":true,\"historicalUsageWeight\":0}", 6, 4, 0},
    {"not there", NULL, 6, 4, 0},
};

static void test_usage(const struct usage_case *c)
{
    struct live live = {0};
    live_open(&live, 1, 10);
    live_add_project(&live, "team-a", 4);
    live_add_project(&live, "team-b", 0);
    set_time_based(&live, c->setting);
    live_submit(&live, &(struct live_spec){.name = "job", .project = "team-a", .gpus = 4});
    live_run(&live);
    jump(&live, c->held_hours);
    live_delete(&live, "job");
    live_run(&live);
    jump(&live, c->idle_hours);
    check_near(usage_of(&live, "team-a", RESOURCE_GPU), c->want_micro, "the project's", c->name);
    check_near(usage_of(&live, "research", RESOURCE_GPU), c->want_micro, "its department's", c->name);
    check_int(usage_of(&live, "team-b", RESOURCE_GPU), 0, "%s: who held nothing", c->name);
    // 0.1 of 64 cores, where 4 of 10 GPUs are held.
    check_near(usage_of(&live, "team-a", RESOURCE_CPU), c->want_micro / 256, "of the cores", c->name);
    live_crash(&live);
    live_run(&live);
    check_near(usage_of(&live, "team-a", RESOURCE_GPU), c->want_micro, "read again after a crash", c->name);
    // Without any change it is renewed each minute.
    const struct reconciler_view *view = reconciler_acquire_view(live.reconciler);
    int64_t cycle = view->cycle;
    reconciler_release_view(live.reconciler, view);
    jump(&live, 1);
    view = reconciler_acquire_view(live.reconciler);
    if (c->want_micro > 0)
        check_true(view->cycle > cycle, "%s: an hour later there was a cycle", c->name);
    reconciler_release_view(live.reconciler, view);
    live_close(&live);
}

// The setting comes into force at once, for a past that was recorded before it.
static void test_switched_on_later(void)
{
    struct live live = {0};
    live_open(&live, 1, 10);
    live_add_project(&live, "team-a", 4);
    live_submit(&live, &(struct live_spec){.name = "job", .project = "team-a", .gpus = 4});
    live_run(&live);
    jump(&live, 6);
    live_delete(&live, "job");
    live_run(&live);
    jump(&live, 4);
    set_time_based(&live, "{\"enabled\":true,\"windowDuration\":\"10h\"}");
    live_run(&live);
    check_near(usage_of(&live, "team-a", RESOURCE_GPU), 240000, "the recorded past", "switched on");
    set_time_based(&live, "{\"enabled\":true,\"windowDuration\":\"5h\"}");
    live_run(&live);
    check_near(usage_of(&live, "team-a", RESOURCE_GPU), 80000, "another window", "changed");
    set_time_based(&live, NULL);
    live_run(&live);
    check_int(usage_of(&live, "team-a", RESOURCE_GPU), 0, "switched off");
    live_close(&live);
}

struct yield_case {
    const char *name;
    const char *setting;
    int64_t want_a, want_b; // GPUs
};

// Neither deserves any; weights are equal; team-a held everything for ten hours.
static const struct yield_case YIELDS[] = {
    {"without the past they share", NULL, 2, 2},
    {"k = 1: who had it all has no over-quota share now", "{\"enabled\":true,\"historicalUsageWeight\":1}", 0, 4},
    {"a small k corrects less", "{\"enabled\":true,\"historicalUsageWeight\":0.1}", 2, 2},
};

static int64_t running_gpus(struct live *live, const char *project)
{
    return live_number(live, arena_printf(&live->arena,
                                          "SELECT sum(gpu_allocated_milli) / 1000 FROM workloads WHERE project_name ="
                                          " '%s' AND deleted_ms = 0",
                                          project));
}

static void test_yield(const struct yield_case *c)
{
    struct live live = {0};
    live_open(&live, 1, 4);
    live_add_project(&live, "team-a", 0);
    live_add_project(&live, "team-b", 0);
    set_time_based(&live, c->setting);
    for (int i = 0; i < 6; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "a%d", i), .project = "team-a"});
    live_run(&live);
    check_int(running_gpus(&live, "team-a"), 4, "%s: alone, it has everything", c->name);
    jump(&live, 10);
    for (int i = 0; i < 6; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "b%d", i), .project = "team-b"});
    live_run(&live);
    live_advance(&live, 10000);
    check_int(running_gpus(&live, "team-a"), c->want_a, "%s: team-a", c->name);
    check_int(running_gpus(&live, "team-b"), c->want_b, "%s: team-b", c->name);
    live_check(&live, c->name);
    live_close(&live);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        test_usage(&CASES[i]);
    test_switched_on_later();
    for (size_t i = 0; i < COUNT(YIELDS); i++)
        test_yield(&YIELDS[i]);
    return check_finish();
}
