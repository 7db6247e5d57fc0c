#include "reconciler/world/world.h"

#include "base/error.h"
#include "base/hash.h"
#include "reconciler/world/world_json.h"
#include "scheduler/plan.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES_PER_WEIGHT_MILLI = 10000
};
#define WEIGHT_MILLI_MAXIMUM INT64_C(1000000000000) // scheduler/snapshot.h

static size_t index_slot(const struct id_index *index, int64_t id)
{
    size_t slot = ((uint64_t)id * 0x9E3779B97F4A7C15ULL >> 32) & index->mask;
    while (index->slots[slot].id && index->slots[slot].id != id)
        slot = (slot + 1) & index->mask;
    return slot;
}

// total is how many will be added in all.
static void index_add(struct id_index *index, struct arena *arena, size_t total, int64_t id, uint32_t position)
{
    if (!index->slots) {
        size_t capacity = 16;
        while (capacity < total * 2)
            capacity *= 2;
        index->slots = arena_array(arena, capacity, sizeof(*index->slots));
        index->mask = capacity - 1;
    }
    index->slots[index_slot(index, id)] = (struct id_slot){id, position};
}

static uint32_t index_find(const struct id_index *index, int64_t id)
{
    if (!index->slots)
        return SNAPSHOT_NONE;
    const struct id_slot *slot = &index->slots[index_slot(index, id)];
    return slot->id ? slot->position : SNAPSHOT_NONE;
}

static int compare_extended(const void *a, const void *b)
{
    return strcmp(((const struct snapshot_extended_resource *)a)->name,
                  ((const struct snapshot_extended_resource *)b)->name);
}

static void add_extended(struct world *world, const char *name, size_t *capacity)
{
    for (size_t i = 0; i < world->extended_count; i++)
        if (strcmp(world->extended[i].name, name) == 0)
            return;
    world->extended =
        arena_grow(&world->arena, world->extended, capacity, world->extended_count + 1, sizeof(*world->extended));
    bool is_mig = strncmp(name, "nvidia.com/mig-", 15) == 0;
    world->extended[world->extended_count++] = (struct snapshot_extended_resource){
        .name = arena_strdup(&world->arena, name),
        .is_mig = is_mig,
        .gpu_milli = is_mig ? strtol(name + 15, NULL, 10) * GPU_MILLI_PER_DEVICE : 0,
    };
}

// All names that nodes offer or pods ask for, in their order.
static void build_extended(struct world *world, const struct extended_names *asked)
{
    size_t capacity = 0;
    for (size_t i = 0; i < world->rows.node_count; i++) {
        const char **names;
        size_t count = world_json_keys(world->rows.nodes[i].mig_instances_json, &world->arena, &names);
        for (size_t k = 0; k < count; k++)
            add_extended(world, names[k], &capacity);
    }
    for (size_t i = 0; i < asked->count; i++)
        add_extended(world, asked->names[i], &capacity);
    if (world->extended_count > 1)
        qsort(world->extended, world->extended_count, sizeof(*world->extended), compare_extended);
}

void world_add_extended(struct world *world, const struct extended_names *names)
{
    size_t capacity = world->extended_count; // full: the first new one moves to a copy
    for (size_t i = 0; i < names->count; i++)
        add_extended(world, names->names[i], &capacity);
    if (world->extended_count > 1)
        qsort(world->extended, world->extended_count, sizeof(*world->extended), compare_extended);
}

static enum placement_strategy strategy_of(const char *word)
{
    return strcmp(word, "spread") == 0          ? PLACEMENT_SPREAD
           : strcmp(word, "fragmentation") == 0 ? PLACEMENT_FRAGMENTATION
                                                : PLACEMENT_BINPACK;
}

static struct extended_list list_extended(const struct world *world)
{
    return (struct extended_list){world->extended, world->extended_count};
}

