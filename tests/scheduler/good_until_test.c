// A plan says until when it stays good: random clusters with minimum run times, delays and graces are planned again at
// later times, and before that time the decisions must be the same.
#include "base/arena.h"
#include "base/error.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 3000,
    TIMES = 6,
    LONGEST_MS = 1200 * 1000
};

// One duration in three is left unset.
static int64_t duration(uint64_t *random, int64_t unset)
{
    return random_below(random, 3) == 0 ? unset : (int64_t)random_below(random, LONGEST_MS);
}

// The cluster with everything in it that hangs on the clock.
static struct snapshot *make_snapshot(uint64_t seed, struct arena *arena)
{
    uint64_t random = ~seed;
    struct snapshot *snapshot = random_cluster(seed, arena);
    struct snapshot_project *projects = arena_array(arena, snapshot->project_count, sizeof(*projects));
    struct snapshot_workload *workloads = arena_array(arena, snapshot->workload_count, sizeof(*workloads));
    for (size_t p = 0; p < snapshot->project_count; p++) {
        projects[p] = snapshot->projects[p];
        projects[p].preempt_min_run_time_ms = duration(&random, SNAPSHOT_TIME_NONE);
        projects[p].reclaim_min_run_time_ms = duration(&random, SNAPSHOT_TIME_NONE);
    }
    for (size_t w = 0; w < snapshot->workload_count; w++) {
        struct snapshot_workload *workload = &workloads[w];
        *workload = snapshot->workloads[w];
        workload->created_ms = snapshot->now_ms - (int64_t)random_below(&random, LONGEST_MS);
        workload->preemption_delay_ms = random_below(&random, 2) ? duration(&random, 0) : 0;
        workload->last_eviction_ms =
            random_below(&random, 3) ? SNAPSHOT_TIME_NONE : snapshot->now_ms - duration(&random, 0);
        workload->stale_ms = random_below(&random, 2) ? SNAPSHOT_TIME_NONE : duration(&random, 0);
        workload->staleness_grace_ms = random_below(&random, 8) ? duration(&random, SNAPSHOT_TIME_NONE) : -1;
        if (random_below(&random, 3) == 0) // some that run become stale
            workload->min_pods = workload->pod_count;
    }
    snapshot->projects = projects;
    snapshot->workloads = workloads;
    return snapshot;
}

// The same snapshot at a later time: what is stale has been so for longer.
static struct snapshot later(const struct snapshot *snapshot, const struct plan *plan, int64_t at_ms,
                             struct arena *arena)
{
    struct snapshot copy = *snapshot;
    struct snapshot_workload *workloads = arena_array(arena, snapshot->workload_count, sizeof(*workloads));
    for (size_t w = 0; w < snapshot->workload_count; w++) {
        workloads[w] = snapshot->workloads[w];
        if (workloads[w].stale_ms != SNAPSHOT_TIME_NONE)
            workloads[w].stale_ms += at_ms - snapshot->now_ms;
        else if (plan->workloads[w].is_stale)
            workloads[w].stale_ms = at_ms - snapshot->now_ms;
    }
    copy.workloads = workloads;
    copy.now_ms = at_ms;
    return copy;
}

static bool decides_the_same(const struct plan *a, const struct plan *b)
{
    if (a->decision_count != b->decision_count)
        return false;
    for (size_t i = 0; i < a->decision_count; i++) {
        const struct plan_decision *one = &a->decisions[i], *other = &b->decisions[i];
        if (one->action != other->action || one->verb != other->verb || one->pod != other->pod ||
            one->node != other->node || one->beneficiary != other->beneficiary || one->moved != other->moved)
            return false;
    }
    return true;
}

static bool explains_the_same(const struct snapshot *snapshot, const struct plan *a, const struct plan *b)
{
    for (size_t w = 0; w < snapshot->workload_count; w++) {
        const struct plan_workload *one = &a->workloads[w], *other = &b->workloads[w];
        if (one->explanation_count != other->explanation_count)
            return false;
        for (size_t i = 0; i < one->explanation_count; i++) {
            if (one->explanations[i].code != other->explanations[i].code)
                return false;
        }
    }
    return true;
}

struct tally {
    size_t bounded; // plans that end
    size_t differ;  // and are another plan once they have ended
};

static void check_cluster(uint64_t seed, struct tally *tally)
{
    struct arena arena;
    struct error err = {0};
    struct plan *plan, *other;
    arena_init(&arena);
    const struct snapshot *snapshot = make_snapshot(seed, &arena);
    if (scheduler_plan(snapshot, &arena, &plan, &err) < 0) {
        check_true(0, "seed %" PRIu64 ": %s", seed, err.message);
        arena_done(&arena);
        return;
    }
    uint64_t random = seed;
    bool ends = plan->good_until_ms != INT64_MAX;
    check_true(plan->good_until_ms > snapshot->now_ms, "seed %" PRIu64 ": good for a while", seed);
    int64_t last_ms = ends ? plan->good_until_ms - 1 : snapshot->now_ms + 10 * (int64_t)LONGEST_MS;
    for (int i = 0; i < TIMES; i++) {
        int64_t span = last_ms - snapshot->now_ms;
        int64_t at_ms =
            i == 0 || span == 0 ? last_ms : snapshot->now_ms + (int64_t)(random_next(&random) % (uint64_t)span);
        struct snapshot then = later(snapshot, plan, at_ms, &arena);
        if (scheduler_plan(&then, &arena, &other, &err) < 0) {
            check_true(0, "seed %" PRIu64 ": %s", seed, err.message);
            continue;
        }
        check_true(decides_the_same(plan, other) && explains_the_same(snapshot, plan, other),
                   "seed %" PRIu64 ": the same plan %" PRId64 " ms later", seed, (int64_t)(at_ms - snapshot->now_ms));
        check_true(other->good_until_ms == plan->good_until_ms, "seed %" PRIu64 ": and good until the same time", seed);
    }
    if (ends) {
        struct snapshot then = later(snapshot, plan, plan->good_until_ms, &arena);
        tally->bounded++;
        if (scheduler_plan(&then, &arena, &other, &err) == 0)
            tally->differ += !decides_the_same(plan, other) || !explains_the_same(snapshot, plan, other);
    }
    arena_done(&arena);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : check_sample(CLUSTERS);
    struct tally tally = {0};
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", first, (uint64_t)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++)
        check_cluster(seed, &tally);
    printf("%zu plans end, %zu of them are followed by another\n", tally.bounded, tally.differ);
    check_true(count < CLUSTERS || (tally.bounded > count / 10 && tally.differ > count / 100),
               "the clock plays a part");
    return check_finish();
}
