// What people have used of a project that is fair among them, from what was recorded; and what comes of it: two people
// who always have work waiting get the same, whatever they submit. scheduler.md, 3.6.
#include "base/error.h"
#include "reconciler/world/people_usage.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS (INT64_C(60) * 1000)
#define HOUR_MS (60 * MINUTE_MS)
#define STEP_MS (20 * MINUTE_MS)

static int reserve(struct db_conn *conn, void *context, struct error *err)
{
    sqlite3_stmt *stmt;
    (void)context;
    if (db_prepare_once(conn, "UPDATE node_pools SET settings_json = '{\"reservation\":true}', revision = ?", &stmt,
                        err) < 0)
        return -1;
    db_bind_int(stmt, 1, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_NODE_POOL, 1);
    return rc;
}

static void jump(struct live *live, int64_t ms)
{
    live_advance(live, 2000); // what is held is noted each second
    live->now_ms += ms - 2000;
    live_run(live);
}

// In thousandths, as the latest cycle saw it; 0 where it says nothing of them.
static int64_t use_of(struct live *live, const char *person)
{
    const struct reconciler_view *view = reconciler_acquire_view(live->reconciler);
    int64_t use = 0;
    for (size_t p = 0; p < view->snapshot->project_count; p++) {
        const struct snapshot_project *project = &view->snapshot->projects[p];
        for (size_t i = 0; i < project->person_count; i++)
            if (strcmp(project->name, "team-a") == 0 && strcmp(project->people[i].name, person) == 0)
                use = project->people[i].use_gpu_hours_milli;
    }
    reconciler_release_view(live->reconciler, view);
    return use;
}

static void check_use(struct live *live, const char *person, double gpu_hours, const char *what)
{
    int64_t got = use_of(live, person);
    check_true(fabs((double)got / 1000 - gpu_hours) <= 0.03, "%s: %s has %" PRId64 " thousandths, want %.3f hours",
               what, person, got, gpu_hours);
}

static void test_use(void)
{
    struct live live = {0};
    live_open(&live, 1, 8);
    live_add_project(&live, "team-a", 8);
    live_set_rules(&live, "team-a", "{\"fairAmongPeople\":true,\"fairHalfLifeSeconds\":14400}");
    live_submit(&live, &(struct live_spec){.name = "a", .project = "team-a", .gpus = 4, .person = "ann"});
    live_submit(&live, &(struct live_spec){.name = "b", .project = "team-a", .gpus = 1, .person = "bob"});
    live_run(&live);
    jump(&live, 6 * HOUR_MS);
    live_delete(&live, "a");
    live_run(&live);
    jump(&live, 2 * HOUR_MS);
    double ann = people_usage_of(4, 0, 6 * HOUR_MS, 8 * HOUR_MS, 4 * HOUR_MS);
    double bob = people_usage_of(1, 0, 8 * HOUR_MS, 8 * HOUR_MS, 4 * HOUR_MS);
    check_use(&live, "ann", ann, "six hours, two hours ago");
    check_use(&live, "bob", bob, "still held");
    live_crash(&live);
    live_run(&live);
    check_use(&live, "ann", ann, "read again after a crash");
    check_use(&live, "bob", bob, "read again after a crash");
    live_set_rules(&live, "team-a", "{\"fairAmongPeople\":true,\"fairHalfLifeSeconds\":36000}");
    check_use(&live, "ann", people_usage_of(4, 0, 6 * HOUR_MS, 8 * HOUR_MS, 10 * HOUR_MS), "another half-life");
    live_set_rules(&live, "team-a", "{\"fairAmongPeople\":false}");
    check_int(use_of(&live, "ann"), 0, "switched off");
    live_set_rules(&live, "team-a", "{\"fairAmongPeople\":true}");
    check_use(&live, "ann", people_usage_of(4, 0, 6 * HOUR_MS, 8 * HOUR_MS, 7 * 24 * HOUR_MS), "seven days by itself");
    live_close(&live);
}

struct habit { // of a person
    const char *name;
    int least_gpus, most_gpus;
    int least_minutes, most_minutes;
    int waiting; // so many of theirs are always there beside what runs
};

struct week {
    const char *name;
    struct habit habits[3];
    int people;
};

static const struct week WEEKS[] = {
    {"many small and few large", {{"ann", 1, 1, 10, 60, 30}, {"bob", 4, 8, 60, 600, 2}}, 2},
    {"short and long", {{"ann", 1, 2, 10, 20, 10}, {"bob", 1, 2, 600, 1440, 4}}, 2},
    {"three of a kind", {{"ann", 1, 2, 30, 90, 9}, {"bob", 2, 4, 30, 90, 6}, {"cy", 1, 8, 10, 300, 9}}, 3},
};

static int between(uint64_t *dice, int least, int most)
{
    *dice = *dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return least + (int)((*dice >> 33) % (uint64_t)(most - least + 1));
}

static void top_up(struct live *live, const struct habit *habit, uint64_t *dice, int *next)
{
    int64_t waiting = live_number(live, arena_printf(&live->arena,
                                                     "SELECT count(*) FROM workloads WHERE created_by = '%s' AND "
                                                     "deleted_ms = 0 AND phase IN ('Creating', 'Pending')",
                                                     habit->name));
    for (; waiting < habit->waiting; waiting++)
        live_submit(live, &(struct live_spec){
                              .name = arena_printf(&live->arena, "%s-%d", habit->name, (*next)++),
                              .project = "team-a",
                              .person = habit->name,
                              .gpus = between(dice, habit->least_gpus, habit->most_gpus),
                              .auto_delete_ms = MINUTE_MS,
                              .annotations = arena_printf(&live->arena,
                                                          "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"%dm\"}]",
                                                          between(dice, habit->least_minutes, habit->most_minutes)),
                          });
}

static double gpu_hours_of(struct live *live, const char *person)
{
    return (double)live_number(live, arena_printf(&live->arena,
                                                  "SELECT sum(gpu_milli * (iif(ended_ms > 0, ended_ms, %" PRId64
                                                  ") - started_ms)) / 3600000 FROM allocations WHERE person = '%s'",
                                                  live->now_ms, person)) /
           1000;
}

static void test_week(const struct week *week)
{
    struct live live = {0};
    struct error err = {0};
    uint64_t dice = 1;
    int next = 0;
    live_open(&live, 2, 8);
    live_add_project(&live, "team-a", 16);
    check_int(db_write(live.db, reserve, NULL, &err), 0, "%s", err.message);
    live_set_rules(&live, "team-a", "{\"fairAmongPeople\":true}");
    for (int64_t passed = 0; passed < 7 * 24 * HOUR_MS; passed += STEP_MS) {
        for (int i = 0; i < week->people; i++)
            top_up(&live, &week->habits[i], &dice, &next);
        live.now_ms += STEP_MS;
        live_run(&live);
        arena_clear(&live.arena);
    }
    double most = 0, least = INFINITY;
    for (int i = 0; i < week->people; i++) {
        double hours = gpu_hours_of(&live, week->habits[i].name);
        most = fmax(most, hours);
        least = fmin(least, hours);
    }
    check_true(least > 100 && most - least <= 0.05 * most, "%s: from %.1f to %.1f GPU hours", week->name, least, most);
    live_check(&live, week->name);
    live_close(&live);
}

int main(void)
{
    test_use();
    // Where a sanitizer makes programs slow, the first alone.
    size_t weeks = check_sample(10 * COUNT(WEEKS)) < 10 * COUNT(WEEKS) ? 1 : COUNT(WEEKS);
    for (size_t i = 0; i < weeks; i++)
        test_week(&WEEKS[i]);
    return check_finish();
}
