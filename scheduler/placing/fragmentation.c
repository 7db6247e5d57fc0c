#include "scheduler/placing/fragmentation.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"
#include "scheduler/state/rules.h"
#include "scheduler/state/shared_device.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TYPICAL = 128,   // different requests that are looked at
    MOST_GROWTHS = 512,   // different requests for which growths are kept
    MOST_WEIGHT = 1 << 17 // of all typical requests together, so that sums stay small
};

// A request of the typical workload. Kinds of requests that differ in nothing of this are one.
struct typical {
    int64_t whole; // devices
    int64_t portion_milli;
    int64_t memory_mib;
    uint32_t shared_devices;
    int64_t cpu_milli;
    int64_t memory_bytes;
    const bool *accepts; // by node
    int64_t weight;
};

// What is free on a node, as a pending pod may be promised it.
struct rooms {
    int64_t whole; // devices
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t *partial; // of devices that are shared, in thousandths, smallest first
    uint32_t *devices;
    uint32_t partial_count;
};

// The growth that a pod of one kind would bring to each node, as far as it was asked for.
struct growths {
    struct typical kind; // weight and accepts are not set
    int64_t *growth;     // by node
    uint64_t *version;   // of the node when it was computed, plus 1; 0: never
};

struct fragmentation {
    struct typical typical[MOST_TYPICAL];
    size_t typical_count;
    struct growths *growths;
    size_t growths_count;
    size_t last;        // found last: neighbours mostly ask for the same
    int64_t *sums;      // by node: its fragmentation
    uint64_t *versions; // of the node when it was computed, plus 1
    struct rooms rooms;
    struct rooms changed;
    size_t room_capacity;
};

static struct typical kind_of(const struct request *request)
{
    return (struct typical){.whole = request->of[DIMENSION_GPU],
                            .portion_milli = request->portion_milli,
                            .memory_mib = request->memory_mib,
                            .shared_devices = request->shared_devices,
                            .cpu_milli = request->of[DIMENSION_CPU],
                            .memory_bytes = request->of[DIMENSION_MEMORY]};
}

static bool is_same_kind(const struct typical *a, const struct typical *b)
{
    return a->whole == b->whole && a->portion_milli == b->portion_milli && a->memory_mib == b->memory_mib &&
           a->shared_devices == b->shared_devices && a->cpu_milli == b->cpu_milli &&
           a->memory_bytes == b->memory_bytes && a->accepts == b->accepts;
}

static uint64_t mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static uint64_t hash_kind(const struct typical *kind, const struct snapshot_placement_rules *rules)
{
    uint64_t hash = mix((uint64_t)kind->whole + 1);
    hash = mix(hash ^ (uint64_t)kind->portion_milli);
    hash = mix(hash + (uint64_t)kind->memory_mib);
    hash = mix(hash ^ kind->shared_devices);
    hash = mix(hash + (uint64_t)kind->cpu_milli);
    hash = mix(hash ^ (uint64_t)kind->memory_bytes);
    return mix(hash ^ (uint64_t)(uintptr_t)rules); // only where to look first: the result depends on the kind
}

static bool stands_in(const struct cycle *cycle, const struct pool *pool, const struct snapshot_pod *pod)
{
    return pod_status_is_used(pod->status) && pod->status != SNAPSHOT_POD_PIPELINED &&
           cycle->snapshot->nodes[pod->node].node_pool == pool->index;
}

static bool waits_for(const struct cycle *cycle, const struct pool *pool, const struct snapshot_pod *pod)
{
    const struct snapshot_workload *workload = &cycle->snapshot->workloads[pod->workload];
    bool names_pool = false;
    for (size_t i = 0; i < workload->node_pool_count; i++)
        names_pool = names_pool || workload->node_pools[i] == pool->index;
    return names_pool && (pod->status == SNAPSHOT_POD_PENDING || pod->status == SNAPSHOT_POD_PIPELINED);
}

// The most frequent first; of equally frequent ones the one that was met first.
struct counted {
    struct typical kind;
    size_t first;
};

