#include "reconciler/turn/machines.h"

#include <inttypes.h>
#include <string.h>

enum {
    GPUS_MAX = 64 // of a node, whose devices are bits here
};

// By node of the world: the devices that our pods hold.
static uint64_t *list_held(const struct turn *turn)
{
    const struct cache *cache = turn->cache;
    uint64_t *held = arena_array(turn->arena, cache->world->rows.node_count, sizeof(*held));
    size_t position = 0;
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        uint32_t node = pod_status_holds_place(pod->status) ? world_node(cache->world, pod->node_id) : SNAPSHOT_NONE;
        for (size_t i = 0; node != SNAPSHOT_NONE && i < pod->gpu_index_count; i++)
            if (pod->gpu_indices[i] < GPUS_MAX)
                held[node] |= UINT64_C(1) << pod->gpu_indices[i];
    }
    return held;
}

// So many devices, from the highest: those that no pod of ours holds before those that one does.
static uint64_t choose_withheld(int64_t gpu_count, int64_t count, uint64_t held)
{
    uint64_t chosen = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t gpu = gpu_count - 1; gpu >= 0 && count > 0; gpu--) {
            uint64_t bit = UINT64_C(1) << gpu;
            if ((chosen & bit) || (pass == 0 && (held & bit)))
                continue;
            chosen |= bit;
            count--;
        }
    return chosen;
}

static const char *write_indices(const struct turn *turn, uint64_t chosen)
{
    const char *list = "";
    for (unsigned i = 0; i < GPUS_MAX; i++)
        if (chosen >> i & 1)
            list = arena_printf(turn->arena, "%s%s%u", list, list[0] ? "," : "", i);
    return arena_printf(turn->arena, "[%s]", list);
}

static void add(struct turn *turn, const struct turn_machine *machine)
{
    turn->machines = arena_grow(turn->arena, turn->machines, &turn->machine_capacity, turn->machine_count + 1,
                                sizeof(*turn->machines));
    turn->machines[turn->machine_count++] = *machine;
}

// The devices of a node whose number is told as one of a node's, and no fewer than our pods hold.
static void count_gpus(const struct backend_machine *machine, uint64_t held, int64_t *out_count, int64_t *out_withheld)
{
    int64_t count = machine->gpu_count < GPUS_MAX ? machine->gpu_count : GPUS_MAX, needed = 0;
    for (int64_t gpu = 0; gpu < GPUS_MAX; gpu++)
        if (held >> gpu & 1)
            needed = gpu + 1;
    *out_withheld = machine->gpus_withheld < count ? machine->gpus_withheld : count;
    if (needed > count) {
        *out_withheld += needed - count;
        count = needed;
    }
    *out_count = count;
}

static bool is_same(const struct node_row *row, const struct backend_machine *machine,
                    const struct turn_machine *counted, int64_t withheld)
{
    return row->ready == machine->is_ready && row->reported_cordoned == machine->is_cordoned &&
           strcmp(row->status_reason, machine->reason) == 0 && strcmp(row->labels_json, machine->labels_json) == 0 &&
           strcmp(row->taints_json, machine->taints_json) == 0 && row->gpu_count == counted->gpu_count &&
           row->gpus_withheld == withheld && row->gpu_memory_mib == machine->gpu_memory_mib &&
           strcmp(row->gpu_type, machine->gpu_type) == 0 && strcmp(row->mig_strategy, machine->mig_strategy) == 0 &&
           strcmp(row->mig_instances_json, machine->mig_instances_json) == 0 &&
           strcmp(row->unhealthy_gpus_json, counted->unusable_gpus_json) == 0 && row->cpu_milli == machine->cpu_milli &&
           row->memory_bytes == machine->memory_bytes && row->max_pods == machine->max_pods &&
           row->others_cpu_milli == machine->others_cpu_milli &&
           row->others_memory_bytes == machine->others_memory_bytes && row->others_pods == machine->others_pods;
}

static void take_machine(struct turn *turn, struct backend_machine *machine, const struct node_row *row, uint64_t held)
{
    int64_t withheld;
    struct turn_machine counted = {.name = machine->name, .machine = machine};
    count_gpus(machine, held, &counted.gpu_count, &withheld);
    counted.unusable_gpus_json = write_indices(turn, choose_withheld(counted.gpu_count, withheld, held));
    if (row && is_same(row, machine, &counted, withheld))
        return;
    machine->gpus_withheld = withheld;
    add(turn, &counted);
}

static bool is_told(const struct backend_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (facts[i].kind == BACKEND_NODES_CHANGED)
            return true;
    return false;
}

static void take_all(struct turn *turn)
{
    const struct world *world = turn->cache->world;
    const struct backend *backend = turn->backend;
    struct backend_machine *machines;
    size_t count;
    if (!backend->ops->read_machines(backend->self, turn->arena, &machines, &count))
        return;
    const uint64_t *held = list_held(turn);
    bool *is_there = arena_array(turn->arena, world->rows.node_count, sizeof(*is_there));
    for (size_t i = 0; i < count; i++) {
        uint32_t node = world_node_by_name(world, machines[i].name);
        if (node == SNAPSHOT_NONE) {
            take_machine(turn, &machines[i], NULL, 0);
            continue;
        }
        is_there[node] = true;
        take_machine(turn, &machines[i], &world->rows.nodes[node], held[node]);
    }
    for (size_t i = 0; i < world->rows.node_count; i++)
        if (!is_there[i])
            add(turn, &(struct turn_machine){.name = world->nodes[i].name});
}

void machines_take(struct turn *turn, const struct backend_fact *facts, size_t count)
{
    if (turn->backend && turn->backend->ops->read_machines && is_told(facts, count))
        take_all(turn);
}

void machines_settle(struct turn *turn)
{
    if (!turn->backend || !turn->backend->ops->read_machines || turn->machine_count)
        return;
    for (size_t i = 0; i < turn->pod_count; i++) {
        const struct cache_pod *pod = turn->pods[i];
        uint32_t node = pod->ends_allocation ? world_node(turn->cache->world, pod->node_id) : SNAPSHOT_NONE;
        if (node != SNAPSHOT_NONE && turn->cache->world->rows.nodes[node].gpus_withheld > 0) {
            take_all(turn);
            return;
        }
    }
}
