// What DCGM exporters say of the GPUs of nodes: utilization as facts of the pods that have them, and devices for who
// asks for a node's.
#include "backends/kubernetes/kubernetes_state.h"
#include "backends/kubernetes/metrics/kube_gpu_reader.h"
#include "base/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum {
    OLD_US = 300 * 1000000, // then nothing is known of a node any more
    INDEX_MAX = 64
};

// A node's devices as they were read last.
struct node_gpus {
    struct arena arena;
    const char *node_name;
    struct kube_dcgm_device *devices;
    size_t count;
    int64_t read_us;
};

// Errors of the driver after which a device is of no use until somebody looks at it.
static const struct {
    int64_t xid;
    const char *reason;
} FATAL[] = {{48, "double-bit ECC error"},       {62, "internal micro-controller halt"},
             {64, "ECC page retirement failed"}, {74, "NVLink error"},
             {79, "fallen off the bus"},         {95, "uncontained ECC error"}};

static bool runs_on(const struct own_object *object, const char *node_name)
{
    return object->pod.life == KUBE_POD_RUNNING && strcmp(object->pod.node_name, node_name) == 0;
}

static bool wants(void *context, const char *node_name)
{
    struct kubernetes *kubernetes = context;
    const struct own_object *object;
    struct kube_index_slot *place = NULL;
    size_t position = 0;
    bool found = false;
    pthread_mutex_lock(&kubernetes->lock);
    while (!found && (object = kube_index_next(&kubernetes->objects, &position, &place)))
        found = runs_on(object, node_name);
    pthread_mutex_unlock(&kubernetes->lock);
    return found;
}

static void forget(struct node_gpus *gpus)
{
    if (!gpus)
        return;
    arena_done(&gpus->arena);
    free(gpus);
}

static struct node_gpus *copy(const char *node_name, const struct kube_dcgm_device *devices, size_t count)
{
    struct node_gpus *gpus = memory_array(1, sizeof(*gpus));
    arena_init(&gpus->arena);
    gpus->node_name = arena_strdup(&gpus->arena, node_name);
    gpus->devices = arena_array(&gpus->arena, count, sizeof(*devices));
    gpus->count = count;
    gpus->read_us = timestamp_monotonic_us();
    for (size_t i = 0; i < count; i++) {
        gpus->devices[i] = devices[i];
        gpus->devices[i].uuid = arena_strdup(&gpus->arena, devices[i].uuid);
        gpus->devices[i].instance = arena_strdup(&gpus->arena, devices[i].instance);
    }
    return gpus;
}

static void tell_use(struct kubernetes *kubernetes, const struct ordered_pod *pod, const struct kube_meta *meta,
                     const struct kube_dcgm_device *devices, size_t count)
{
    double utilization = -1;
    int32_t memory_mib[BACKEND_DEVICES_MAX];
    bool has_memory =
        kube_dcgm_memory_of_pod(devices, count, meta->namespace, meta->name, memory_mib, BACKEND_DEVICES_MAX);
    if (!kube_dcgm_of_pod(devices, count, meta->namespace, meta->name, &utilization) && !has_memory)
        return;
    struct backend_fact *fact = kubernetes_tell(kubernetes, BACKEND_POD_USAGE, pod->uuid, pod->decision);
    fact->gpu_utilization = utilization;
    fact->has_gpu_memory = has_memory;
    if (has_memory)
        memcpy(fact->gpu_memory_mib, memory_mib, sizeof(memory_mib));
}

static void take(void *context, const char *node_name, const struct kube_dcgm_device *devices, size_t count)
{
    struct kubernetes *kubernetes = context;
    struct node_gpus *gpus = copy(node_name, devices, count);
    const struct own_object *object;
    struct kube_index_slot *place = NULL;
    size_t position = 0;
    pthread_mutex_lock(&kubernetes->lock);
    forget(kube_index_take(&kubernetes->gpus, node_name));
    kube_index_set(&kubernetes->gpus, gpus->node_name, gpus);
    while ((object = kube_index_next(&kubernetes->objects, &position, &place))) {
        const struct kube_meta *meta = &object->pod.meta;
        const struct ordered_pod *pod = kube_index_find(&kubernetes->pods, object->uuid);
        if (pod && runs_on(object, node_name))
            tell_use(kubernetes, pod, meta, devices, count);
    }
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

static struct backend_device device_of(const struct kube_dcgm_device *seen, struct arena *arena)
{
    struct backend_device device = {.name = arena_strdup(arena, seen->uuid),
                                    .is_healthy = true,
                                    .reason = "",
                                    .memory_mib = seen->memory_mib,
                                    .memory_used_mib = seen->memory_used_mib,
                                    .utilization = seen->utilization < 0 ? -1 : (int)(seen->utilization + 0.5),
                                    .temperature = seen->temperature};
    for (size_t i = 0; i < sizeof(FATAL) / sizeof(FATAL[0]); i++)
        if (FATAL[i].xid == seen->xid) {
            device.is_healthy = false;
            device.reason = FATAL[i].reason;
        }
    return device;
}

size_t gpu_usage_read(void *backend, const char *node_name, struct arena *arena, struct backend_device **out_devices)
{
    struct kubernetes *kubernetes = backend;
    size_t count = 0;
    *out_devices = arena_array(arena, INDEX_MAX, sizeof(**out_devices));
    for (size_t i = 0; i < INDEX_MAX; i++)
        (*out_devices)[i] = (struct backend_device){"", true, "", -1, -1, -1, -1, NULL, 0};
    pthread_mutex_lock(&kubernetes->lock);
    const struct node_gpus *gpus = kube_index_find(&kubernetes->gpus, node_name);
    bool is_new = gpus && timestamp_monotonic_us() - gpus->read_us < OLD_US;
    for (size_t i = 0; is_new && i < gpus->count; i++) {
        const struct kube_dcgm_device *seen = &gpus->devices[i];
        if (seen->index < 0 || seen->index >= INDEX_MAX || *seen->instance)
            continue;
        (*out_devices)[seen->index] = device_of(seen, arena);
        count = count > (size_t)seen->index ? count : (size_t)seen->index + 1;
    }
    pthread_mutex_unlock(&kubernetes->lock);
    return count;
}

int gpu_usage_start(struct kubernetes *kubernetes, struct error *err)
{
    static const struct kube_gpu_reader_ops OPS = {wants, take};
    return kube_gpu_reader_create(kubernetes->client, &OPS, kubernetes, 0, &kubernetes->gpu_reader, err);
}

void gpu_usage_done(struct kubernetes *kubernetes)
{
    struct node_gpus *gpus;
    struct kube_index_slot *place = NULL;
    size_t position = 0;
    while ((gpus = kube_index_next(&kubernetes->gpus, &position, &place)))
        forget(gpus);
    kube_index_done(&kubernetes->gpus);
}
