// What is used of a budget of GPU hours is what allocations say, to the millisecond, whatever happens to the work, the
// clock and the server; and who is over it is kept within the quota. docs/rules.md.
#include "base/error.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_MS (INT64_C(60) * 60 * 1000)

static int64_t project_id(struct live *live)
{
    return live_number(live, "SELECT id FROM projects WHERE name = 'team-a'");
}

static struct budget_state read_budget(struct live *live, struct arena *arena)
{
    struct budget_state state = {0};
    check_true(reconciler_read_budget(live->reconciler, project_id(live), arena, &state), "it has a budget");
    return state;
}

static int64_t allocated(struct live *live, const struct budget_state *state, const char *person)
{
    char sql[512];
    snprintf(sql, sizeof(sql),
             "SELECT coalesce(sum(gpu_milli * (iif(ended_ms > 0, ended_ms, %" PRId64 ") - max(started_ms, %" PRId64
             "))), 0) FROM allocations WHERE project_id = %" PRId64 " AND (ended_ms = 0 OR ended_ms > %" PRId64
             ") AND '%s' IN ('', person)",
             live->now_ms, state->start_ms, project_id(live), state->start_ms, person);
    return live_number(live, sql);
}

static void check_hours(struct live *live, int step, const char *what)
{
    struct arena arena;
    arena_init(&arena);
    struct budget_state state = read_budget(live, &arena);
    check_int(state.whole.used_milli_ms, allocated(live, &state, ""), "step %d, %s: of the project", step, what);
    for (size_t i = 0; i < state.people_count; i++)
        check_int(state.people[i].used_milli_ms, allocated(live, &state, state.people[i].name), "step %d, %s: of %s",
                  step, what, state.people[i].name);
    check_true(live->now_ms >= state.start_ms && live->now_ms < state.end_ms, "step %d: the present period", step);
    arena_done(&arena);
}

static uint64_t next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

enum {
    MOST = 12
};
struct works {
    int names[MOST]; // of those that are there; 0: none
    int named;
};

// One thing that happens; what it was.
static const char *happen(struct live *live, struct works *works, uint64_t *random, int step)
{
    static const char *const PEOPLE[] = {"ann", "bob", "cy"};
    char name[32];
    int *work = &works->names[next(random) % MOST];
    snprintf(name, sizeof(name), "w%d", *work ? *work : works->named + 1);
    switch (next(random) % 8) {
    case 0:
    case 1:
        if (*work)
            live_delete(live, name);
        else
            live_submit(live, &(struct live_spec){.name = name,
                                                  .project = "team-a",
                                                  .gpus = 1 + (int)(next(random) % 3),
                                                  .person = PEOPLE[next(random) % 3]});
        *work = *work ? 0 : ++works->named;
        live_run(live);
        return "submitted or deleted";
    case 2:
        if (*work)
            live_suspend(live, name);
        live_run(live);
        return "suspended";
    case 3:
        if (*work)
            live_resume(live, name);
        live_run(live);
        return "resumed";
    case 4:
        live_crash(live);
        live_run(live);
        return "crashed";
    case 5:
        live->now_ms += (int64_t)(next(random) % (30 * HOUR_MS));
        live_run(live);
        return "waited long";
    case 6:
        live_add_node(live, "node-1", 4, step % 2 == 0);
        live_run(live);
        return "lost a node, or got it back";
    default:
        live_advance(live, 1 + (int64_t)(next(random) % 5000));
        return "waited";
    }
}

static void test_lives(uint64_t seed)
{
    struct live live = {0};
    struct works works = {0};
    uint64_t random = seed;
    live_open(&live, 2, 4);
    live_add_project(&live, "team-a", 4);
    live_set_rules(&live, "team-a", "{\"gpuHourBudget\":100,\"gpuHourBudgetPerPerson\":40,\"budgetPeriod\":\"week\"}");
    for (int step = 0; step < 150; step++)
        check_hours(&live, step, happen(&live, &works, &random, step));
    live_close(&live);
}

static void test_kept_within_the_quota(void)
{
    struct live live = {0};
    live_open(&live, 2, 4);
    live_add_project(&live, "team-a", 2);
    live_set_rules(&live, "team-a", "{\"gpuHourBudget\":4}");
    live_submit(&live, &(struct live_spec){.name = "within", .project = "team-a", .gpus = 2});
    live_submit(&live, &(struct live_spec){.name = "beyond", .project = "team-a", .gpus = 2});
    live_run(&live);
    check_text(live_phase(&live, "beyond"), "Running", "there are hours left");
    live_advance(&live, 5000);
    live.now_ms += HOUR_MS - 5001;
    live_run(&live);
    live_suspend(&live, "beyond");
    live_run(&live);
    live_advance(&live, 5000);
    live_resume(&live, "beyond");
    live_run(&live);
    live_advance(&live, 5000);
    check_text(live_phase(&live, "within"), "Running", "what runs goes on");
    check_text(live_phase(&live, "beyond"), "Pending", "used up meanwhile");
    check_int(
        live_number(&live, "SELECT count(*) FROM events WHERE reason = 'BudgetUsedUp' AND object_kind = 'Project'"), 1,
        "it is told");
    live_set_rules(&live, "team-a", "{\"gpuHourBudget\":4000}");
    live_advance(&live, 5000);
    check_text(live_phase(&live, "beyond"), "Running", "a larger budget");
    live_close(&live);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        test_lives(seed);
    test_kept_within_the_quota();
    return check_finish();
}
