#include "scheduler/state/shared_device.h"

#include "base/arena.h"

#include <inttypes.h>
#include <string.h>

int64_t request_memory_mib(const struct request *request, const struct node *node)
{
    return request->memory_mib > 0 ? request->memory_mib : request->portion_milli * node->gpu_memory_mib / 1000;
}

bool shared_device_fits(const struct node *node, const struct shared_device *device, int64_t memory_mib)
{
    return !device->is_unhealthy && device->used_mib != 0 && device->allocated_mib != device->releasing_mib &&
           node->gpu_memory_mib - device->allocated_mib + device->releasing_mib >= memory_mib;
}

static bool fits(const struct node *node, const struct shared_device *device, int64_t memory_mib, bool now)
{
    bool waits = device->allocated_mib == 0 || node->gpu_memory_mib - device->allocated_mib < memory_mib;
    return shared_device_fits(node, device, memory_mib) && !(now && waits);
}

uint32_t shared_device_count_fits(const struct node *node, const struct request *request, bool now)
{
    int64_t memory = request_memory_mib(request, node);
    uint32_t count = 0;
    for (size_t i = 0; i < node->shared_count && count < request->shared_devices; i++)
        count += fits(node, &node->shared[i], memory, now);
    return count;
}

// Numbers before other names, numbers by their value.
static int compare_names(const struct shared_device *a, const struct shared_device *b)
{
    if (a->is_number != b->is_number)
        return a->is_number ? -1 : 1;
    if (a->is_number && a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void read_number(struct shared_device *device)
{
    uint64_t number = 0;
    size_t length = strlen(device->name);
    device->is_number = length > 0 && length < 19;
    for (size_t i = 0; i < length && device->is_number; i++) {
        if (device->name[i] < '0' || device->name[i] > '9')
            device->is_number = false;
        else
            number = number * 10 + (uint64_t)(device->name[i] - '0');
    }
    device->number = number;
}

static uint32_t add_device(struct node *node, const char *name, struct arena *arena)
{
    if (node->shared_count == node->shared_capacity)
        node->shared =
            arena_grow(arena, node->shared, &node->shared_capacity, node->shared_count + 1, sizeof(*node->shared));
    struct shared_device *device = &node->shared[node->shared_count];
    *device = (struct shared_device){.name = name, .gpu_index = SNAPSHOT_NONE};
    read_number(device);
    return (uint32_t)node->shared_count++;
}

uint32_t shared_device_find(struct node *node, const char *name, struct arena *arena)
{
    for (size_t i = 0; i < node->shared_count; i++) {
        if (strcmp(node->shared[i].name, name) == 0)
            return (uint32_t)i;
    }
    return add_device(node, name, arena);
}

uint32_t shared_device_open(struct node *node, struct arena *arena)
{
    for (uint64_t number = 0;; number++) {
        bool is_taken = false;
        for (size_t i = 0; i < node->shared_count && !is_taken; i++) {
            struct shared_device *device = &node->shared[i];
            if (!device->is_number || device->number != number)
                continue;
            if (!shared_device_is_used(device) && !device->is_unhealthy)
                return (uint32_t)i;
            is_taken = true;
        }
        if (!is_taken)
            return add_device(node, arena_printf(arena, "%" PRIu64, number), arena);
    }
}

// The next device to take: the fullest (bin-pack) or emptiest (spread) one after `last` in that order. -1: none.
static int64_t next_device(const struct node *node, int64_t memory_mib, bool fullest, bool now, int64_t last)
{
    int64_t best = -1;
    for (size_t i = 0; i < node->shared_count; i++) {
        const struct shared_device *device = &node->shared[i];
        if (!fits(node, device, memory_mib, now))
            continue;
        if (last >= 0) { // taken already: at or before the last one
            const struct shared_device *taken = &node->shared[last];
            int64_t gap = fullest ? taken->used_mib - device->used_mib : device->used_mib - taken->used_mib;
            if (gap < 0 || (gap == 0 && compare_names(device, taken) <= 0))
                continue;
        }
        if (best >= 0) {
            const struct shared_device *other = &node->shared[best];
            int64_t gap = fullest ? device->used_mib - other->used_mib : other->used_mib - device->used_mib;
            if (gap < 0 || (gap == 0 && compare_names(device, other) >= 0))
                continue;
        }
        best = (int64_t)i;
    }
    return best;
}

// Free for whoever waits; now: idle as well.
static int64_t count_free(const struct node *node, enum dimension dimension, bool now)
{
    int64_t free = node_free(node, dimension);
    return now && node->idle[dimension] < free ? node->idle[dimension] : free;
}

bool shared_device_has_now(const struct node *node, const struct request *request)
{
    int64_t opened = request->shared_devices - shared_device_count_fits(node, request, true);
    return opened <= count_free(node, DIMENSION_GPU, true) && opened + 1 <= count_free(node, DIMENSION_PODS, true);
}

// How many whole devices the choice opens.
static uint32_t count_new(const struct node *node, const struct request *request, enum placement_strategy strategy,
                          bool now)
{
    uint32_t needed = request->shared_devices - shared_device_count_fits(node, request, now);
    if (strategy == PLACEMENT_BINPACK)
        return needed;
    // As many as there are, but each takes a pod slot beside the pod's own.
    int64_t opened = count_free(node, DIMENSION_GPU, now);
    if (opened > count_free(node, DIMENSION_PODS, now) - 1)
        opened = count_free(node, DIMENSION_PODS, now) - 1;
    if (opened > request->shared_devices)
        opened = request->shared_devices;
    return opened > needed ? (uint32_t)opened : needed;
}

struct device_choice shared_device_join(struct node *node, const struct request *request, uint32_t *devices,
                                        uint32_t joined, struct arena *arena)
{
    int64_t memory = request_memory_mib(request, node);
    uint32_t opened = request->shared_devices - joined;
    struct device_choice choice = {.waits = opened > node->idle[DIMENSION_GPU]};
    choice.waits = choice.waits || opened + 1 > node->idle[DIMENSION_PODS];
    for (uint32_t i = 0; i < joined; i++) {
        const struct shared_device *device = &node->shared[devices[i]];
        if (node->gpu_memory_mib - device->allocated_mib < memory || device->allocated_mib == 0)
            choice.waits = true;
    }
    for (uint32_t i = joined; i < request->shared_devices; i++) {
        devices[i] = shared_device_open(node, arena);
        // Hold the number while the others are chosen.
        node->shared[devices[i]].promised++;
    }
    for (uint32_t i = joined; i < request->shared_devices; i++)
        node->shared[devices[i]].promised--;
    choice.place = (struct place){.node = node->index, .shared_count = request->shared_devices, .shared = devices};
    return choice;
}

struct device_choice shared_device_choose(struct node *node, const struct request *request,
                                          enum placement_strategy strategy, bool now, struct arena *arena)
{
    int64_t memory = request_memory_mib(request, node);
    uint32_t joined = request->shared_devices - count_new(node, request, strategy, now);
    uint32_t *devices = arena_array(arena, request->shared_devices, sizeof(*devices));
    int64_t last = -1;
    for (uint32_t i = 0; i < joined; i++) {
        last = next_device(node, memory, strategy == PLACEMENT_BINPACK, now, last);
        devices[i] = (uint32_t)last;
    }
    return shared_device_join(node, request, devices, joined, arena);
}

bool shared_device_choose_named(struct node *node, const struct pod *pod, struct arena *arena,
                                struct device_choice *out_choice)
{
    const struct request *request = &pod->request;
    int64_t memory = request_memory_mib(request, node);
    uint32_t *devices = arena_array(arena, request->shared_devices, sizeof(*devices));
    int64_t opened = 0;
    bool waits = false;
    for (uint32_t i = 0; i < request->shared_devices; i++) {
        devices[i] = shared_device_find(node, pod->spec->gpu_groups[i], arena);
        const struct shared_device *device = &node->shared[devices[i]];
        if (device->is_unhealthy)
            return false;
        if (!shared_device_is_used(device))
            opened++;
        else if (!shared_device_fits(node, device, memory))
            return false;
        else
            waits = waits || node->gpu_memory_mib - device->allocated_mib < memory || device->allocated_mib == 0;
    }
    if (opened > node_free(node, DIMENSION_GPU) || opened + 1 > node_free(node, DIMENSION_PODS))
        return false;
    waits = waits || opened > node->idle[DIMENSION_GPU] || opened + 1 > node->idle[DIMENSION_PODS];
    *out_choice = (struct device_choice){
        .place = {.node = node->index, .shared_count = request->shared_devices, .shared = devices}, .waits = waits};
    return true;
}
