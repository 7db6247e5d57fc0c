// What a change of a department, a project or a node pool changed, in words.
#include "model/org_change.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "model/node_pool.h"
#include "model/org_unit.h"
#include "tests/support/check.h"

enum {
    POOLS = 3
};

struct change {
    struct org_unit unit;
    struct queue queues[POOLS];
};

static const char *const POOL_NAMES[POOLS] = {"default", "h100", "a100"};

static void begin(struct change *change, size_t pools)
{
    *change = (struct change){.unit = {.kind = ORG_UNIT_PROJECT, .name = "vision", .queue_count = pools}};
    change->unit.queues = change->queues;
    for (size_t i = 0; i < pools; i++) {
        queue_defaults(&change->queues[i]);
        change->queues[i].node_pool_id = (int64_t)i + 1;
        change->queues[i].node_pool_name = POOL_NAMES[i];
    }
}

static void memory_in_gb(struct change *change)
{
    change->queues[0].memory_units = "GB";
    change->queues[0].memory.deserved = INT64_C(64000000000);
}

static void memory_in_mib(struct change *change)
{
    change->queues[0].memory_units = "Mib";
    change->queues[0].memory.limit = INT64_C(512) << 20;
}

static void one_gpu(struct change *change)
{
    change->queues[0].gpu.deserved = 1000;
}

static void no_bound(struct change *change)
{
    change->queues[0].gpu.deserved = QUANTITY_UNLIMITED;
}

static void cores(struct change *change)
{
    change->queues[1].cpu.deserved = 1500;
    change->queues[1].cpu.over_quota_weight = 2.5;
}

static void everything(struct change *change)
{
    for (size_t i = 0; i < POOLS; i++) {
        struct queue *queue = &change->queues[i];
        queue->gpu.deserved = queue->gpu.limit = 2000;
        queue->cpu.deserved = queue->cpu.limit = 4000;
    }
}

static void rules(struct change *change)
{
    change->unit.scheduling_rules_json = "{\"reclaimMinRuntimeSeconds\":90,\"trainingJobTimeLimitSeconds\":93600}";
    change->unit.default_node_pools_json = "[\"h100\",\"default\"]";
    change->unit.node_types_json = "{}";
}

static void nothing(struct change *change)
{
    change->unit.description = "";
    change->queues[0].gpu.fair_share = change->queues[0].gpu.allocated = 7000;
}

// name, pools, change, want
static const struct unit_case {
    const char *name;
    size_t pools;
    void (*change)(struct change *change);
    const char *want;
} CASES[] = {
    {"one is a GPU", 1, one_gpu, "GPU quota from 0 to 1 GPU"},
    {"no bound", 1, no_bound, "GPU quota from 0 GPUs to unlimited"},
    {"memory as the unit shows it", 1, memory_in_gb, "memory quota from unlimited to 64 GB"},
    {"and in MiB", 1, memory_in_mib, "memory limit from none to 512 MiB"},
    {"one of several pools is named", 2, cores,
     "CPU quota in node pool h100 from unlimited to 1.5 cores; CPU over-quota weight in node pool h100 from 1 to 2.5"},
    {"what is much is counted", POOLS, everything,
     "GPU quota in node pool default from 0 to 2 GPUs; GPU limit in node pool default from none to 2 GPUs; "
     "CPU quota in node pool default from unlimited to 4 cores; CPU limit in node pool default from none to 4 cores; "
     "GPU quota in node pool h100 from 0 to 2 GPUs; GPU limit in node pool h100 from none to 2 GPUs; "
     "CPU quota in node pool h100 from unlimited to 4 cores; CPU limit in node pool h100 from none to 4 cores; and 4 "
     "more"},
    {"rules", 1, rules,
     "minimum run time against other projects from none to 90 s; time limit of trainings from none to 26 h; "
     "default node pools from none to h100, default; node types"},
    {"figures of a cycle are no change", 1, nothing, NULL},
};

int main(void)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct change before, after;
        begin(&before, CASES[i].pools);
        begin(&after, CASES[i].pools);
        CASES[i].change(&after);
        const char *text = org_unit_change_text(&before.unit, &after.unit, &arena);
        check_text(text ? text : "", CASES[i].want ? CASES[i].want : "", "%s", CASES[i].name);
    }
    struct node_pool pool = {.name = "h100"}, changed;
    node_pool_defaults(&pool);
    changed = pool;
    check_int(node_pool_change_text(&pool, &changed, &arena) == NULL, 1, "a pool as it was");
    changed.label_key = "gpu";
    changed.label_value = "h100";
    changed.over_provisioning_ratio = 1.5;
    check_text(node_pool_change_text(&pool, &changed, &arena),
               "label from none to gpu=h100; over-provisioning ratio from 1 to 1.5", "a pool");
    arena_done(&arena);
    return check_finish();
}
