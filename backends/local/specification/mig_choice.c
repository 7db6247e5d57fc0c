#include "backends/local/specification/mig_choice.h"

#include "backends/local/local.h"
#include "backends/local/pods/local_pods.h"
#include "base/error.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const char PREFIX[] = "nvidia.com/mig-";

static uint64_t find_taken(const struct local_pods *pods)
{
    uint64_t taken = 0;
    for (struct local_pod *pod = local_pods_next(pods, NULL); pod; pod = local_pods_next(pods, pod))
        taken |= pod->phase == LOCAL_OVER ? 0 : pod->mig_instances;
    return taken;
}

// Takes `count` of the profile that are not in *taken.
static int64_t take(const struct local_options *options, const char *resource, int64_t count, uint64_t *taken,
                    uint64_t *instances)
{
    for (size_t i = 0; i < options->mig_count && count > 0; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if ((*taken & bit) || strcmp(options->mig[i].resource, resource) != 0)
            continue;
        *taken |= bit;
        *instances |= bit;
        count--;
    }
    return count;
}

static int64_t count_of(const json_t *item)
{
    const json_t *quantity = json_object_get(item, "quantity");
    int64_t count = json_integer_value(quantity);
    if (json_is_string(quantity) && quantity_parse_memory(json_string_value(quantity), &count, NULL) < 0)
        count = 0;
    return count;
}

int mig_choose(const struct local_options *options, const struct local_pods *pods, const struct json_t *compute,
               uint64_t *out_instances, struct error *err)
{
    const json_t *item;
    size_t i;
    uint64_t taken = 0;
    *out_instances = 0;
    json_array_foreach(json_object_get(compute, "extendedResources"), i, item) {
        const char *resource = json_string_value(json_object_get(item, "resource"));
        if (!resource || strncmp(resource, PREFIX, strlen(PREFIX)) != 0 ||
            json_is_true(json_object_get(item, "exclude")))
            continue;
        taken = taken ? taken : find_taken(pods);
        int64_t missing = take(options, resource, count_of(item), &taken, out_instances);
        if (missing > 0)
            return error_set(err, ERROR_UNAVAILABLE, "%s: %" PRId64 " too few are free", resource, missing);
    }
    return 0;
}
