// Who is served next among queues, and whose pods may be looked at by a reclaim: the decided cases of
// docs/scheduler.md.
#include "base/arena.h"
#include "scheduler/order/queue_order.h"
#include "scheduler/victims/fairness.h"
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
    struct amounts job = {{[RESOURCE_GPU] = side->job_mib / 10}};
    return queue_key_make(queue, job, (struct amounts){0}, (struct amounts){{GPUS(100), 0, 0}});
}

static void check_order(void)
{
    for (size_t i = 0; i < COUNT(ORDER_CASES); i++) {
        const struct order_case *row = &ORDER_CASES[i];
        struct snapshot_queue left_spec = make_spec(&row->left), right_spec = make_spec(&row->right);
        struct queue left = make_queue(&row->left, &left_spec, 0), right = make_queue(&row->right, &right_spec, 1);
        struct queue_key left_key = make_key(&row->left, &left), right_key = make_key(&row->right, &right);
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
            struct side side = {random_below(&random, 4), random_below(&random, 5), random_below(&random, 6),
                                random_below(&random, 2), random_below(&random, 3) * 10000};
            specs[q] = make_spec(&side);
            queues[q] = make_queue(&side, &specs[q], q);
            queues[q].created_ms = random_below(&random, 2);
            keys[q] = make_key(&side, &queues[q]);
        }
        int order = queue_compare(&keys[0], &keys[1], NULL), turned = queue_compare(&keys[1], &keys[0], NULL);
        check_true(order != 0 && (order < 0) != (turned < 0), "queues %d: one is first", i);
    }
}

// What is said of each rule.
struct words_case {
    const char *rule;
    struct queue left, right;
    struct snapshot_queue left_spec, right_spec;
    struct amounts left_job, right_job;
    const char *want;
};

#define GIB(n) ((int64_t)(n) << 30)
#define AMOUNTS(gpus, cores, gib)              \
    {                                          \
        {                                      \
            GPUS(gpus), (cores)*1000, GIB(gib) \
        }                                      \
    }

static const struct words_case WORDS_CASES[] = {
    {"not above its fair share in everything first",
     {.name = "a"},
     {.name = "b", .allocated = AMOUNTS(3, 3, 3), .fair_share = AMOUNTS(2, 2, 2)},
     {.rank = 1},
     {.rank = 1},
     {{0}},
     {{0}},
     "a is not above its fair share in everything, b is: it holds 3 of its fair share of 2 GPUs, and more than its "
     "share of CPU and memory"},
    {"within its deserved quota first",
     {.name = "a", .allocated = AMOUNTS(1, 0, 0)},
     {.name = "b", .allocated = AMOUNTS(2, 0, 0)},
     {.deserved = AMOUNTS(2, 0, 0)},
     {.deserved = AMOUNTS(2, 0, 0)},
     AMOUNTS(1, 0, 0),
     AMOUNTS(1, 0, 0),
     "With its next workload a holds 2 of its quota of 2 GPUs, b 3 of its quota of 2 GPUs"},
    {"within its deserved quota first",
     {.name = "a"},
     {.name = "b", .allocated = AMOUNTS(0, 4, 0)},
     {.deserved = AMOUNTS(2, 4, 0)},
     {.deserved = AMOUNTS(2, 4, 0)},
     {{0}},
     AMOUNTS(1, 1, 0),
     "With its next workload a holds 0 of its quota of 4 cores, b 5 of its quota of 4 cores"},
    {"higher rank first",
     {.name = "a"},
     {.name = "b"},
     {.rank = 3},
     {.rank = -2},
     AMOUNTS(1, 0, 0),
     AMOUNTS(1, 0, 0),
     "a has rank 3, b -2"},
    {"not using what it has no share of first",
     {.name = "a", .fair_share = AMOUNTS(1, 0, 0)},
     {.name = "b", .fair_share = AMOUNTS(1, 0, 0)},
     {.rank = 1},
     {.rank = 1},
     AMOUNTS(1, 0, 0),
     AMOUNTS(1, 2, 0),
     "With its next workload b holds 2 cores without any share of it, a does not"},
    {"smaller dominant share with its next workload first",
     {.name = "a", .fair_share = AMOUNTS(4, 8, 0)},
     {.name = "b", .fair_share = AMOUNTS(4, 8, 0)},
     {.rank = 1},
     {.rank = 1},
     AMOUNTS(1, 4, 0),
     AMOUNTS(3, 4, 0),
     "With its next workload a holds 4 of a share of 8 cores, b 3 of a share of 4 GPUs"},
    {"smaller dominant share first",
     {.name = "a", .fair_share = AMOUNTS(4, 0, 0), .allocated = AMOUNTS(1, 0, 0)},
     {.name = "b", .fair_share = AMOUNTS(4, 0, 0), .allocated = AMOUNTS(2, 0, 0)},
     {.rank = 1},
     {.rank = 1},
     AMOUNTS(2, 0, 0),
     AMOUNTS(1, 0, 0),
     "a holds 1 of a share of 4 GPUs, b 2 of a share of 4 GPUs"},
    {"smaller allocatable share first",
     {.name = "a", .fair_share = AMOUNTS(4, 2, 1)},
     {.name = "b", .fair_share = AMOUNTS(4, 2, 3)},
     {.rank = 1},
     {.rank = 1},
     {{0}},
     {{0}},
     "The share of a is 1Gi of memory, the share of b is 3Gi of memory"},
    {"older first",
     {.name = "a", .created_ms = 0},
     {.name = "b", .created_ms = 1500},
     {.rank = 1},
     {.rank = 1},
     {{0}},
     {{0}},
     "a was made at 1970-01-01T00:00:00.000Z, b at 1970-01-01T00:00:01.500Z"},
    {"name, to break every tie",
     {.name = "a", .index = 0},
     {.name = "b", .index = 1},
     {.rank = 1},
     {.rank = 1},
     {{0}},
     {{0}},
     "a comes before b by name"},
    {"name, to break every tie", {.name = "a"}, {.name = "a"}, {.rank = 1}, {.rank = 1}, {{0}}, {{0}}, ""},
};