static int compare_counted(const void *a, const void *b)
{
    const struct counted *left = a, *right = b;
    if (left->kind.weight != right->kind.weight)
        return left->kind.weight > right->kind.weight ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

static void keep_most_frequent(struct fragmentation *fragmentation, struct counted *counted, size_t count)
{
    qsort(counted, count, sizeof(*counted), compare_counted);
    int64_t sum = 0;
    for (; fragmentation->typical_count < count && fragmentation->typical_count < MOST_TYPICAL;
         fragmentation->typical_count++) {
        fragmentation->typical[fragmentation->typical_count] = counted[fragmentation->typical_count].kind;
        sum += counted[fragmentation->typical_count].kind.weight;
    }
    int64_t scale = sum / MOST_WEIGHT + 1;
    for (size_t i = 0; i < fragmentation->typical_count; i++)
        fragmentation->typical[i].weight = (fragmentation->typical[i].weight + scale - 1) / scale;
}

static void find_typical(struct cycle *cycle, const struct pool *pool, struct fragmentation *fragmentation)
{
    size_t count = 0, capacity = 256;
    struct arena arena;
    arena_init(&arena);
    struct counted *counted = arena_array(&arena, cycle->snapshot->pod_count, sizeof(*counted));
    while (capacity < cycle->snapshot->pod_count * 2)
        capacity *= 2;
    uint32_t *slots = arena_array(&arena, capacity, sizeof(*slots)); // index into counted, plus 1
    for (size_t p = 0; p < cycle->snapshot->pod_count; p++) {
        const struct pod *pod = &cycle->pods[p];
        if (!pod->request.needs_gpu || pod->request.is_mig ||
            (!stands_in(cycle, pool, pod->spec) && !waits_for(cycle, pool, pod->spec)))
            continue;
        struct typical kind = kind_of(&pod->request);
        size_t at = hash_kind(&kind, pod->spec->rules) & (capacity - 1);
        kind.accepts = rules_accepting_nodes(cycle, pod);
        while (slots[at] > 0 && !is_same_kind(&counted[slots[at] - 1].kind, &kind))
            at = (at + 1) & (capacity - 1);
        if (slots[at] == 0) {
            counted[count] = (struct counted){kind, count};
            slots[at] = (uint32_t)++count;
        }
        counted[slots[at] - 1].kind.weight++;
    }
    keep_most_frequent(fragmentation, counted, count);
    arena_done(&arena);
}

static struct fragmentation *fragmentation_of(struct cycle *cycle, const struct pool *pool)
{
    size_t nodes = cycle->snapshot->node_count;
    if (!cycle->fragmentation)
        cycle->fragmentation =
            arena_array(cycle->scratch, cycle->snapshot->node_pool_count, sizeof(*cycle->fragmentation));
    struct fragmentation *fragmentation = cycle->fragmentation[pool->index];
    if (fragmentation)
        return fragmentation;
    fragmentation = arena_alloc(cycle->scratch, sizeof(*fragmentation));
    cycle->fragmentation[pool->index] = fragmentation;
    fragmentation->growths = arena_array(cycle->scratch, MOST_GROWTHS, sizeof(*fragmentation->growths));
    fragmentation->sums = arena_array(cycle->scratch, nodes, sizeof(*fragmentation->sums));
    fragmentation->versions = arena_array(cycle->scratch, nodes, sizeof(*fragmentation->versions));
    find_typical(cycle, pool, fragmentation);
    return fragmentation;
}

static void reserve_rooms(struct cycle *cycle, struct fragmentation *fragmentation, size_t count)
{
    if (count <= fragmentation->room_capacity)
        return;
    fragmentation->room_capacity = count * 2;
    struct rooms *all[] = {&fragmentation->rooms, &fragmentation->changed};
    for (size_t i = 0; i < 2; i++) {
        all[i]->partial = arena_array(cycle->scratch, count * 2, sizeof(*all[i]->partial));
        all[i]->devices = arena_array(cycle->scratch, count * 2, sizeof(*all[i]->devices));
    }
}

static void add_room(struct rooms *rooms, int64_t milli, uint32_t device)
{
    uint32_t at = rooms->partial_count++;
    for (; at > 0 && rooms->partial[at - 1] > milli; at--) {
        rooms->partial[at] = rooms->partial[at - 1];
        rooms->devices[at] = rooms->devices[at - 1];
    }
    rooms->partial[at] = milli;
    rooms->devices[at] = device;
}

static void find_rooms(struct cycle *cycle, struct fragmentation *fragmentation, const struct node *node)
{
    reserve_rooms(cycle, fragmentation, node->shared_count + node->spec->gpu_count + 1);
    struct rooms *rooms = &fragmentation->rooms;
    rooms->whole = node_free(node, DIMENSION_GPU);
    rooms->cpu_milli = node_free(node, DIMENSION_CPU);
    rooms->memory_bytes = node_free(node, DIMENSION_MEMORY);
    rooms->partial_count = 0;
    for (uint32_t i = 0; i < node->shared_count; i++) {
        const struct shared_device *device = &node->shared[i];
        // One whose pods are all being released counts as a whole device already.
        if ((device->standing == 0 && device->promised == 0) || device->is_unhealthy)
            continue;
        int64_t room = node->gpu_memory_mib - device->allocated_mib + device->releasing_mib;
        if (room > 0)
            add_room(rooms, room * GPU_MILLI_PER_DEVICE / node->gpu_memory_mib, i);
    }
}

static int64_t portion_on(const struct typical *kind, const struct node *node)
{
    if (kind->memory_mib == 0 || node->gpu_memory_mib == 0)
        return kind->portion_milli;
    return (kind->memory_mib * GPU_MILLI_PER_DEVICE + node->gpu_memory_mib - 1) / node->gpu_memory_mib;
}

// How many of the request the node's CPU and memory allow.
static int64_t count_allowed(const struct typical *kind, const struct rooms *rooms)
{
    int64_t count = INT32_MAX;
    if (kind->cpu_milli > 0 && rooms->cpu_milli / kind->cpu_milli < count)
        count = rooms->cpu_milli / kind->cpu_milli;
    if (kind->memory_bytes > 0 && rooms->memory_bytes / kind->memory_bytes < count)
        count = rooms->memory_bytes / kind->memory_bytes;
    return count;
}

// What of the free devices is a fragment for the request: all where the node cannot take it; else devices with too
// little room, and of the others what CPU and memory leave unused when the node is filled with such requests.
static int64_t fragment_for(const struct typical *kind, const struct node *node, const struct rooms *rooms,
                            int64_t partial_sum)
{
    int64_t whole = rooms->whole * GPU_MILLI_PER_DEVICE, all = whole + partial_sum;
    int64_t allowed = kind->accepts[node->index] ? count_allowed(kind, rooms) : 0;
    if (allowed <= 0)
        return all;
    if (kind->shared_devices == 0) {
        if (kind->whole > rooms->whole)
            return all;
        int64_t left = rooms->whole - allowed * kind->whole;
        return partial_sum + (left > 0 ? left * GPU_MILLI_PER_DEVICE : 0);
    }
    int64_t portion = portion_on(kind, node);
    int64_t too_small = 0;
    uint32_t i = 0;
    for (; i < rooms->partial_count && rooms->partial[i] < portion; i++)
        too_small += rooms->partial[i];
    if (portion > GPU_MILLI_PER_DEVICE || rooms->whole + rooms->partial_count - i < kind->shared_devices)
        return all;
    int64_t places = GPU_MILLI_PER_DEVICE / portion * rooms->whole;
    for (; i < rooms->partial_count; i++)
        places += rooms->partial[i] / portion;
    places /= kind->shared_devices;
    if (places <= allowed)
        return too_small;
    return too_small + (all - too_small) * (places - allowed) / places;
}

static int64_t fragmentation_sum(const struct fragmentation *fragmentation, const struct node *node,
                                 const struct rooms *rooms)
{
    int64_t partial_sum = 0, sum = 0;
    for (uint32_t i = 0; i < rooms->partial_count; i++)
        partial_sum += rooms->partial[i];
    if (rooms->whole <= 0 && partial_sum == 0)
        return 0;
    for (size_t i = 0; i < fragmentation->typical_count; i++)
        sum += fragmentation->typical[i].weight * fragment_for(&fragmentation->typical[i], node, rooms, partial_sum);
    return sum;
}

static void copy_rooms(struct rooms *to, const struct rooms *from)
{
    to->whole = from->whole;
    to->cpu_milli = from->cpu_milli;
    to->memory_bytes = from->memory_bytes;
    to->partial_count = from->partial_count;
    memcpy(to->partial, from->partial, from->partial_count * sizeof(*to->partial));
    memcpy(to->devices, from->devices, from->partial_count * sizeof(*to->devices));
}

// Takes the portion from the partial room at that position; past the last: from a whole device.
static void take_portion(struct rooms *rooms, uint32_t at, int64_t portion)
{
    if (at == rooms->partial_count) {
        rooms->whole--;
        if (portion < GPU_MILLI_PER_DEVICE)
            add_room(rooms, GPU_MILLI_PER_DEVICE - portion, SNAPSHOT_NONE);
        return;
    }
    int64_t left = rooms->partial[at] - portion;
    uint32_t device = rooms->devices[at];
    rooms->partial_count--;
    for (uint32_t i = at; i < rooms->partial_count; i++) {
        rooms->partial[i] = rooms->partial[i + 1];
        rooms->devices[i] = rooms->devices[i + 1];
    }
    if (left > 0)
        add_room(rooms, left, device);
}

static bool waits_for_memory(const struct node *node, uint32_t device, int64_t memory_mib)
{
    const struct shared_device *shared = &node->shared[device];
    return shared->allocated_mib == 0 || node->gpu_memory_mib - shared->allocated_mib < memory_mib;
}

// The choice for one device of a shared request: the position in the rooms; partial_count stands for a whole one.
// Room that is free now goes first, then the smallest fragmentation, then the fullest device, a whole one last.
struct device_option {
    uint32_t at;
    bool waits;
    int64_t sum;
};

static bool choose_option(struct fragmentation *fragmentation, const struct node *node, const struct request *request,
                          int64_t whole_left, struct device_option *out_best)
{
    const struct rooms *rooms = &fragmentation->rooms;
    int64_t memory = request_memory_mib(request, node);
    struct typical kind = kind_of(request);
    int64_t portion = portion_on(&kind, node);
    bool found = false;
    int64_t last_room = -1;
    for (uint32_t at = 0; at <= rooms->partial_count; at++) {
        bool is_whole = at == rooms->partial_count;
        if (is_whole ? whole_left <= 0
                     : rooms->devices[at] == SNAPSHOT_NONE ||
                           !shared_device_fits(node, &node->shared[rooms->devices[at]], memory))
            continue;
        struct device_option option = {.at = at,
                                       .waits = is_whole ? node->idle[DIMENSION_GPU] <= 0
                                                         : waits_for_memory(node, rooms->devices[at], memory)};
        if (!is_whole && rooms->partial[at] == last_room && found && !out_best->waits)
            continue; // leaves the node just like the one before
        copy_rooms(&fragmentation->changed, rooms);
        take_portion(&fragmentation->changed, at, portion);
        option.sum = fragmentation_sum(fragmentation, node, &fragmentation->changed);
        last_room = is_whole ? -1 : rooms->partial[at];
        if (!found || option.waits < out_best->waits || (option.waits == out_best->waits && option.sum < out_best->sum))
            *out_best = option;
        found = true;
    }
    return found;
}

// Takes the devices of a shared request from the rooms, one after the other.
static uint32_t take_shared(struct fragmentation *fragmentation, const struct node *node, const struct request *request,
                            uint32_t *out_devices)
{
    struct rooms *rooms = &fragmentation->rooms;
    struct typical kind = kind_of(request);
    int64_t portion = portion_on(&kind, node);
    rooms->cpu_milli -= request->of[DIMENSION_CPU];
    rooms->memory_bytes -= request->of[DIMENSION_MEMORY];
    int64_t slots = node_free(node, DIMENSION_PODS) - 1; // each new device takes one
    int64_t whole_left = rooms->whole < slots ? rooms->whole : slots;
    uint32_t joined = 0;
    for (uint32_t i = 0; i < request->shared_devices; i++) {
        struct device_option best = {0};
        if (!choose_option(fragmentation, node, request, whole_left, &best))
            break;
        bool is_whole = best.at == rooms->partial_count;
        if (!is_whole && out_devices)
            out_devices[joined] = rooms->devices[best.at];
        joined += !is_whole;
        whole_left -= is_whole;
        if (!is_whole)
            rooms->devices[best.at] = SNAPSHOT_NONE; // a device once
        take_portion(rooms, best.at, portion);
    }
    return joined;
}

static int64_t sum_before(struct fragmentation *fragmentation, const struct node *node)
{
    if (fragmentation->versions[node->index] != node->version + 1) {
        fragmentation->sums[node->index] = fragmentation_sum(fragmentation, node, &fragmentation->rooms);
        fragmentation->versions[node->index] = node->version + 1;
    }
    return fragmentation->sums[node->index];
}

static int64_t compute_growth(struct cycle *cycle, struct fragmentation *fragmentation, const struct node *node,
                              const struct request *request)
{
    find_rooms(cycle, fragmentation, node);
    int64_t before = sum_before(fragmentation, node);
    struct rooms *rooms = &fragmentation->rooms;
    if (request->shared_devices > 0) {
        take_shared(fragmentation, node, request, NULL);
    } else {
        rooms->whole -= request->of[DIMENSION_GPU];
        rooms->cpu_milli -= request->of[DIMENSION_CPU];
        rooms->memory_bytes -= request->of[DIMENSION_MEMORY];
    }
    return fragmentation_sum(fragmentation, node, rooms) - before;
}

static struct growths *growths_of(struct cycle *cycle, struct fragmentation *fragmentation,
                                  const struct request *request)
{
    struct typical kind = kind_of(request);
    for (size_t i = 0; i < fragmentation->growths_count; i++) {
        size_t at = (fragmentation->last + i) % fragmentation->growths_count;
        if (is_same_kind(&fragmentation->growths[at].kind, &kind)) {
            fragmentation->last = at;
            return &fragmentation->growths[at];
        }
    }
    if (fragmentation->growths_count == MOST_GROWTHS)
        return NULL;
    size_t nodes = cycle->snapshot->node_count;
    struct growths *growths = &fragmentation->growths[fragmentation->growths_count];
    *growths = (struct growths){.kind = kind,
                                .growth = arena_array(cycle->scratch, nodes, sizeof(*growths->growth)),
                                .version = arena_array(cycle->scratch, nodes, sizeof(*growths->version))};
    fragmentation->last = fragmentation->growths_count++;
    return growths;
}

int64_t fragmentation_growth(struct cycle *cycle, const struct pool *pool, const struct node *node,
                             const struct pod *pod)
{
    struct fragmentation *fragmentation = fragmentation_of(cycle, pool);
    struct growths *growths = growths_of(cycle, fragmentation, &pod->request);
    if (!growths)
        return compute_growth(cycle, fragmentation, node, &pod->request);
    if (growths->version[node->index] != node->version + 1) {
        growths->growth[node->index] = compute_growth(cycle, fragmentation, node, &pod->request);
        growths->version[node->index] = node->version + 1;
    }
    return growths->growth[node->index];
}

uint32_t fragmentation_choose(struct cycle *cycle, const struct pool *pool, const struct node *node,
                              const struct pod *pod, uint32_t *out_devices)
{
    struct fragmentation *fragmentation = fragmentation_of(cycle, pool);
    find_rooms(cycle, fragmentation, node);
    return take_shared(fragmentation, node, &pod->request, out_devices);
}
