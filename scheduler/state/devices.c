#include "scheduler/state/devices.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/shared_device.h"

#include <stdlib.h>

enum slot_state {
    SLOT_FREE,
    SLOT_HELD,
    SLOT_RELEASING
};

struct slot {
    enum slot_state state;
    bool promised;
    bool is_unhealthy; // never chosen
};

struct assigned {
    uint32_t *indices;
    uint32_t count;
};

struct device_table {
    struct slot *slots;
    size_t *first_slot;        // by node
    struct assigned *assigned; // by pod: the whole devices of its place
    struct assigned *evicted;  // by pod: those that it held when it was evicted
};

static struct slot *slot_of(struct device_table *table, uint32_t node, uint32_t gpu)
{
    return &table->slots[table->first_slot[node] + gpu];
}

static size_t slot_count(const struct device_table *table, uint32_t node)
{
    return table->first_slot[node + 1] - table->first_slot[node];
}

// The lowest free index; a promise may also stand on a device that is being released. SNAPSHOT_NONE where the snapshot
// holds more than the node has.
static uint32_t pick(struct device_table *table, uint32_t node, bool promise)
{
    for (uint32_t i = 0; i < slot_count(table, node); i++) {
        const struct slot *slot = slot_of(table, node, i);
        if (!slot->promised && !slot->is_unhealthy &&
            (slot->state == SLOT_FREE || (promise && slot->state == SLOT_RELEASING)))
            return i;
    }
    for (uint32_t i = 0; i < slot_count(table, node); i++) {
        const struct slot *slot = slot_of(table, node, i);
        if (!slot->is_unhealthy && (promise ? !slot->promised : slot->state == SLOT_FREE))
            return i;
    }
    return SNAPSHOT_NONE;
}

static uint32_t take(struct device_table *table, uint32_t node, bool promise)
{
    uint32_t gpu = pick(table, node, promise);
    if (gpu == SNAPSHOT_NONE)
        return gpu;
    struct slot *slot = slot_of(table, node, gpu);
    if (promise)
        slot->promised = true;
    else
        slot->state = SLOT_HELD;
    return gpu;
}

static void set_up_recorded(struct cycle *cycle, struct device_table *table, const struct pod *pod)
{
    const struct snapshot_pod *spec = pod->spec;
    uint32_t node = pod->state.place.node;
    if (pod->request.shared_devices > 0) {
        for (uint32_t i = 0; i < pod->state.place.shared_count && i < spec->gpu_index_count; i++) {
            struct shared_device *device = &cycle->nodes[node].shared[pod->state.place.shared[i]];
            if (spec->gpu_indices[i] < slot_count(table, node) && device->gpu_index == SNAPSHOT_NONE) {
                device->gpu_index = spec->gpu_indices[i];
                slot_of(table, node, device->gpu_index)->state = SLOT_HELD;
            }
        }
        return;
    }
    struct assigned *assigned = &table->assigned[pod->index];
    assigned->indices = arena_array(cycle->arena, spec->gpu_index_count, sizeof(*assigned->indices));
    for (uint32_t i = 0; i < spec->gpu_index_count; i++) {
        if (spec->gpu_indices[i] >= slot_count(table, node))
            continue;
        assigned->indices[assigned->count++] = spec->gpu_indices[i];
        slot_of(table, node, spec->gpu_indices[i])->state =
            pod->spec->status == SNAPSHOT_POD_RELEASING ? SLOT_RELEASING : SLOT_HELD;
    }
}

// A pod whose devices nobody wrote down gets the lowest free ones.
static void set_up_unrecorded(struct cycle *cycle, struct device_table *table, const struct pod *pod)
{
    uint32_t node = pod->state.place.node;
    for (uint32_t i = 0; i < pod->state.place.shared_count; i++) {
        struct shared_device *device = &cycle->nodes[node].shared[pod->state.place.shared[i]];
        if (device->gpu_index == SNAPSHOT_NONE)
            device->gpu_index = take(table, node, false);
    }
    struct assigned *assigned = &table->assigned[pod->index];
    uint32_t needed = (uint32_t)pod->request.of[DIMENSION_GPU];
    if (assigned->count > 0 || needed == 0)
        return;
    assigned->indices = arena_array(cycle->arena, needed, sizeof(*assigned->indices));
    for (uint32_t i = 0; i < needed; i++) {
        uint32_t gpu = take(table, node, false);
        if (gpu == SNAPSHOT_NONE)
            break;
        assigned->indices[assigned->count++] = gpu;
        if (pod->spec->status == SNAPSHOT_POD_RELEASING)
            slot_of(table, node, gpu)->state = SLOT_RELEASING;
    }
}

// Where the pods stood when the cycle opened: first those whose devices are written down, then all others.
static void set_up(struct cycle *cycle, struct device_table *table, bool recorded)
{
    for (size_t p = 0; p < cycle->snapshot->pod_count; p++) {
        struct pod pod = cycle->pods[p];
        if (!place_is(cycle->start_places[p]) || (recorded && pod.spec->gpu_index_count == 0))
            continue;
        pod.state.place = cycle->start_places[p];
        (recorded ? set_up_recorded : set_up_unrecorded)(cycle, table, &pod);
    }
}

