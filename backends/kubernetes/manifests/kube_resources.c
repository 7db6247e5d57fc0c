// What a pod asks of its node.
#include "backends/kubernetes/manifests/kube_container.h"

#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "backends/kubernetes/objects/kube_quantity.h"
#include "base/error.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <string.h>

#define MIG_PREFIX "nvidia.com/mig-"

static const char NO_PARTS[] = "this cluster gives whole GPUs alone; ask for gpuDevicesRequest without a portion";

int kube_gpus_read(const json_t *compute, int64_t *out_gpus, struct error *err)
{
    const json_t *devices = json_object_get(compute, "gpuDevicesRequest"),
                 *portion = json_object_get(compute, "gpuPortionRequest"),
                 *memory = json_object_get(compute, "gpuMemoryRequest");
    const char *type = kube_spec_text(compute, "gpuRequestType");
    bool is_memory = type ? strcmp(type, "memory") == 0 : json_is_string(memory);
    bool is_portion = type ? strcmp(type, "portion") == 0 : json_is_number(portion);
    if (is_memory)
        return error_set(err, ERROR_INVALID, "spec.compute.gpuMemoryRequest: %s", NO_PARTS);
    if (is_portion && json_number_value(portion) < 1)
        return error_set(err, ERROR_INVALID, "spec.compute.gpuPortionRequest: %s", NO_PARTS);
    double count = json_number_value(devices);
    *out_gpus = count >= 1 && count <= 1e6 ? (int64_t)count : is_portion ? 1 : 0;
    return 0;
}

bool kube_has_mig(const json_t *compute)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(compute, "extendedResources"), &i));) {
        const char *resource = kube_spec_text(item, "resource");
        if (resource && strncmp(resource, MIG_PREFIX, strlen(MIG_PREFIX)) == 0)
            return true;
    }
    return false;
}

static int set_cores(json_t *amounts, const json_t *compute, const char *key, struct error *err)
{
    int64_t milli = 0;
    const json_t *cores = json_object_get(compute, key);
    if (json_is_number(cores) && quantity_cpu_from_cores(json_number_value(cores), &milli, err) < 0)
        return error_prefix(err, "spec.compute.%s: ", key);
    if (milli > 0)
        json_object_set_new(amounts, "cpu", json_sprintf("%" PRId64 "m", milli));
    return 0;
}

static int set_memory(json_t *amounts, const json_t *compute, const char *key, struct error *err)
{
    int64_t bytes = 0;
    const char *amount = kube_spec_text(compute, key);
    char text[QUANTITY_TEXT_SIZE];
    if (amount && quantity_parse_memory(amount, &bytes, err) < 0)
        return error_prefix(err, "spec.compute.%s: ", key);
    if (bytes > 0)
        json_object_set_new(amounts, "memory", json_string(quantity_format_memory(bytes, text)));
    return 0;
}

// Kubernetes knows no more of it than asked: both are the same.
static void set_devices(json_t *requests, json_t *limits, const char *resource, int64_t count)
{
    json_object_set_new(requests, resource, json_sprintf("%" PRId64, count));
    json_object_set_new(limits, resource, json_sprintf("%" PRId64, count));
}

static int set_extended(json_t *requests, json_t *limits, const json_t *compute, struct error *err)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(compute, "extendedResources"), &i));) {
        const char *resource = kube_spec_text(item, "resource"), *quantity = kube_spec_text(item, "quantity");
        int64_t count = 0;
        if (!resource || !quantity)
            continue;
        if (strcmp(resource, KUBE_GPU_RESOURCE) == 0)
            return error_set(err, ERROR_INVALID,
                             "spec.compute.extendedResources[%zu].resource: ask for GPUs by gpuDevicesRequest", i - 1);
        if (kube_quantity_read(quantity, strlen(quantity), KUBE_WHOLE, &count, err) < 0)
            return error_prefix(err, "spec.compute.extendedResources[%zu].quantity: ", i - 1);
        if (count > 0)
            set_devices(requests, limits, resource, count);
    }
    return 0;
}

int kube_resources_read(const json_t *compute, bool with_devices, json_t **out_resources, struct error *err)
{
    int64_t gpus = 0;
    json_t *requests = json_pack("{s:s, s:s}", "cpu", "0", "memory", "0"), *limits = json_object();
    bool is_good = set_cores(requests, compute, "cpuCoreRequest", err) == 0 &&
                   set_cores(limits, compute, "cpuCoreLimit", err) == 0 &&
                   set_memory(requests, compute, "cpuMemoryRequest", err) == 0 &&
                   set_memory(limits, compute, "cpuMemoryLimit", err) == 0;
    if (is_good && with_devices)
        is_good = kube_gpus_read(compute, &gpus, err) == 0 && set_extended(requests, limits, compute, err) == 0;
    if (is_good && gpus > 0)
        set_devices(requests, limits, KUBE_GPU_RESOURCE, gpus);
    json_t *resources = json_pack("{s:o, s:o}", "requests", requests, "limits", limits);
    if (!is_good) {
        json_decref(resources);
        return -1;
    }
    *out_resources = resources;
    return 0;
}