static void build_pools(struct world *world)
{
    world->pools = arena_array(&world->arena, world->rows.pool_count, sizeof(*world->pools));
    world->windows = arena_array(&world->arena, world->rows.pool_count, sizeof(*world->windows));
    for (size_t i = 0; i < world->rows.pool_count; i++) {
        const struct pool_row *row = &world->rows.pools[i];
        world_json_window(row->time_based_fairshare_json, &world->windows[i]);
        world->pools[i] = (struct snapshot_node_pool){
            .name = row->name,
            .gpu_placement = strategy_of(row->gpu_placement),
            .cpu_placement = strategy_of(row->cpu_placement),
            .preempt_min_run_time_ms = row->min_guaranteed_runtime_ms,
            .reclaim_min_run_time_ms = row->min_guaranteed_runtime_ms,
            .reserves = row->reserves,
            .reclaims_by_rank = row->reclaims_by_rank,
            .topology = row->topology_name,
            .fair_share_k_micro = world->windows[i].is_enabled ? world->windows[i].k_micro : 0,
        };
    }
}

// Ascending, each once, and there.
static void set_unhealthy(struct world *world, const struct node_row *row, struct snapshot_node *node)
{
    uint32_t *named;
    size_t count = world_json_numbers(row->unhealthy_gpus_json, &world->arena, &named);
    uint32_t *unhealthy = arena_array(&world->arena, node->gpu_count, sizeof(*unhealthy));
    for (uint32_t gpu = 0; gpu < node->gpu_count; gpu++)
        for (size_t i = 0; i < count; i++)
            if (named[i] == gpu) {
                unhealthy[node->unhealthy_gpu_count++] = gpu;
                break;
            }
    node->unhealthy_gpus = unhealthy;
}

// What others leave of an amount. 0 would say that the amount is not known.
static int64_t left_of(int64_t amount, int64_t others)
{
    return amount > others || amount == 0 ? amount - (amount ? others : 0) : 1;
}

static void build_nodes(struct world *world)
{
    world->nodes = arena_array(&world->arena, world->rows.node_count, sizeof(*world->nodes));
    for (size_t i = 0; i < world->rows.node_count; i++) {
        const struct node_row *row = &world->rows.nodes[i];
        struct snapshot_node *node = &world->nodes[i];
        *node = (struct snapshot_node){
            .name = row->name,
            .node_pool = world_pool(world, row->node_pool_id),
            .gpu_count = (uint32_t)row->gpu_count,
            .gpu_memory_mib = row->gpu_memory_mib,
            .gpu_type = row->gpu_type,
            .cpu_milli = left_of(row->cpu_milli, row->others_cpu_milli),
            .memory_bytes = left_of(row->memory_bytes, row->others_memory_bytes),
            .max_pods = (uint32_t)left_of(row->max_pods, row->others_pods),
            .mig_strategy = strcmp(row->mig_strategy, "single") == 0  ? MIG_STRATEGY_SINGLE
                            : strcmp(row->mig_strategy, "mixed") == 0 ? MIG_STRATEGY_MIXED
                                                                      : MIG_STRATEGY_NONE,
            .ready = row->ready,
            .cordoned = row->cordoned,
        };
        world_json_labels(row->labels_json, &world->arena, &node->labels, &node->label_count);
        world_json_taints(row->taints_json, &world->arena, &node->taints, &node->taint_count);
        set_unhealthy(world, row, node);
        world_json_amounts(row->mig_instances_json, list_extended(world), &world->arena, &node->extended,
                           &node->extended_count);
    }
}

static void build_topologies(struct world *world)
{
    world->topologies = arena_array(&world->arena, world->rows.topology_count, sizeof(*world->topologies));
    for (size_t i = 0; i < world->rows.topology_count; i++) {
        const char **levels;
        size_t count = world_json_texts(world->rows.topologies[i].levels_json, &world->arena, &levels);
        world->topologies[i] =
            (struct snapshot_topology){.name = world->rows.topologies[i].name, .levels = levels, .level_count = count};
    }
}

