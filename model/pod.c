#include "model/pod.h"

#include "model/workload_type.h"

#include <inttypes.h>
#include <stdio.h>

char *pod_name(const char *workload_name, const char *workload_type, const char *role, int64_t index, int64_t attempt,
               char out[POD_NAME_SIZE])
{
    if (workload_type_is(workload_type, WORKLOAD_TYPE_DISTRIBUTED))
        snprintf(out, POD_NAME_SIZE, "%.63s-%s-%" PRId64, workload_name, role, index);
    else
        snprintf(out, POD_NAME_SIZE, "%.63s-%" PRId64 "-%" PRId64, workload_name, index, attempt);
    return out;
}
