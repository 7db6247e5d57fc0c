#include "model/compute_spec.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "model/pod.h"

#include <stdlib.h>
#include <string.h>

#define MIG_PREFIX "nvidia.com/mig-"

enum {
    MIB = 1024 * 1024
};

static const char *const REQUEST_TYPES[] = {"portion", "memory", NULL};

static int read_portion(const struct fields *compute, const char *key, int64_t *out_milli)
{
    double portion = -1;
    if (fields_number(compute, key, &portion) < 0)
        return -1;
    if (portion < 0)
        return 0;
    if (portion > 1)
        return fields_fail(compute, key, "at most 1, got %g: it is the share of each device", portion);
    if (quantity_gpu_from_real(portion, out_milli, compute->err) < 0)
        return error_prefix(compute->err, "%s: ", fields_path(compute, key));
    if (*out_milli == 0)
        return fields_fail(compute, key, "above 0");
    return 0;
}

static int read_by_portion(const struct fields *compute, int64_t devices, struct pod_request *request,
                           struct compute_spec *out)
{
    int64_t portion = 0, limit = 0;
    if (read_portion(compute, "gpuPortionRequest", &portion) < 0 ||
        read_portion(compute, "gpuPortionLimit", &limit) < 0)
        return -1;
    if (!portion)
        return fields_fail(compute, "gpuPortionRequest", "required where gpuRequestType is portion");
    if (limit && limit < portion)
        return fields_fail(compute, "gpuPortionLimit", "not below gpuPortionRequest");
    if (fields_get(compute, "gpuMemoryRequest") || fields_get(compute, "gpuMemoryLimit"))
        return fields_fail(compute, fields_get(compute, "gpuMemoryRequest") ? "gpuMemoryRequest" : "gpuMemoryLimit",
                           "only where gpuRequestType is memory");
    request->gpu_devices = devices;
    request->gpu_portion_milli = portion == 1000 ? 0 : portion;
    out->gpu_milli = devices * portion;
    return 0;
}

static int read_by_memory(const struct fields *compute, int64_t devices, struct pod_request *request)
{
    int64_t bytes = 0, limit = 0;
    if (fields_memory(compute, "gpuMemoryRequest", &bytes) < 0 || fields_memory(compute, "gpuMemoryLimit", &limit) < 0)
        return -1;
    if (!fields_get(compute, "gpuMemoryRequest"))
        return fields_fail(compute, "gpuMemoryRequest", "required where gpuRequestType is memory");
    if (bytes == 0)
        return fields_fail(compute, "gpuMemoryRequest", "above 0");
    if (fields_get(compute, "gpuMemoryLimit") && limit < bytes)
        return fields_fail(compute, "gpuMemoryLimit", "not below gpuMemoryRequest");
    if (devices > 1)
        return fields_fail(compute, "gpuDevicesRequest", "an amount of memory is asked of one device, not of %d",
                           (int)devices);
    if (fields_get(compute, "gpuPortionRequest") || fields_get(compute, "gpuPortionLimit"))
        return fields_fail(compute, fields_get(compute, "gpuPortionRequest") ? "gpuPortionRequest" : "gpuPortionLimit",
                           "only where gpuRequestType is portion");
    request->gpu_devices = devices;
    request->gpu_memory_mib = bytes / MIB + (bytes % MIB != 0);
    return 0;
}

static int read_gpus(const struct fields *compute, struct pod_request *request, struct compute_spec *out)
{
    int64_t devices = -1;
    if (fields_integer(compute, "gpuDevicesRequest", 0, COMPUTE_GPUS_MAX, &devices) < 0 ||
        fields_word(compute, "gpuRequestType", REQUEST_TYPES, &out->gpu_request_type) < 0)
        return -1;
    if (!out->gpu_request_type && fields_get(compute, "gpuPortionRequest"))
        out->gpu_request_type = REQUEST_TYPES[0];
    else if (!out->gpu_request_type && fields_get(compute, "gpuMemoryRequest"))
        out->gpu_request_type = REQUEST_TYPES[1];
    if (!out->gpu_request_type) {
        request->gpu_devices = devices > 0 ? devices : 0;
        out->gpu_milli = request->gpu_devices * 1000;
        return 0;
    }
    if (devices == 0)
        return fields_fail(compute, "gpuDevicesRequest", "at least 1 where gpuRequestType is %s",
                           out->gpu_request_type);
    if (devices < 0)
        devices = 1;
    if (strcmp(out->gpu_request_type, "memory") == 0)
        return read_by_memory(compute, devices, request);
    return read_by_portion(compute, devices, request, out);
}

