// Where nothing has changed nothing is planned, and nothing comes out otherwise for it: the same random story, once
// with a plan in every turn and once only where something has changed or a time has come.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = 12,
    STEPS = 40
};

struct story {
    struct live live;
    uint64_t state;
    int submitted;
    bool is_ready;
};

static uint64_t roll(struct story *story, uint64_t sides)
{
    story->state ^= story->state << 13;
    story->state ^= story->state >> 7;
    story->state ^= story->state << 17;
    return story->state % sides;
}

static const char *const LIVES[] = {
    "[]",
    "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"7s\"}]",
    "[{\"name\":\"prorata.io/sim-stop-duration\",\"value\":\"4s\"}]",
    "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"3s\"},{\"name\":\"prorata.io/sim-exit-code\",\"value\":\"1\"}]",
};

static void submit(struct story *story)
{
    struct live_spec spec = {
        .name = arena_printf(&story->live.arena, "w%d", story->submitted++),
        .project = roll(story, 2) ? "team-a" : "team-b",
        .gpus = 1 + (int)roll(story, 2),
        .annotations = LIVES[roll(story, COUNT(LIVES))],
        .priority = roll(story, 4) ? 50 : 75,
        .non_preemptible = roll(story, 5) == 0,
        .time_limit_ms = roll(story, 5) ? 0 : 9000,
    };
    if (roll(story, 4) == 0) {
        spec.workers = 2 + (int)roll(story, 2);
        spec.min_pods = 1 + (int)roll(story, 2);
        spec.has_master = roll(story, 2) == 0;
        spec.gpus = 1;
    } else if (roll(story, 4) == 0) {
        spec.portion_milli = 500;
        spec.gpus = 1;
    }
    live_submit(&story->live, &spec);
}

static bool is_alive(struct story *story, const char *name)
{
    return live_number(&story->live, arena_printf(&story->live.arena,
                                                  "SELECT count(*) FROM workloads WHERE name = '%s' AND deleted_ms = 0"
                                                  " AND phase NOT IN ('Completed', 'Failed')",
                                                  name)) > 0;
}

static void step(struct story *story)
{
    struct live *live = &story->live;
    uint64_t what = roll(story, 9), which = roll(story, 1000), ms = 500 + roll(story, 9000);
    const char *name = arena_printf(&live->arena, "w%d", story->submitted ? (int)which % story->submitted : 0);
    if (what < 3)
        submit(story);
    else if (what == 3 && is_alive(story, name))
        live_delete(live, name);
    else if (what == 4 && is_alive(story, name))
        live_suspend(live, name);
    else if (what == 5 && is_alive(story, name))
        live_resume(live, name);
    else if (what == 6) {
        story->is_ready = !story->is_ready;
        live_add_node(live, "node1", 2, story->is_ready);
    } else {
        live_advance(live, (int64_t)ms);
    }
    live_run(live);
}

static void begin(struct story *story, uint64_t seed, bool plans_always)
{
    *story = (struct story){.state = seed * 0x9E3779B97F4A7C15ULL + 1, .is_ready = true};
    story->live.options.plans_always = plans_always;
    live_open(&story->live, 3, 2);
    live_add_project(&story->live, "team-a", 2);
    live_add_project(&story->live, "team-b", 3);
}

static const char *places(struct live *live)
{
    return live_text(live, "SELECT group_concat(name || ' ' || status || ' ' || coalesce(node_name, '-') || ' ' ||"
                           " gpu_indices_json, '; ') FROM (SELECT * FROM pods WHERE deleted_ms = 0 ORDER BY name,"
                           " attempt)");
}

static int64_t cycles_of(struct live *live)
{
    struct reconciler_stats stats;
    reconciler_get_stats(live->reconciler, &stats);
    return stats.cycles;
}

static void compare(uint64_t seed, int64_t *always, int64_t *shortcut)
{
    struct story *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
    begin(a, seed, true);
    begin(b, seed, false);
    bool is_same = true;
    for (int i = 0; i < STEPS && is_same; i++) {
        step(a);
        step(b);
        const char *wanted = places(&a->live), *got = places(&b->live);
        is_same = strcmp(wanted, got) == 0;
        check_text(got, wanted, "seed %" PRIu64 " step %d", seed, i);
    }
    *always += cycles_of(&a->live);
    *shortcut += cycles_of(&b->live);
    live_close(&a->live);
    live_close(&b->live);
    free(a);
    free(b);
}

// An hour in which nothing happens costs no plan, but what its times ask for.
static void test_quiet(void)
{
    struct live live = {0};
    live_open(&live, 3, 2);
    live_add_project(&live, "team-a", 2);
    for (int i = 0; i < 8; i++) // more than there is room for
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "w%d", i), .project = "team-a"});
    live_advance(&live, 30000);
    int64_t before = cycles_of(&live);
    live_advance(&live, 10 * 60 * 1000);
    check_int(cycles_of(&live), before, "ten minutes of nothing: no cycle");
    live_submit(&live, &(struct live_spec){.name = "new", .project = "team-a"});
    live_run(&live);
    check_true(cycles_of(&live) > before, "something: a cycle");
    live_close(&live);
}

int main(int argc, char **argv)
{
    int64_t always = 0, shortcut = 0;
    if (argc > 1)
        compare(strtoull(argv[1], NULL, 10), &always, &shortcut);
    for (uint64_t seed = 1; argc == 1 && seed <= check_sample(SEEDS); seed++)
        compare(seed, &always, &shortcut);
    check_true(shortcut < always, "cycles: %" PRId64 " always, %" PRId64 " with the shortcut", always, shortcut);
    test_quiet();
    return check_finish();
}
