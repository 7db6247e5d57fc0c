// Fragmentation: what is kept of a node's growth is what would be computed anew, whatever was placed and taken back in
// between; and the growths of small cases, computed by hand.
#include "scheduler/placing/fragmentation.h"

#include "base/arena.h"
#include "base/error.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"
#include "scheduler/state/rules.h"
#include "scheduler/state/shared_device.h"
#include "scheduler/state/statement.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <inttypes.h>
#include <string.h>

enum {
    CLUSTERS = 300,
    STEPS = 40
};

// Places the pod on the node or evicts it, or takes everything back.
static void step(struct cycle *cycle, uint64_t *random)
{
    struct pod *pod = &cycle->pods[random_below(random, (uint32_t)cycle->snapshot->pod_count)];
    uint32_t node = random_below(random, (uint32_t)cycle->snapshot->node_count);
    if (random_below(random, 8) == 0) {
        statement_roll_back(cycle, 0);
    } else if (pod_status_is_held(pod->state.status) && !pod->state.evicted) {
        statement_evict(cycle, pod->index);
    } else if (pod->state.status == SNAPSHOT_POD_PENDING && node_fit_pod(&cycle->nodes[node], pod).fits) {
        struct place place = {.node = node};
        if (pod->request.shared_devices > 0)
            place =
                shared_device_choose(&cycle->nodes[node], &pod->request, PLACEMENT_BINPACK, false, cycle->arena).place;
        statement_place(cycle, pod->index, &place, true);
    }
}

static void check_kept(struct cycle *cycle, uint64_t seed, uint64_t *random)
{
    const struct pod *pod = &cycle->pods[random_below(random, (uint32_t)cycle->snapshot->pod_count)];
    for (uint32_t n = 0; n < cycle->snapshot->node_count; n++) {
        const struct node *node = &cycle->nodes[n];
        if (!node_fit_pod(node, pod).fits)
            continue;
        const struct pool *pool = &cycle->pools[node->spec->node_pool];
        int64_t kept = fragmentation_growth(cycle, pool, node, pod);
        struct fragmentation **before = cycle->fragmentation;
        cycle->fragmentation = NULL;
        check_int(fragmentation_growth(cycle, pool, node, pod), kept, "seed %" PRIu64 ": pod %s on %s", seed,
                  pod->spec->name, node->spec->name);
        cycle->fragmentation = before;
    }
}

static void check_cluster(uint64_t seed)
{
    struct arena arena;
    struct cycle *cycle;
    struct error err = {0};
    uint64_t random = seed;
    arena_init(&arena);
    const struct snapshot *snapshot = random_cluster(seed, &arena);
    if (cycle_open(snapshot, &arena, &cycle, &err) < 0) {
        check_true(0, "seed %" PRIu64 ": %s", seed, err.message);
    } else {
        for (int i = 0; i < STEPS && snapshot->pod_count > 0; i++) {
            step(cycle, &random);
            check_kept(cycle, seed, &random);
        }
    }
    arena_done(&arena);
}

struct growth_case {
    const char *name;
    int64_t used_portion_milli; // of the node's first device; 0: none is shared
    int64_t cpu_milli;          // of the node
    int64_t own_portion_milli;  // the pod that is placed, first of the typical ones; 0: a whole device
    int64_t own_cpu_milli;
    int64_t other_portion_milli; // the other typical one; 0: a whole device
    int64_t want;                // of a node with two devices, in thousandths
};

static const struct growth_case GROWTH_CASES[] = {
    {"two whole ones: the rest stays good for both", 0, 8000, 0, 0, 0, 0},
    {"a part leaves a device that a whole one can't use", 0, 8000, 500, 0, 0, 500},
    {"in a device that is shared it takes a fragment away", 500, 8000, 500, 0, 0, -500},
    {"a part that leaves too little for the other part", 0, 8000, 700, 0, 600, 2 * 300},
    {"CPU for two: nothing is lost", 0, 3000, 0, 1500, 0, 0},
    {"CPU for one: the second device was lost for it before", 0, 2000, 0, 1500, 0, 0},
};

static int64_t growth_of(const struct growth_case *row, struct arena *arena)
{
    static const uint32_t POOLS[] = {0};
    static struct snapshot_queue queue;
    queue = snapshot_queue_default();
    struct snapshot snapshot = {0};
    snapshot_defaults(&snapshot);
    struct snapshot_node_pool pool = {.name = "default", .gpu_placement = PLACEMENT_FRAGMENTATION};
    struct snapshot_node node = {.name = "n",
                                 .gpu_count = 2,
                                 .gpu_memory_mib = 10000,
                                 .cpu_milli = row->cpu_milli,
                                 .max_pods = 110,
                                 .ready = true};
    struct snapshot_department department = {.name = "d", .queues = &queue};
    struct snapshot_project project = {.name = "p", .queues = &queue};
    struct snapshot_workload workload = {.name = "w",
                                         .node_pools = POOLS,
                                         .node_pool_count = 1,
                                         .topology = {.topology = SNAPSHOT_NONE},
                                         .promise = SNAPSHOT_PROMISE_NONE,
                                         .pod_count = 3};
    struct snapshot_pod pods[] = {
        {.name = "a", .gpu_devices = 1, .gpu_portion_milli = row->own_portion_milli, .cpu_milli = row->own_cpu_milli},
        {.name = "b", .gpu_devices = 1, .gpu_portion_milli = row->other_portion_milli},
        {.name = "c"}}; // asks for no GPU, so it is not typical; stands in for the part that is used
    for (size_t i = 0; i < 3; i++) {
        pods[i].sub_group = pods[i].node = SNAPSHOT_NONE;
        pods[i].started_ms = SNAPSHOT_TIME_NONE;
    }
    snapshot.node_pools = &pool;
    snapshot.nodes = &node;
    snapshot.departments = &department;
    snapshot.projects = &project;
    snapshot.workloads = &workload;
    snapshot.pods = pods;
    snapshot.node_pool_count = snapshot.node_count = snapshot.department_count = snapshot.project_count =
        snapshot.workload_count = 1;
    snapshot.pod_count = 3;
    struct cycle *cycle;
    struct error err = {0};
    if (cycle_open(&snapshot, arena, &cycle, &err) < 0) {
        check_true(0, "%s: %s", row->name, err.message);
        return 0;
    }
    if (row->used_portion_milli > 0) {
        struct request request = {.portion_milli = row->used_portion_milli, .shared_devices = 1};
        struct pod *used = &cycle->pods[2];
        used->request = request;
        struct place place =
            shared_device_choose(&cycle->nodes[0], &request, PLACEMENT_BINPACK, false, cycle->arena).place;
        node_add(&cycle->nodes[0], used, &place, STANDING_STAYS);
    }
    return fragmentation_growth(cycle, &cycle->pools[0], &cycle->nodes[0], &cycle->pods[0]);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++)
        check_cluster(seed);
    for (size_t i = 0; i < COUNT(GROWTH_CASES); i++) {
        struct arena arena;
        arena_init(&arena);
        check_int(growth_of(&GROWTH_CASES[i], &arena), GROWTH_CASES[i].want, "%s", GROWTH_CASES[i].name);
        arena_done(&arena);
    }
    return check_finish();
}