uint32_t world_topology_by_name(const struct world *world, const char *name)
{
    for (size_t i = 0; name && i < world->rows.topology_count; i++)
        if (strcmp(world->rows.topologies[i].name, name) == 0)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

static bool has_levels(const struct snapshot_node *node, const struct snapshot_topology *topology)
{
    for (size_t level = 0; level < topology->level_count; level++) {
        bool has_label = false;
        for (size_t i = 0; i < node->label_count && !has_label; i++)
            has_label = strcmp(node->labels[i].key, topology->levels[level]) == 0;
        if (!has_label)
            return false;
    }
    return topology->level_count > 0;
}

// The network that a pool's setting names counts where all its nodes say where they stand in it: what nobody asked for
// by name must not keep a workload off a node.
static void set_pool_topologies(struct world *world)
{
    world->pool_topologies = arena_array(&world->arena, world->rows.pool_count, sizeof(*world->pool_topologies));
    for (size_t i = 0; i < world->rows.pool_count; i++)
        world->pool_topologies[i] = world_topology_by_name(world, world->rows.pools[i].topology_name);
    for (size_t i = 0; i < world->rows.node_count; i++) {
        const struct snapshot_node *node = &world->nodes[i];
        uint32_t *topology = node->node_pool == SNAPSHOT_NONE ? NULL : &world->pool_topologies[node->node_pool];
        if (topology && *topology != SNAPSHOT_NONE && !has_levels(node, &world->topologies[*topology]))
            *topology = SNAPSHOT_NONE;
    }
}

static int64_t weight_milli(double weight)
{
    return weight > 0 ? llround(weight * 1000) : 0;
}

// The weight that follows from a quota; memory is scaled down to what a weight may be.
static int64_t weight_of_quota(enum resource resource, int64_t deserved, int64_t own_milli)
{
    if (deserved == QUANTITY_UNLIMITED)
        return own_milli; // it deserves all it asks for: over quota there is nothing to weigh
    int64_t weight = resource == RESOURCE_MEMORY
                         ? deserved / BYTES_PER_WEIGHT_MILLI + (deserved % BYTES_PER_WEIGHT_MILLI > 0)
                         : deserved;
    return weight < WEIGHT_MILLI_MAXIMUM ? weight : WEIGHT_MILLI_MAXIMUM;
}

// As the tenant's settings have it.
static void apply_settings(const struct world_rows *rows, struct snapshot_queue *queue)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if (!rows->has_cpu_quota && r != RESOURCE_GPU)
            queue->deserved.of[r] = queue->limit.of[r] = QUANTITY_UNLIMITED;
        if (!rows->has_over_quota_weight)
            queue->over_quota_weight_milli.of[r] =
                weight_of_quota(r, queue->deserved.of[r], queue->over_quota_weight_milli.of[r]);
    }
}

struct snapshot_queue world_queue(const struct world_rows *rows, const struct queue_row *row)
{
    struct snapshot_queue queue = snapshot_queue_default();
    queue.rank = row->rank;
    queue.deserved = (struct amounts){{row->gpu_deserved_milli, row->cpu_deserved_milli, row->memory_deserved_bytes}};
    queue.limit = (struct amounts){{row->gpu_limit_milli, row->cpu_limit_milli, row->memory_limit_bytes}};
    queue.over_quota_weight_milli = (struct amounts){
        {weight_milli(row->gpu_weight), weight_milli(row->cpu_weight), weight_milli(row->memory_weight)}};
    apply_settings(rows, &queue);
    return queue;
}

