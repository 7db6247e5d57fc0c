#include "scheduler/state/node.h"

#include "scheduler/state/shared_device.h"

int64_t request_gpu_milli(const struct request *request, int64_t gpu_memory_mib)
{
    if (request->shared_devices == 0)
        return request->of[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE + request->mig_gpu_milli;
    int64_t each = request->portion_milli;
    if (request->memory_mib > 0) {
        if (gpu_memory_mib <= 0)
            gpu_memory_mib = 100;
        each = (request->memory_mib * 100 + gpu_memory_mib - 1) / gpu_memory_mib * (GPU_MILLI_PER_DEVICE / 100);
    }
    return each * request->shared_devices;
}

struct amounts request_amounts(const struct request *request, int64_t gpu_memory_mib)
{
    return (struct amounts){{[RESOURCE_GPU] = request_gpu_milli(request, gpu_memory_mib),
                             [RESOURCE_CPU] = request->of[DIMENSION_CPU],
                             [RESOURCE_MEMORY] = request->of[DIMENSION_MEMORY]}};
}

static void change_amounts(struct node *node, enum dimension dimension, int64_t amount, enum standing standing)
{
    if (node->capacity[dimension] == 0)
        return;
    if (standing != STANDING_PROMISED)
        node->idle[dimension] -= amount;
    if (standing == STANDING_RELEASING)
        node->releasing[dimension] += amount;
    else if (standing == STANDING_PROMISED)
        node->releasing[dimension] -= amount;
}

static void change_extended(struct node *node, const struct snapshot_pod *spec, enum standing standing, int sign)
{
    for (size_t i = 0; i < spec->extended_count; i++) {
        uint32_t resource = spec->extended[i].resource;
        int64_t amount = spec->extended[i].count * sign;
        if (node->extended_capacity[resource] == 0)
            continue;
        if (standing != STANDING_PROMISED)
            node->extended_idle[resource] -= amount;
        if (standing == STANDING_RELEASING)
            node->extended_releasing[resource] += amount;
        else if (standing == STANDING_PROMISED)
            node->extended_releasing[resource] -= amount;
    }
}

// A shared device holds one whole device and one pod slot of the node.
static int idle_devices(const struct shared_device *device)
{
    return device->standing + device->releasing > 0 ? -1 : 0;
}

static int releasing_devices(const struct shared_device *device)
{
    if (device->standing > 0)
        return 0;
    return (device->releasing > 0) - (device->promised > 0);
}

static void change_shared(struct node *node, const struct pod *pod, const struct place *place, enum standing standing,
                          int sign)
{
    int64_t memory = request_memory_mib(&pod->request, node) * sign;
    for (uint32_t i = 0; i < place->shared_count; i++) {
        struct shared_device *device = &node->shared[place->shared[i]];
        int idle = idle_devices(device), releasing = releasing_devices(device);
        device->used_mib += memory;
        if (standing != STANDING_PROMISED)
            device->allocated_mib += memory;
        if (standing == STANDING_RELEASING)
            device->releasing_mib += memory;
        else if (standing == STANDING_PROMISED)
            device->releasing_mib -= memory;
        uint32_t *count = standing == STANDING_STAYS       ? &device->standing
                          : standing == STANDING_RELEASING ? &device->releasing
                                                           : &device->promised;
        *count = (uint32_t)((int64_t)*count + sign);
        const enum dimension dimensions[] = {DIMENSION_GPU, DIMENSION_PODS};
        for (size_t d = 0; d < 2; d++) {
            if (node->capacity[dimensions[d]] == 0 || (dimensions[d] == DIMENSION_GPU && device->is_unhealthy))
                continue;
            node->idle[dimensions[d]] += idle_devices(device) - idle;
            node->releasing[dimensions[d]] += releasing_devices(device) - releasing;
        }
    }
}

static void change(struct node *node, const struct pod *pod, const struct place *place, enum standing standing,
                   int sign)
{
    node->version++;
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++)
        change_amounts(node, d, (pod->request.of[d] - (d == DIMENSION_GPU ? place->unhealthy : 0)) * sign, standing);
    if (pod->spec->extended_count > 0)
        change_extended(node, pod->spec, standing, sign);
    if (place->shared_count > 0)
        change_shared(node, pod, place, standing, sign);
}