static struct device_table *table_of(struct cycle *cycle)
{
    if (cycle->devices)
        return cycle->devices;
    const struct snapshot *snapshot = cycle->snapshot;
    struct device_table *table = arena_alloc(cycle->scratch, sizeof(*table));
    table->first_slot = arena_array(cycle->scratch, snapshot->node_count + 1, sizeof(*table->first_slot));
    for (size_t n = 0; n < snapshot->node_count; n++)
        table->first_slot[n + 1] = table->first_slot[n] + snapshot->nodes[n].gpu_count;
    table->slots = arena_array(cycle->scratch, table->first_slot[snapshot->node_count], sizeof(*table->slots));
    table->assigned = arena_array(cycle->scratch, snapshot->pod_count, sizeof(*table->assigned));
    table->evicted = arena_array(cycle->scratch, snapshot->pod_count, sizeof(*table->evicted));
    for (uint32_t n = 0; n < snapshot->node_count; n++) {
        for (size_t i = 0; i < snapshot->nodes[n].unhealthy_gpu_count; i++)
            slot_of(table, n, snapshot->nodes[n].unhealthy_gpus[i])->is_unhealthy = true;
    }
    cycle->devices = table;
    set_up(cycle, table, true);
    set_up(cycle, table, false);
    return table;
}

static struct plan_devices describe(struct cycle *cycle, const struct pod *pod, struct place place)
{
    struct plan_devices devices = {0};
    if (place.shared_count == 0) {
        const struct assigned *assigned = &table_of(cycle)->assigned[pod->index];
        devices.gpu_indices = assigned->indices;
        devices.gpu_index_count = assigned->count;
        return devices;
    }
    const char **groups = arena_array(cycle->arena, place.shared_count, sizeof(*groups));
    uint32_t *indices = arena_array(cycle->arena, place.shared_count, sizeof(*indices));
    for (uint32_t i = 0; i < place.shared_count; i++) {
        const struct shared_device *device = &cycle->nodes[place.node].shared[place.shared[i]];
        groups[i] = device->name;
        if (device->gpu_index != SNAPSHOT_NONE)
            indices[devices.gpu_index_count++] = device->gpu_index;
    }
    devices.gpu_groups = groups;
    devices.gpu_group_count = place.shared_count;
    devices.gpu_indices = indices;
    return devices;
}

static int compare_indices(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

struct plan_devices devices_assign(struct cycle *cycle, const struct pod *pod)
{
    struct device_table *table = table_of(cycle);
    uint32_t node = pod->state.place.node;
    bool promise = pod->state.status == SNAPSHOT_POD_PIPELINED;
    for (uint32_t i = 0; i < pod->state.place.shared_count; i++) {
        struct shared_device *device = &cycle->nodes[node].shared[pod->state.place.shared[i]];
        if (device->gpu_index == SNAPSHOT_NONE)
            device->gpu_index = take(table, node, promise);
    }
    uint32_t needed = (uint32_t)pod->request.of[DIMENSION_GPU];
    struct assigned *assigned = &table->assigned[pod->index];
    *assigned = (struct assigned){0};
    if (needed > 0)
        assigned->indices = arena_array(cycle->arena, needed, sizeof(*assigned->indices));
    for (uint32_t i = 0; i < needed; i++) {
        uint32_t gpu = take(table, node, promise);
        if (gpu != SNAPSHOT_NONE)
            assigned->indices[assigned->count++] = gpu;
    }
    if (assigned->count > 1)
        qsort(assigned->indices, assigned->count, sizeof(*assigned->indices), compare_indices);
    return describe(cycle, pod, pod->state.place);
}

struct plan_devices devices_give_up(struct cycle *cycle, const struct pod *pod, const struct pod_state *state)
{
    struct device_table *table = table_of(cycle);
    struct plan_devices devices = describe(cycle, pod, state->place);
    bool was_promise = state->status == SNAPSHOT_POD_PIPELINED;
    if (was_promise)
        table->assigned[pod->index] = table->evicted[pod->index]; // back to where it had been moved from, if so
    else
        table->evicted[pod->index] = table->assigned[pod->index];
    for (size_t i = 0; i < devices.gpu_index_count; i++) {
        struct slot *slot = slot_of(table, state->place.node, devices.gpu_indices[i]);
        bool is_free = true;
        if (state->place.shared_count > 0) {
            struct shared_device *device = &cycle->nodes[state->place.node].shared[state->place.shared[i]];
            is_free = device->standing + device->promised == 0;
            if (is_free && device->releasing == 0)
                device->gpu_index = SNAPSHOT_NONE;
        }
        if (is_free && was_promise)
            slot->promised = false;
        else if (is_free)
            slot->state = SLOT_RELEASING;
    }
    return devices;
}

struct plan_devices devices_of(struct cycle *cycle, const struct pod *pod)
{
    const struct snapshot_pod *spec = pod->spec;
    // A group that the cycle found for a pod is shown even where nothing was decided.
    bool was_named = pod->state.place.shared_count > spec->gpu_group_count;
    if (place_is(pod->state.place) && (cycle->devices || was_named))
        return describe(cycle, pod, pod->state.place);
    return (struct plan_devices){spec->gpu_groups, spec->gpu_group_count, spec->gpu_indices, spec->gpu_index_count};
}
