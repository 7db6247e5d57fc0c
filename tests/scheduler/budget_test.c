// What a plan takes of memory: bytes of its arena, counted by the arena itself, so the same on every machine. A budget
// is what it took when the row was written and a quarter more; and with twice the nodes it takes about twice as much.
#include "base/error.h"
#include "bench/scheduler/clusters.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"

enum {
    NODES = 500
};

struct budget_case {
    const char *name;
    void (*make)(struct cluster *cluster, size_t nodes);
    size_t most_bytes; // of a pod of the snapshot, with 500 nodes
};

static const struct budget_case CASES[] = {
    {"nothing waits", cluster_make_idle, 850},
    {"five one-GPU workloads a node wait", cluster_make_pending, 1550},
    {"a gang of half the nodes reclaims", cluster_make_reclaim, 2350},
    {"a gang is refused by every action", cluster_make_refused, 1400},
    {"gangs are moved together", cluster_make_consolidation, 1150},
    {"a backlog is explained", cluster_make_backlog, 3200},
};

static size_t plan_bytes(const struct budget_case *row, size_t nodes, size_t *out_pods)
{
    struct cluster cluster;
    struct arena arena;
    struct plan *plan;
    struct error err = {0};
    cluster_init(&cluster);
    arena_init(&arena);
    row->make(&cluster, nodes);
    check_int(scheduler_plan(&cluster.snapshot, &arena, &plan, &err), 0, "%s: %s", row->name, err.message);
    *out_pods = cluster.snapshot.pod_count;
    size_t bytes = arena.used_bytes;
    arena_done(&arena);
    cluster_done(&cluster);
    return bytes;
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct budget_case *row = &CASES[i];
        size_t pods;
        size_t half = plan_bytes(row, NODES / 2, &pods), bytes = plan_bytes(row, NODES, &pods);
        check_true(bytes / pods <= row->most_bytes, "%s: %zu bytes a pod, budget %zu", row->name, bytes / pods,
                   row->most_bytes);
        check_true(bytes * 10 < half * 26, "%s: %zu bytes with half the nodes, %zu with all", row->name, half, bytes);
    }
    return check_finish();
}
