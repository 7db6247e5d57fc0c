#include "replay/devices.h"

#include "base/arena.h"
#include "base/error.h"
#include "replay/trace.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MIB = INT64_C(1) << 20;

struct frequency {
    uint64_t pods;
    uint32_t shape;
};

static int compare_frequencies(const void *a, const void *b)
{
    const struct frequency *one = a, *other = b;
    if (one->pods != other->pods)
        return one->pods > other->pods ? -1 : 1;
    return (one->shape > other->shape) - (one->shape < other->shape);
}

static void choose_shapes(struct devices *devices, struct arena *arena)
{
    const struct trace *trace = devices->trace;
    struct frequency *order = arena_array(arena, trace->shape_count, sizeof(*order));
    size_t count = 0;
    for (uint32_t s = 0; s < trace->shape_count; s++)
        if (trace->shapes[s].gpu_milli > 0 && trace->shapes[s].pod_count > 0)
            order[count++] = (struct frequency){trace->shapes[s].pod_count, s};
    qsort(order, count, sizeof(*order), compare_frequencies);
    devices->shape_count = count < DEVICES_SHAPES_MAXIMUM ? count : DEVICES_SHAPES_MAXIMUM;
    devices->shapes = arena_array(arena, devices->shape_count, sizeof(*devices->shapes));
    for (size_t i = 0; i < devices->shape_count; i++) {
        devices->shapes[i] = order[i].shape;
        devices->weight += order[i].pods;
    }
}

static bool model_matches(const struct trace_shape *shape, const struct snapshot_node *spec)
{
    if (shape->model_count == 0)
        return true;
    for (size_t i = 0; i < shape->model_count; i++)
        if (spec->gpu_type && strcmp(shape->models[i], spec->gpu_type) == 0)
            return true;
    return false;
}

// Free GPUs of the node, in thousandths, that a pod of the shape could not use.
static int64_t useless_to(const struct trace_shape *shape, const struct device_node *node,
                          const struct snapshot_node *spec, int64_t free_milli)
{
    int64_t part = shape->gpu_portion_milli > 0 ? shape->gpu_portion_milli : GPU_MILLI_PER_DEVICE;
    int64_t useless = 0;
    uint32_t fitting = 0;
    if (shape->cpu_milli > node->free_cpu_milli || shape->memory_mib * MIB > node->free_memory_bytes ||
        !model_matches(shape, spec))
        return free_milli;
    for (uint32_t d = 0; d < node->count; d++) {
        if (node->free_milli[d] < part)
            useless += node->free_milli[d];
        else
            fitting++;
    }
    return fitting < shape->gpu_devices ? free_milli : useless;
}

static void measure_node(struct devices *devices, uint32_t index)
{
    struct device_node *node = &devices->nodes[index];
    int64_t free_milli = 0, sum = 0;
    for (uint32_t d = 0; d < node->count; d++)
        free_milli += node->free_milli[d];
    for (size_t i = 0; i < devices->shape_count && free_milli > 0; i++) {
        const struct trace_shape *shape = &devices->trace->shapes[devices->shapes[i]];
        sum += (int64_t)shape->pod_count * useless_to(shape, node, &devices->specs[index], free_milli);
    }
    devices->fragmented += sum - node->fragmented;
    node->fragmented = sum;
}

void devices_init(struct devices *devices, const struct snapshot_node *nodes, size_t count, const struct trace *trace,
                  struct arena *arena)
{
    *devices = (struct devices){.specs = nodes, .node_count = count, .trace = trace};
    devices->nodes = arena_array(arena, count, sizeof(*devices->nodes));
    choose_shapes(devices, arena);
    for (uint32_t n = 0; n < count; n++) {
        struct device_node *node = &devices->nodes[n];
        *node = (struct device_node){.count = nodes[n].gpu_count,
                                     .free_cpu_milli = nodes[n].cpu_milli,
                                     .free_memory_bytes = nodes[n].memory_bytes};
        node->free_milli = arena_array(arena, node->count, sizeof(*node->free_milli));
        for (uint32_t d = 0; d < node->count; d++)
            node->free_milli[d] = GPU_MILLI_PER_DEVICE;
        devices->capacity_milli += node->count * GPU_MILLI_PER_DEVICE;
        measure_node(devices, n);
    }
    devices->free_milli = devices->capacity_milli;
}

int devices_take(struct devices *devices, uint32_t index, uint32_t shape_index, const uint32_t *indices,
                 size_t index_count, struct error *err)
{
    struct device_node *node = &devices->nodes[index];
    const struct trace_shape *shape = &devices->trace->shapes[shape_index];
    int64_t part = shape->gpu_portion_milli > 0 ? shape->gpu_portion_milli : GPU_MILLI_PER_DEVICE;
    const char *name = devices->specs[index].name;
    if (index_count != shape->gpu_devices)
        return error_set(err, ERROR_INTERNAL, "the plan gives %zu devices of %.60s instead of %u", index_count, name,
                         shape->gpu_devices);
    for (size_t i = 0; i < index_count; i++) {
        if (indices[i] >= node->count || node->free_milli[indices[i]] < part)
            return error_set(err, ERROR_INTERNAL, "the plan gives device %u of %.60s twice", indices[i], name);
        node->free_milli[indices[i]] -= part;
    }
    node->free_cpu_milli -= shape->cpu_milli;
    node->free_memory_bytes -= shape->memory_mib * MIB;
    if (node->free_cpu_milli < 0 || node->free_memory_bytes < 0)
        return error_set(err, ERROR_INTERNAL, "the plan gives more CPU or memory of %.60s than there is", name);
    devices->free_milli -= shape->gpu_milli;
    measure_node(devices, index);
    return 0;
}

void devices_give_back(struct devices *devices, uint32_t index, uint32_t shape_index, const uint32_t *indices,
                       size_t index_count)
{
    struct device_node *node = &devices->nodes[index];
    const struct trace_shape *shape = &devices->trace->shapes[shape_index];
    int64_t part = shape->gpu_portion_milli > 0 ? shape->gpu_portion_milli : GPU_MILLI_PER_DEVICE;
    for (size_t i = 0; i < index_count; i++)
        node->free_milli[indices[i]] += part;
    node->free_cpu_milli += shape->cpu_milli;
    node->free_memory_bytes += shape->memory_mib * MIB;
    devices->free_milli += shape->gpu_milli;
    measure_node(devices, index);
}

int64_t devices_fragmented_milli(const struct devices *devices)
{
    return devices->weight > 0 ? (int64_t)(devices->fragmented / devices->weight) : 0;
}
