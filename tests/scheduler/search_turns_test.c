// Searches for victims with a bound on their steps, on sites that ask for more than they have: nobody is passed over
// for ever, what can be found without a bound is found in the end, and a bound that is not reached changes nothing.
#include "base/error.h"
#include "bench/scheduler/clusters.h"
#include "scheduler/scheduler.h"
#include "scheduler/simulation.h"
#include "tests/support/check.h"

#include <string.h>

enum {
    SITES = 12,
    NODES = 12,
    CYCLES = 2000,
    STEPS = 200000, // a cycle without a bound takes several times as many
    MANY_STEPS = 2000000000
};

static struct plan *plan_next(struct simulation *simulation)
{
    struct plan *plan = NULL;
    struct error err = {0};
    check_int(simulation_plan(simulation, &plan, &err), 0, "%s", err.message);
    return plan;
}

static bool is_same(const struct plan *a, const struct plan *b)
{
    if (a->decision_count != b->decision_count)
        return false;
    for (size_t i = 0; i < a->decision_count; i++)
        if (a->decisions[i].verb != b->decisions[i].verb || a->decisions[i].pod != b->decisions[i].pod ||
            strcmp(a->decisions[i].why, b->decisions[i].why) != 0)
            return false;
    return true;
}

// A bound that is not reached.
static void check_unreached(uint64_t seed)
{
    struct cluster cluster;
    struct simulation free_one, bound;
    cluster_init(&cluster);
    cluster_make_site_from(&cluster, NODES, seed);
    simulation_init(&free_one, &cluster.snapshot);
    cluster.snapshot.settings.search_steps = MANY_STEPS;
    simulation_init(&bound, &cluster.snapshot);
    for (int cycle = 0; cycle < 4; cycle++) {
        const struct plan *one = plan_next(&free_one), *other = plan_next(&bound);
        check_true(is_same(one, other), "seed %d, cycle %d: the same decisions", (int)seed, cycle);
        check_int((int64_t)other->search_turn_count, 0, "seed %d, cycle %d: nothing goes on", (int)seed, cycle);
        simulation_advance(&free_one, one);
        simulation_advance(&bound, other);
    }
    simulation_done(&free_one);
    simulation_done(&bound);
    cluster_done(&cluster);
}

static size_t count_passed(const struct plan *plan, size_t workload_count)
{
    size_t count = 0;
    for (size_t i = 0; i < workload_count; i++)
        count += plan->workloads[i].was_passed;
    return count;
}

// A bound that is: in the end nothing is left to be found.
static size_t check_reached(uint64_t seed)
{
    struct cluster cluster;
    struct simulation simulation;
    size_t most_passed = 0;
    bool is_at_rest = false;
    cluster_init(&cluster);
    cluster_make_site_from(&cluster, NODES, seed);
    cluster.snapshot.settings.search_steps = STEPS;
    simulation_init(&simulation, &cluster.snapshot);
    for (int cycle = 0; cycle < CYCLES && !is_at_rest; cycle++) {
        const struct plan *plan = plan_next(&simulation);
        size_t passed = count_passed(plan, cluster.snapshot.workload_count);
        most_passed = passed > most_passed ? passed : most_passed;
        check_true(passed == 0 || plan->search_turn_count > 0 || simulation.snapshot.search_turn_count > 0,
                   "seed %d: whoever is passed over has a turn", (int)seed);
        is_at_rest = plan->decision_count == 0 && plan->search_turn_count == 0;
        simulation_advance(&simulation, plan);
    }
    check_true(is_at_rest, "seed %d: at rest after %d cycles", (int)seed, CYCLES);
    simulation.snapshot.settings.search_steps = SNAPSHOT_STEPS_UNLIMITED;
    check_int((int64_t)plan_next(&simulation)->decision_count, 0, "seed %d: nothing is left without a bound",
              (int)seed);
    simulation_done(&simulation);
    cluster_done(&cluster);
    return most_passed;
}

int main(void)
{
    size_t passed = 0;
    for (uint64_t seed = 1; seed <= SITES; seed++) {
        check_unreached(seed);
        passed += check_reached(seed);
    }
    check_true(passed > 0, "the bound was reached");
    return check_finish();
}
