// Random lives of a small cluster: submissions of all shapes, wishes, node failures, crashes, time. After each step
// what must always hold is checked; in the end all is deleted and nothing may be left. The seed of a failing run is
// printed; `random_test SEED` runs it alone.
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = 15,
    STEPS = 60,
    NODES = 3
};

static const uint64_t RESTLESS[] = {156, 372};

struct story {
    struct live live;
    uint64_t state;
    int submitted;
    bool is_ready[NODES];
};

static uint64_t roll(struct story *story, uint64_t sides)
{
    story->state ^= story->state << 13;
    story->state ^= story->state >> 7;
    story->state ^= story->state << 17;
    return story->state % sides;
}

static const char *LIVES[] = {
    "[]",
    "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"7s\"}]",
    "[{\"name\":\"prorata.io/sim-start-delay\",\"value\":\"3s\"}]",
    "[{\"name\":\"prorata.io/sim-stop-duration\",\"value\":\"4s\"}]",
    "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"3s\"},{\"name\":\"prorata.io/sim-exit-code\",\"value\":\"1\"}]",
};

// Of four workers, two needed at least.
static const char *const SHAPES[] = {
    "{\"minSubGroups\":1,\"subGroups\":[{\"name\":\"b\",\"workers\":2},{\"name\":\"a\",\"workers\":2}]}",
    "{\"subGroups\":[{\"name\":\"a\",\"workers\":3,\"minPods\":1},{\"name\":\"b\",\"workers\":1}]}",
    ("{\"subGroups\":[{\"name\":\"top\",\"minSubGroups\":1},{\"name\":\"b\",\"parent\":\"top\",\"workers\":2},"
     "{\"name\":\"a\",\"parent\":\"top\",\"workers\":2}]}"),
};

static void submit(struct story *story)
{
    struct live_spec spec = {
        .name = arena_printf(&story->live.arena, "w%d", story->submitted++),
        .project = roll(story, 2) ? "team-a" : "team-b",
        .gpus = 1 + (int)roll(story, 2),
        .annotations = LIVES[roll(story, COUNT(LIVES))],
        .backoff_limit = (int)roll(story, 3),
        .priority = roll(story, 4) ? 50 : 75,
    };
    switch (roll(story, 6)) {
    case 0:
        spec.workers = 2 + (int)roll(story, 3);
        spec.gpus = 1;
        if (spec.workers == 4 && roll(story, 2)) {
            spec.sub_groups = SHAPES[roll(story, COUNT(SHAPES))];
            spec.min_pods = 2;
        }
        break;
    case 1:
        spec.workers = 3;
        spec.min_pods = 1 + (int)roll(story, 2);
        spec.has_master = roll(story, 2) == 0;
        spec.gpus = 1;
        break;
    case 2:
        spec.completions = 3;
        spec.parallelism = 2;
        spec.gpus = 1;
        break;
    case 3:
        spec.non_preemptible = true;
        break;
    case 4:
        spec.portion_milli = 250 + 250 * (int)roll(story, 2);
        spec.gpus = 1;
        break;
    default:
        spec.terminate_after_preemption = roll(story, 4) == 0;
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
    const char *name =
        arena_printf(&live->arena, "w%d", story->submitted ? (int)roll(story, (uint64_t)story->submitted) : 0);
    int node = (int)roll(story, NODES);
    switch (roll(story, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        submit(story);
        break;
    case 4:
        if (is_alive(story, name))
            live_suspend(live, name);
        break;
    case 5:
        if (is_alive(story, name))
            live_resume(live, name);
        break;
    case 6:
        if (is_alive(story, name))
            live_delete(live, name);
        break;
    case 7:
        story->is_ready[node] = !story->is_ready[node];
        live_add_node(live, arena_printf(&live->arena, "node%d", node), 2, story->is_ready[node]);
        break;
    case 8:
        live_crash(live);
        break;
    case 9:
        live->lose_at = live->applies + 1; // the next orders are lost in a crash
        break;
    default:
        live_advance(live, 500 + (int64_t)roll(story, 9000));
    }
    if (roll(story, 3))
        live_run(live);
}

static void run(uint64_t seed)
{
    struct story *story = memory_array(1, sizeof(*story));
    struct live *live = &story->live;
    story->state = seed * 0x9E3779B97F4A7C15ULL + 1;
    live_open(live, NODES, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 3);
    for (int i = 0; i < NODES; i++)
        story->is_ready[i] = true;
    for (int i = 0; i < STEPS; i++) {
        step(story);
        live_check(live, arena_printf(&live->arena, "seed %" PRIu64 " step %d", seed, i));
    }
    live->lose_at = 0;
    for (int i = 0; i < NODES; i++)
        live_add_node(live, arena_printf(&live->arena, "node%d", i), 2, true);
    for (int i = 0; i < story->submitted; i++) {
        const char *name = arena_printf(&live->arena, "w%d", i);
        if (is_alive(story, name))
            live_delete(live, name);
    }
    live_advance(live, 60000);
    check_int(live_number(live, "SELECT count(*) FROM workloads WHERE deleted_ms = 0 AND phase NOT IN ('Completed',"
                                " 'Failed')"),
              0, "seed %" PRIu64 ": everything goes when it is deleted", seed);
    check_int(live_number(live, "SELECT count(*) FROM allocations WHERE ended_ms = 0"), 0,
              "seed %" PRIu64 ": nothing is held in the end", seed);
    check_int(live_number(live, "SELECT sum(gpu_allocated_milli) FROM queues"), 0,
              "seed %" PRIu64 ": and the figures say so", seed);
    live_close(live);
    free(story);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        run(strtoull(argv[1], NULL, 10));
    for (uint64_t seed = 1; argc == 1 && seed <= check_sample(SEEDS); seed++)
        run(seed);
    // Promises made and withdrawn, and places given and taken back, cycle after cycle, once kept it busy for ever.
    for (size_t i = 0; argc == 1 && i < COUNT(RESTLESS); i++)
        run(RESTLESS[i]);
    return check_finish();
}
