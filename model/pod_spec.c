#include "model/pod_spec.h"

#include "model/compute_spec.h"
#include "model/container_spec.h"
#include "model/placement_spec.h"

#include <string.h>

static const int64_t POD_MEMORY_MAX = (int64_t)1 << 53;

static void set_pull_policy(const struct fields *spec)
{
    const char *image = json_string_value(json_object_get(spec->object, "image"));
    const char *last = strrchr(image, '/');
    const char *tag = strrchr(last ? last : image, ':');
    bool is_latest = !strchr(image, '@') && (!tag || strcmp(tag, ":latest") == 0);
    // A missing tag means latest to a registry, but only the word itself asks for a pull each time.
    fields_set_default(spec, "imagePullPolicy", json_string(is_latest && tag ? "Always" : "IfNotPresent"));
}

int pod_spec_read(const struct fields *spec, struct pod_request *request, struct pod_totals *totals)
{
    struct fields compute;
    struct compute_spec amounts;
    if (container_spec_check(spec) < 0 || fields_object(spec, "compute", &compute) < 0)
        return -1;
    set_pull_policy(spec);
    if (compute_spec_read(&compute, request, &amounts) < 0)
        return -1;
    if (compute.object)
        fields_set_default(&compute, "gpuDevicesRequest", json_integer(request->gpu_devices));
    totals->gpu_request_type = amounts.gpu_request_type;
    totals->gpu_milli = amounts.gpu_milli + amounts.mig_milli;
    if (placement_spec_read(spec, &amounts, &request->constraints_json) < 0)
        return -1;
    if (request->memory_bytes > POD_MEMORY_MAX)
        return fields_fail(&compute, "cpuMemoryRequest", "at most 8Pi");
    return 0;
}