static int read_cores(const struct fields *compute, const char *key, int64_t *out_milli)
{
    double cores = -1;
    if (fields_number(compute, key, &cores) < 0)
        return -1;
    if (cores >= 0 && quantity_cpu_from_cores(cores, out_milli, compute->err) < 0)
        return error_prefix(compute->err, "%s: ", fields_path(compute, key));
    return 0;
}

static int read_cpu_and_memory(const struct fields *compute, struct pod_request *request)
{
    int64_t cpu_limit = INT64_MAX, memory_limit = INT64_MAX;
    if (read_cores(compute, "cpuCoreRequest", &request->cpu_milli) < 0 ||
        read_cores(compute, "cpuCoreLimit", &cpu_limit) < 0 ||
        fields_memory(compute, "cpuMemoryRequest", &request->memory_bytes) < 0 ||
        fields_memory(compute, "cpuMemoryLimit", &memory_limit) < 0)
        return -1;
    if (cpu_limit < request->cpu_milli)
        return fields_fail(compute, "cpuCoreLimit", "not below cpuCoreRequest");
    if (memory_limit < request->memory_bytes)
        return fields_fail(compute, "cpuMemoryLimit", "not below cpuMemoryRequest");
    return 0;
}

// How many GPUs a MIG instance stands for: the number before "g" in nvidia.com/mig-1g.10gb.
static int mig_gpus(const char *resource)
{
    return atoi(resource + strlen(MIG_PREFIX));
}

static int read_extended_item(const struct fields *item, struct compute_spec *out)
{
    const char *resource = NULL;
    int64_t count = -1;
    bool is_excluded = false;
    if (fields_bool(item, "exclude", &is_excluded) < 0 || fields_text(item, "resource", &resource) < 0)
        return -1;
    if (!resource)
        return fields_fail(item, "resource", "required");
    if (is_excluded)
        return 0;
    if (fields_memory(item, "quantity", &count) < 0)
        return -1;
    if (count < 0)
        return fields_fail(item, "quantity", "required");
    if (count > 1000000)
        return fields_fail(item, "quantity", "at most 1000000");
    if (strlen(resource) > 253 || !strchr(resource, '/'))
        return fields_fail(item, "resource", "a name with a domain, like example.com/nic");
    if (strcmp(resource, "nvidia.com/gpu") == 0)
        return fields_fail(item, "resource", "whole GPUs are asked for by gpuDevicesRequest");
    bool is_mig = strncmp(resource, MIG_PREFIX, strlen(MIG_PREFIX)) == 0;
    if (is_mig && (mig_gpus(resource) < 1 || mig_gpus(resource) > 100))
        return fields_fail(item, "resource", "no MIG profile %.60s", resource);
    json_t **amounts = is_mig ? &out->mig_instances : &out->extended;
    if (!*amounts)
        *amounts = json_object();
    if (json_object_get(*amounts, resource))
        return fields_fail(item, "resource", "duplicate: %.60s", resource);
    json_object_set_new(*amounts, resource, json_integer(count));
    if (is_mig)
        out->mig_milli += count * mig_gpus(resource) * 1000;
    if (out->mig_milli > (int64_t)COMPUTE_GPUS_MAX * 1000)
        return fields_fail(item, "quantity", "MIG instances of at most %d GPUs", COMPUTE_GPUS_MAX);
    return 0;
}

static int read_extended(const struct fields *compute, const struct pod_request *request, struct compute_spec *out)
{
    size_t count;
    if (fields_count(compute, "extendedResources", COMPUTE_EXTENDED_MAX, &count) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct fields item;
        if (fields_item(compute, "extendedResources", i, &item) < 0 || read_extended_item(&item, out) < 0)
            return -1;
    }
    if (out->mig_instances && request->gpu_devices > 0)
        return fields_fail(compute, "extendedResources", "MIG instances or GPU devices, not both");
    return 0;
}

int compute_spec_read(const struct fields *compute, struct pod_request *request, struct compute_spec *out)
{
    *out = (struct compute_spec){0};
    bool is_large_shm;
    if (read_gpus(compute, request, out) < 0 || read_cpu_and_memory(compute, request) < 0 ||
        fields_bool(compute, "largeShmRequest", &is_large_shm) < 0)
        return -1;
    if (read_extended(compute, request, out) < 0) {
        json_decref(out->extended);
        json_decref(out->mig_instances);
        return -1;
    }
    return 0;
}