static uint32_t find_department(const struct world *world, int64_t id)
{
    for (size_t i = 0; i < world->rows.department_count; i++)
        if (world->rows.departments[i].id == id)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

// One queue per owner and pool, filled with the defaults where there is no row.
static struct snapshot_queue *build_queues(struct world *world, enum queue_kind kind, size_t owner_count)
{
    size_t pool_count = world->rows.pool_count;
    struct snapshot_queue *queues = arena_array(&world->arena, owner_count * pool_count, sizeof(*queues));
    int64_t *ids = arena_array(&world->arena, owner_count * pool_count, sizeof(*ids));
    for (size_t i = 0; i < owner_count * pool_count; i++)
        queues[i] = snapshot_queue_default();
    for (size_t i = 0; i < world->rows.queue_count; i++) {
        const struct queue_row *row = &world->rows.queues[i];
        if (row->is_department != (kind == QUEUE_KIND_DEPARTMENT))
            continue;
        uint32_t owner =
            row->is_department ? find_department(world, row->owner_id) : world_project(world, row->owner_id);
        uint32_t pool = world_pool(world, row->node_pool_id);
        if (owner == SNAPSHOT_NONE || pool == SNAPSHOT_NONE)
            continue;
        queues[owner * pool_count + pool] = world_queue(&world->rows, row);
        ids[owner * pool_count + pool] = row->id;
    }
    world->queue_ids[kind] = ids;
    return queues;
}

static int64_t time_or_none(int64_t ms)
{
    return ms >= 0 ? ms : SNAPSHOT_TIME_NONE;
}

static void build_org(struct world *world)
{
    size_t pool_count = world->rows.pool_count;
    world->departments = arena_array(&world->arena, world->rows.department_count, sizeof(*world->departments));
    struct snapshot_queue *queues = build_queues(world, QUEUE_KIND_DEPARTMENT, world->rows.department_count);
    for (size_t i = 0; i < world->rows.department_count; i++)
        world->departments[i] = (struct snapshot_department){
            .name = world->rows.departments[i].name,
            .created_ms = world->rows.departments[i].created_ms,
            .preempt_min_run_time_ms = time_or_none(world->rows.departments[i].preempt_min_runtime_ms),
            .reclaim_min_run_time_ms = time_or_none(world->rows.departments[i].reclaim_min_runtime_ms),
            .queues = queues + i * pool_count,
        };
    world->projects = arena_array(&world->arena, world->rows.project_count, sizeof(*world->projects));
    world->project_pools = arena_array(&world->arena, world->rows.project_count, sizeof(*world->project_pools));
    queues = build_queues(world, QUEUE_KIND_PROJECT, world->rows.project_count);
    for (size_t i = 0; i < world->rows.project_count; i++) {
        const struct project_row *row = &world->rows.projects[i];
        world->project_pools[i] = world_pools_of_text(world, row->node_pools_json, &world->arena);
        world->projects[i] = (struct snapshot_project){
            .name = row->name,
            .department = find_department(world, row->department_id),
            .created_ms = row->created_ms,
            .preempt_min_run_time_ms = time_or_none(row->preempt_min_runtime_ms),
            .reclaim_min_run_time_ms = time_or_none(row->reclaim_min_runtime_ms),
            .person_gpu_limit_milli = row->person_gpu_milli < 0 ? QUANTITY_UNLIMITED : row->person_gpu_milli,
            .person_workload_limit =
                row->person_workloads < 0 ? SNAPSHOT_COUNT_UNLIMITED : (uint32_t)row->person_workloads,
            .is_fair_among_people = row->is_fair_among_people,
            .queues = queues + i * pool_count,
        };
    }
}

struct world *world_create(struct db_conn *conn, const struct extended_names *asked, struct error *err)
{
    struct world *world = memory_array(1, sizeof(*world));
    atomic_init(&world->references, 1);
    while (world->number == 0)
        randombytes_buf(&world->number, sizeof(world->number));
    arena_init(&world->arena);
    if (db_read_world(conn, &world->arena, &world->rows, err) < 0) {
        world_release(world);
        return NULL;
    }
    for (size_t i = 0; i < world->rows.node_count; i++)
        index_add(&world->node_index, &world->arena, world->rows.node_count, world->rows.nodes[i].id, (uint32_t)i);
    for (size_t i = 0; i < world->rows.project_count; i++)
        index_add(&world->project_index, &world->arena, world->rows.project_count, world->rows.projects[i].id,
                  (uint32_t)i);
    build_extended(world, asked);
    build_pools(world);
    build_nodes(world);
    build_topologies(world);
    set_pool_topologies(world);
    build_org(world);
    return world;
}

struct world *world_acquire(struct world *world)
{
    atomic_fetch_add(&world->references, 1);
    return world;
}

void world_release(struct world *world)
{
    if (!world || atomic_fetch_sub(&world->references, 1) > 1)
        return;
    arena_done(&world->arena);
    free(world);
}

uint32_t world_pool(const struct world *world, int64_t id)
{
    for (size_t i = 0; i < world->rows.pool_count; i++)
        if (world->rows.pools[i].id == id)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

uint32_t world_pool_by_name(const struct world *world, const char *name)
{
    for (size_t i = 0; i < world->rows.pool_count; i++)
        if (strcmp(world->rows.pools[i].name, name) == 0)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

size_t world_pools_named(const struct world *world, const char *names_json, struct arena *arena, uint32_t **out_pools)
{
    const char **names;
    size_t name_count = world_json_texts(names_json, arena, &names), count = 0;
    uint32_t *pools = *out_pools = arena_array(arena, name_count, sizeof(*pools));
    for (size_t i = 0; i < name_count; i++) {
        uint32_t pool = world_pool_by_name(world, names[i]);
        bool is_known = pool == SNAPSHOT_NONE;
        for (size_t k = 0; k < count && !is_known; k++)
            is_known = pools[k] == pool;
        if (!is_known)
            pools[count++] = pool;
    }
    return count;
}

struct pool_list world_pools_of_text(const struct world *world, const char *names_json, struct arena *arena)
{
    struct pool_list list;
    list.count = world_pools_named(world, names_json, arena, &list.pools);
    if (list.count == 0) {
        list.pools = arena_array(arena, 1, sizeof(*list.pools));
        list.pools[list.count++] = world_default_pool(world);
    }
    return list;
}

uint32_t world_default_pool(const struct world *world)
{
    for (size_t i = 0; i < world->rows.pool_count; i++)
        if (world->rows.pools[i].is_default)
            return (uint32_t)i;
    return world->rows.pool_count ? 0 : SNAPSHOT_NONE;
}

uint32_t world_node(const struct world *world, int64_t id)
{
    return index_find(&world->node_index, id);
}

uint32_t world_node_by_name(const struct world *world, const char *name)
{
    size_t low = 0, high = world->rows.node_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(world->nodes[middle].name, name);
        if (order == 0)
            return (uint32_t)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SNAPSHOT_NONE;
}

uint32_t world_project(const struct world *world, int64_t id)
{
    return index_find(&world->project_index, id);
}

enum {
    PLACEMENT_SLOTS = 1024
};

const struct placement *world_placement(struct world *world, const char *constraints_json, struct extended_names *asked)
{
    if (!world->placements)
        world->placements = arena_array(&world->arena, PLACEMENT_SLOTS, sizeof(*world->placements));
    uint64_t hash = hash_text(HASH_START, constraints_json);
    struct placement **slot = &world->placements[hash % PLACEMENT_SLOTS];
    for (struct placement *placement = *slot; placement; placement = placement->next)
        if (strcmp(placement->constraints_json, constraints_json) == 0)
            return placement;
    struct placement *placement = arena_alloc(&world->arena, sizeof(*placement));
    placement->constraints_json = arena_strdup(&world->arena, constraints_json);
    placement->next = *slot;
    world_json_placement(constraints_json, list_extended(world), &world->arena, asked, placement);
    *slot = placement;
    world->placement_count++;
    return placement;
}
