// How many workloads wait, and for which node pools. A workload that may go to several counts in each of them, and once
// where no pool is named. Projects and departments have rows only where some of theirs wait, or did.
#include "base/hash.h"
#include "reconciler/outcome/sampler.h"

#include <string.h>

#define METRIC "WAITING_WORKLOADS"

enum {
    LISTS = 256 // of node pools that are kept; a power of two
};

// The node pools that a text names, as far as there are any.
struct text_pools {
    const char *text; // NULL: not read
    struct pool_list list;
};

struct counting {
    const struct cache *cache;
    struct arena *arena;
    size_t width; // of the rows below: [0] of all, then of each pool
    int64_t *all, *projects, *departments;
    struct text_pools kept[LISTS]; // by hash of their text: very many workloads have few of them
};

// The pools that a workload may go to, as the scheduler takes them (snapshot_build.c).
static const struct pool_list *pools_of(struct counting *counting, const struct cache_workload *workload,
                                        uint32_t project)
{
    const struct world *world = counting->cache->world;
    const char *text = workload->node_pools_json;
    if (!text)
        return &world->project_pools[project];
    struct text_pools *kept = &counting->kept[hash_text(HASH_START, text) & (LISTS - 1)];
    if (!kept->text || strcmp(kept->text, text) != 0) {
        kept->text = text;
        kept->list.count = world_pools_named(world, text, counting->arena, &kept->list.pools);
    }
    return kept->list.count ? &kept->list : &world->project_pools[project];
}

static void add(const struct pool_list *list, int64_t *counts)
{
    counts[0]++;
    for (size_t i = 0; i < list->count; i++)
        counts[1 + list->pools[i]]++;
}

static void count(struct counting *counting)
{
    const struct world *world = counting->cache->world;
    for (size_t i = 0; i < counting->cache->workload_count; i++) {
        const struct cache_workload *workload = counting->cache->order[i];
        if (workload->phase != PHASE_PENDING)
            continue;
        uint32_t project = world_project(world, workload->project_id);
        if (project == SNAPSHOT_NONE) {
            counting->all[0]++;
            continue;
        }
        const struct pool_list *list = pools_of(counting, workload, project);
        add(list, counting->all);
        add(list, counting->projects + project * counting->width);
        add(list, counting->departments + world->projects[project].department * counting->width);
    }
}

static void sample_unit(struct sampler *sampler, const struct counting *counting, const char *scope, int64_t id,
                        const int64_t *counts)
{
    const struct world_rows *rows = &counting->cache->world->rows;
    for (size_t i = 0; i < counting->width; i++)
        sampler_set_sparse(sampler, scope, id, i ? rows->pools[i - 1].id : 0, METRIC, (double)counts[i],
                           counts[i] == 0);
}

void waiting_sample(struct sampler *sampler, const struct cache *cache)
{
    const struct world_rows *rows = &cache->world->rows;
    struct counting *counting = arena_array(sampler->arena, 1, sizeof(*counting));
    *counting = (struct counting){.cache = cache, .arena = sampler->arena, .width = rows->pool_count + 1};
    counting->all = arena_array(sampler->arena, counting->width, sizeof(int64_t));
    counting->projects = arena_array(sampler->arena, rows->project_count * counting->width, sizeof(int64_t));
    counting->departments = arena_array(sampler->arena, rows->department_count * counting->width, sizeof(int64_t));
    count(counting);
    sampler_set(sampler, "cluster", rows->cluster_id, 0, METRIC, (double)counting->all[0]);
    for (size_t i = 0; i < rows->pool_count; i++)
        sampler_set(sampler, "nodepool", rows->pools[i].id, 0, METRIC, (double)counting->all[1 + i]);
    for (size_t i = 0; i < rows->project_count; i++)
        sample_unit(sampler, counting, "project", rows->projects[i].id, counting->projects + i * counting->width);
    for (size_t i = 0; i < rows->department_count; i++)
        sample_unit(sampler, counting, "department", rows->departments[i].id,
                    counting->departments + i * counting->width);
}
