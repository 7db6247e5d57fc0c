// Searches for victims whose end is certain are not made: on random clusters, cycle after cycle, the plan is the one of
// the plain search, decision by decision, sentence by sentence. Memory of its own for what the plan does not need, and
// leaving out what is said, change nothing either.
#include "base/arena.h"
#include "base/error.h"
#include "scheduler/scheduler.h"
#include "scheduler/simulation.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 4000,
    CYCLES = 3
};

struct run {
    uint64_t seed;
    int cycle;
    const struct snapshot *snapshot;
    struct arena arena;
};

static bool is_same_decision(const struct plan_decision *a, const struct plan_decision *b, bool with_words)
{
    return a->action == b->action && a->verb == b->verb && a->pod == b->pod && a->node == b->node &&
           a->beneficiary == b->beneficiary && a->moved == b->moved &&
           a->devices.gpu_index_count == b->devices.gpu_index_count &&
           (a->devices.gpu_index_count == 0 ||
            memcmp(a->devices.gpu_indices, b->devices.gpu_indices,
                   a->devices.gpu_index_count * sizeof(*a->devices.gpu_indices)) == 0) &&
           (!with_words || strcmp(a->why, b->why) == 0);
}

static bool is_same_explanation(const struct plan_explanation *a, const struct plan_explanation *b)
{
    return a->code == b->code && strcmp(a->message, b->message) == 0 && a->queue == b->queue &&
           a->requested == b->requested && a->allocated == b->allocated && a->fair_share == b->fair_share &&
           a->pods_placed == b->pods_placed && a->pods_needed == b->pods_needed &&
           a->evidence_count == b->evidence_count && a->node_reason_count == b->node_reason_count;
}

static bool is_same_workload(const struct plan_workload *a, const struct plan_workload *b)
{
    bool same = a->status == b->status && a->promise == b->promise && a->explanation_count == b->explanation_count;
    for (size_t i = 0; same && i < a->explanation_count; i++)
        same = is_same_explanation(&a->explanations[i], &b->explanations[i]);
    return same;
}

static struct plan *plan_with(struct run *run, struct scheduler_options options)
{
    struct plan *plan = NULL;
    struct error err = {0};
    if (scheduler_plan_with(run->snapshot, &options, &run->arena, &plan, &err) < 0)
        check_true(0, "seed %" PRIu64 ": %s", run->seed, err.message);
    return plan;
}

static void check_decisions(const struct run *run, const struct plan *a, const struct plan *b, bool with_words,
                            const char *what)
{
    bool same = a->decision_count == b->decision_count;
    for (size_t i = 0; same && i < a->decision_count; i++)
        same = is_same_decision(&a->decisions[i], &b->decisions[i], with_words);
    check_true(same, "seed %" PRIu64 ", cycle %d: the same decisions %s", run->seed, run->cycle, what);
}

static uint64_t count_scenarios(const struct plan *plan)
{
    uint64_t count = 0;
    for (size_t i = 0; i < ACTION_COUNT; i++)
        count += plan->actions[i].scenarios_simulated;
    return count;
}

// Sums of GPUs are exact without amounts of memory, and many who wait ask for the same: then most can be left out.
static const struct snapshot *make_cluster(uint64_t seed, struct arena *arena)
{
    struct snapshot *snapshot = random_cluster(seed, arena);
    struct snapshot_pod *pods = arena_array(arena, snapshot->pod_count, sizeof(*pods));
    memcpy(pods, snapshot->pods, snapshot->pod_count * sizeof(*pods));
    for (size_t p = 0; p < snapshot->pod_count && seed % 4 > 0; p++) {
        if (pods[p].gpu_memory_mib > 0)
            pods[p].gpu_portion_milli = (pods[p].gpu_memory_mib * 100 + 15999) / 16000 * 10;
        if (pods[p].gpu_portion_milli > 990)
            pods[p].gpu_portion_milli = 990;
        pods[p].gpu_memory_mib = 0;
        if (seed % 2 == 0 || pods[p].status != SNAPSHOT_POD_PENDING)
            continue;
        pods[p].gpu_portion_milli = 0;
        pods[p].gpu_devices = 1 + (uint32_t)(p % 5 / 4);
        pods[p].cpu_milli = 500;
    }
    snapshot->pods = pods;
    return snapshot;
}

struct tally {
    uint64_t scenarios;
    uint64_t plain_scenarios;
};

static void check_cycle(struct run *run, struct plan *plan, struct tally *tally)
{
    struct arena scratch;
    arena_init(&scratch);
    const struct plan *plain = plan_with(run, (struct scheduler_options){.plain_search = true});
    const struct plan *apart = plan_with(run, (struct scheduler_options){.scratch = &scratch});
    const struct plan *silent = plan_with(run, (struct scheduler_options){.decisions_only = true});
    arena_done(&scratch);
    check_decisions(run, plan, plain, true, "as the plain search takes");
    check_decisions(run, plan, apart, true, "with memory of its own");
    check_decisions(run, plan, silent, false, "without words");
    for (size_t w = 0; w < run->snapshot->workload_count; w++) {
        const char *name = run->snapshot->workloads[w].name;
        check_true(is_same_workload(&plan->workloads[w], &plain->workloads[w]),
                   "seed %" PRIu64 ", cycle %d: the same is said of %s as by the plain search", run->seed, run->cycle,
                   name);
        check_true(is_same_workload(&plan->workloads[w], &apart->workloads[w]),
                   "seed %" PRIu64 ", cycle %d: the same is said of %s with memory of its own", run->seed, run->cycle,
                   name);
    }
    tally->scenarios += count_scenarios(plan);
    tally->plain_scenarios += count_scenarios(plain);
}

static void check_cluster(uint64_t seed, struct tally *tally)
{
    struct arena arena;
    arena_init(&arena);
    struct simulation simulation;
    struct error err = {0};
    simulation_init(&simulation, make_cluster(seed, &arena));
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        struct run run = {.seed = seed, .cycle = cycle, .snapshot = &simulation.snapshot};
        struct plan *plan;
        arena_init(&run.arena);
        if (simulation_plan(&simulation, &plan, &err) == 0) {
            check_cycle(&run, plan, tally);
            simulation_advance(&simulation, plan);
        }
        arena_done(&run.arena);
    }
    simulation_done(&simulation);
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
    printf("%" PRIu64 " scenarios simulated, %" PRIu64 " by the plain search\n", tally.scenarios,
           tally.plain_scenarios);
    check_true(count < CLUSTERS || tally.scenarios < tally.plain_scenarios, "some searches are not made");
    return check_finish();
}