static struct queue_key words_key(struct queue *queue, struct snapshot_queue *spec, struct amounts job)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        spec->limit.of[r] = QUANTITY_UNLIMITED;
    queue->spec = spec;
    return queue_key_make(queue, job, (struct amounts){0}, (struct amounts){{GPUS(100), 0, 0}});
}

static void check_words(void)
{
    for (size_t i = 0; i < COUNT(WORDS_CASES); i++) {
        struct words_case row = WORDS_CASES[i];
        struct queue_key left = words_key(&row.left, &row.left_spec, row.left_job);
        struct queue_key right = words_key(&row.right, &row.right_spec, row.right_job);
        const char *rule = "";
        struct arena arena;
        arena_init(&arena);
        check_true(queue_compare(&left, &right, &rule) <= 0, "words %zu: the left one is first", i);
        check_text(rule, row.rule, "words %zu: rule", i);
        check_text(queue_compare_words(&arena, &left, &right), row.want, "words %zu", i);
        arena_done(&arena);
    }
}

struct victim_case {
    const char *name;
    struct side reclaimer, victim;
    bool is_candidate;
    bool may_take; // anything at all: what is exactly at its quota may only be moved
};

static const struct victim_case VICTIM_CASES[] = {
    {"under its quota", {4, 4, 0, 0, 0}, {4, 4, 2, 0, 0}, false, false},
    {"over its quota", {4, 4, 0, 0, 0}, {0, 4, 4, 0, 0}, true, true},
    {"exactly at its quota", {4, 4, 0, 0, 0}, {2, 4, 2, 0, 0}, true, false},
    {"the reclaimer beyond its quota, the victim within its fair share",
     {1, 4, 0, 0, 0},
     {2, 4, 3, 0, 0},
     false,
     false},
    {"the reclaimer beyond its quota, the victim over its fair share", {1, 4, 0, 0, 0}, {2, 4, 5, 0, 0}, true, true},
};

static void check_victims(void)
{
    for (size_t i = 0; i < COUNT(VICTIM_CASES); i++) {
        const struct victim_case *row = &VICTIM_CASES[i];
        const struct snapshot_queue specs[] = {make_spec(&row->reclaimer), make_spec(&row->victim)};
        struct queue department = {.kind = QUEUE_KIND_DEPARTMENT};
        struct queue projects[] = {make_queue(&row->reclaimer, &specs[0], 0), make_queue(&row->victim, &specs[1], 1)};
        projects[0].parent = projects[1].parent = &department;
        struct amounts requested = {{[RESOURCE_GPU] = GPUS(2)}};
        enum evidence_code code = fairness_protects(&projects[0], requested, &projects[1], NULL);
        check_int(code == EVIDENCE_CODE_COUNT, row->is_candidate, "victim: %s", row->name);
        struct amounts held[] = {projects[0].allocated, projects[1].allocated};
        struct frozen_queues frozen = {.projects = held};
        check_int(fairness_may_take(&frozen, &projects[0], requested, &projects[1]), row->may_take, "take: %s",
                  row->name);
    }
}

int main(void)
{
    check_order();
    check_words();
    check_antisymmetry();
    check_victims();
    return check_finish();
}