void node_add(struct node *node, const struct pod *pod, const struct place *place, enum standing standing)
{
    change(node, pod, place, standing, 1);
}

void node_remove(struct node *node, const struct pod *pod, const struct place *place, enum standing standing)
{
    change(node, pod, place, standing, -1);
}

static bool extended_fits(const struct node *node, const struct snapshot_pod *spec, bool now)
{
    for (size_t i = 0; i < spec->extended_count; i++) {
        uint32_t resource = spec->extended[i].resource;
        int64_t free = node->extended_idle[resource] + (now ? 0 : node->extended_releasing[resource]);
        if (spec->extended[i].count > free)
            return false;
    }
    return true;
}

static void fit_shared(const struct node *node, const struct request *request, struct node_fit *fit)
{
    // A node that has fewer devices than its pods hold takes none: a group may be on one that is gone.
    if (node->gpu_memory_mib == 0 || request_memory_mib(request, node) > node->gpu_memory_mib ||
        node->capacity[DIMENSION_GPU] == 0 || node_free(node, DIMENSION_GPU) < 0) {
        *fit = (struct node_fit){0};
        return;
    }
    uint32_t joined = shared_device_count_fits(node, request, false);
    fit->joins = joined > 0;
    fit->fits = node_free(node, DIMENSION_GPU) + joined >= request->shared_devices;
    fit->fits_now = fit->fits_now && node->idle[DIMENSION_GPU] + joined >= request->shared_devices;
    // Each device that is opened takes a pod slot of its own.
    int64_t opened = request->shared_devices - joined;
    fit->fits = fit->fits && node_free(node, DIMENSION_PODS) >= 1 + opened;
    fit->fits_now = fit->fits_now && fit->fits && node->idle[DIMENSION_PODS] >= 1 + opened;
}

bool node_fits_devices(const struct node *node, const struct request *request)
{
    struct node_fit fit = {.fits = true, .fits_now = true};
    fit_shared(node, request, &fit);
    return fit.fits;
}

struct node_fit node_fit_pod(const struct node *node, const struct pod *pod)
{
    const struct request *request = &pod->request;
    struct node_fit fit = {.fits = true, .fits_now = true};
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++) {
        if (request->of[d] == 0)
            continue;
        if (request->of[d] > node_free(node, d))
            return (struct node_fit){0};
        fit.fits_now = fit.fits_now && request->of[d] <= node->idle[d];
    }
    if (pod->spec->extended_count > 0) {
        if (!extended_fits(node, pod->spec, false))
            return (struct node_fit){0};
        fit.fits_now = fit.fits_now && extended_fits(node, pod->spec, true);
    }
    if (request->shared_devices > 0)
        fit_shared(node, request, &fit);
    return fit;
}

int64_t node_free_gpu_milli(const struct snapshot *snapshot, const struct node *node)
{
    int64_t free = node_free(node, DIMENSION_GPU) * GPU_MILLI_PER_DEVICE;
    for (size_t i = 0; i < snapshot->extended_resource_count && node->mig_gpu_milli > 0; i++)
        free += (node->extended_idle[i] + node->extended_releasing[i]) * snapshot->extended_resources[i].gpu_milli;
    for (size_t i = 0; i < node->shared_count; i++) {
        const struct shared_device *device = &node->shared[i];
        // One whose pods are all being released counts as a whole device already.
        if ((device->standing == 0 && device->promised == 0) || device->is_unhealthy)
            continue;
        int64_t room = node->gpu_memory_mib - device->allocated_mib + device->releasing_mib;
        if (room > 0 && node->gpu_memory_mib > 0)
            free += room * GPU_MILLI_PER_DEVICE / node->gpu_memory_mib;
    }
    return free;
}
