// What the files of rich_document share: the cluster in the making.
#pragma once
#include "tests/support/rich_document.h"

enum {
    MOST_NODES = 6,
    MOST_GPUS = 8,
    MOST_PODS = 6,
    DEVICE_MIB = 16000,
    NODE_CORES = 16,
    NODE_GIB = 64,
    MIG_INSTANCES = 7,
    NICS = 2
};

#define MIG "nvidia.com/mig-1g.10gb"
#define BIG_MIG "nvidia.com/mig-3g.20gb"
#define NIC "example.com/nic"
extern const char *const RICH_POOLS[3];

// What is left on a node for pods that run already.
struct room {
    unsigned pool;
    unsigned gpus; // devices that nobody has
    unsigned first_free;
    int64_t cpu_milli;
    int64_t gib;
    unsigned pods;
    unsigned mig, nics;
    unsigned open_mib; // of the shared device opened last
    unsigned open_group;
    unsigned mib; // of a device
};

struct maker {
    struct document_dice *dice;
    json_t *document;
    unsigned pool_count, node_count, project_count, department_count;
    struct room rooms[MOST_NODES];
    unsigned promises;
    // Which features this cluster has.
    bool fractions, memory_amounts, mig, extended, rules, pod_affinity, topology, sub_groups, elastic, promised,
        min_times, limits, statuses, deleting, delays, stale, tight_cpu, small_pods;
};

static inline unsigned below(struct maker *maker, unsigned sides)
{
    return document_dice_throw(maker->dice, sides);
}

static inline bool one_in(struct maker *maker, unsigned sides)
{
    return below(maker, sides) == 0;
}

static inline void set_int(json_t *object, const char *key, unsigned value)
{
    json_object_set_new(object, key, json_integer(value));
}

static inline json_t *named(const char *prefix, unsigned number)
{
    return json_sprintf("%s%02u", prefix, number);
}

static inline json_t *clock_text(unsigned minutes) // past eleven; now is twelve
{
    return json_sprintf("2026-01-01T11:%02u:00Z", minutes % 60);
}

void make_workload(struct maker *maker, json_t *workloads, unsigned index);
