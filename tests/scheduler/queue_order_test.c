// Who is served next among queues, and whose pods may be looked at by a reclaim: the decided cases of
// docs/scheduler.md.
#include "scheduler/fairness.h"
#include "scheduler/queue_order.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <string.h>

#define GPUS(n) ((int64_t)(n)*1000)

struct side {
    int64_t deserved, fair_share, allocated; // GPUs
    int64_t rank;
    int64_t job_mib; // of devices with 10000 MiB
};

struct order_case {
    const char *name;
    struct side left, right;
    bool left_first;
    const char *rule;
};

static const struct order_case ORDER_CASES[] = {
    {"starved first", {2, 99, 20, 0, 0}, {2, 2, 0, 0, 0}, false, "within its deserved quota first"},
    {"starved beats rank", {2, 99, 20, 1, 0}, {2, 2, 0, 0, 0}, false, "within its deserved quota first"},
    {"neither is starved: rank", {2, 99, 20, 1, 0}, {2, 2, 3, 0, 0}, true, "higher rank first"},
    {"rank beats dominant share", {2, 99, 20, 1, 0}, {2, 80, 3, 0, 0}, true, "higher rank first"},
    {"the share with the job",
     {50, 50, 40, 0, 10000},
     {50, 50, 40, 0, 20000},
     true,
     "smaller dominant share with its next workload first"},
    {"equal in all: the name", {2, 2, 0, 0, 0}, {2, 2, 0, 0, 0}, true, "name, to break every tie"},
};

static struct snapshot_queue make_spec(const struct side *side)
{
    return (struct snapshot_queue){.rank = side->rank,
                                   .deserved = {{[RESOURCE_GPU] = GPUS(side->deserved)}},
                                   .limit = {{QUANTITY_UNLIMITED, QUANTITY_UNLIMITED, QUANTITY_UNLIMITED}}};
}

static struct queue make_queue(const struct side *side, const struct snapshot_queue *spec, uint32_t index)
{
    return (struct queue){.spec = spec,
                          .index = index,
                          .fair_share = {{[RESOURCE_GPU] = GPUS(side->fair_share)}},
                          .allocated = {{[RESOURCE_GPU] = GPUS(side->allocated)}}};
}

static struct queue_key make_key(const struct side *side, const struct queue *queue)
{
    const struct amounts job = {{[RESOURCE_GPU] = side->job_mib / 10}};
    return queue_key_make(queue, job, (struct amounts){0}, (struct amounts){{GPUS(100), 0, 0}});
}

static void check_order(void)
{
    for (size_t i = 0; i < COUNT(ORDER_CASES); i++) {
        const struct order_case *row = &ORDER_CASES[i];
        const struct snapshot_queue left_spec = make_spec(&row->left), right_spec = make_spec(&row->right);
        const struct queue left = make_queue(&row->left, &left_spec, 0),
                           right = make_queue(&row->right, &right_spec, 1);
        const struct queue_key left_key = make_key(&row->left, &left), right_key = make_key(&row->right, &right);
        const char *rule = "";
        check_int(queue_compare(&left_key, &right_key, &rule) < 0, row->left_first, "%s", row->name);
        check_text(rule, row->rule, "%s: rule", row->name);
        check_int(queue_compare(&right_key, &left_key, NULL) < 0, !row->left_first, "%s: turned", row->name);
    }
}

// a before b is b after a, for any two queues.
static void check_antisymmetry(void)
{
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        struct snapshot_queue specs[2];
        struct queue queues[2];
        struct queue_key keys[2];
        for (uint32_t q = 0; q < 2; q++) {
            const struct side side = {random_below(&random, 4), random_below(&random, 5), random_below(&random, 6),
                                      random_below(&random, 2), random_below(&random, 3) * 10000};
            specs[q] = make_spec(&side);
            queues[q] = make_queue(&side, &specs[q], q);
            queues[q].created_ms = random_below(&random, 2);
            keys[q] = make_key(&side, &queues[q]);
        }
        const int order = queue_compare(&keys[0], &keys[1], NULL), turned = queue_compare(&keys[1], &keys[0], NULL);
        check_true(order != 0 && (order < 0) != (turned < 0), "queues %d: one is first", i);
    }
}

struct victim_case {
    const char *name;
    struct side reclaimer, victim;
    bool is_candidate;
};

static const struct victim_case VICTIM_CASES[] = {
    {"under its quota", {4, 4, 0, 0, 0}, {4, 4, 2, 0, 0}, false},
    {"over its quota", {4, 4, 0, 0, 0}, {0, 4, 4, 0, 0}, true},
    {"exactly at its quota", {4, 4, 0, 0, 0}, {2, 4, 2, 0, 0}, true},
    {"the reclaimer beyond its quota, the victim within its fair share", {1, 4, 0, 0, 0}, {2, 4, 3, 0, 0}, false},
    {"the reclaimer beyond its quota, the victim over its fair share", {1, 4, 0, 0, 0}, {2, 4, 5, 0, 0}, true},
};

static void check_victims(void)
{
    for (size_t i = 0; i < COUNT(VICTIM_CASES); i++) {
        const struct victim_case *row = &VICTIM_CASES[i];
        const struct snapshot_queue specs[] = {make_spec(&row->reclaimer), make_spec(&row->victim)};
        struct queue department = {.kind = QUEUE_KIND_DEPARTMENT};
        struct queue projects[] = {make_queue(&row->reclaimer, &specs[0], 0), make_queue(&row->victim, &specs[1], 1)};
        projects[0].parent = projects[1].parent = &department;
        const struct pool pool = {.projects = projects};
        const struct snapshot_workload workloads[] = {{.project = 0}, {.project = 1}};
        const struct workload reclaimer = {.spec = &workloads[0]}, victim = {.spec = &workloads[1]};
        const struct amounts requested = {{[RESOURCE_GPU] = GPUS(2)}};
        check_int(fairness_is_victim(&pool, &reclaimer, requested, &victim), row->is_candidate, "victim: %s",
                  row->name);
    }
}

int main(void)
{
    check_order();
    check_antisymmetry();
    check_victims();
    return check_finish();
}
