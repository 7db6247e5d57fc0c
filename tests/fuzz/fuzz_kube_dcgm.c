// A page of the DCGM exporter: any bytes. What comes of it is within its bounds.
#include "backends/kubernetes/metrics/kube_dcgm.h"
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = memory_alloc(size + !size); // of its exact size: a byte too far shows
    struct kube_dcgm_device *devices;
    struct arena arena;
    memcpy(exact, data, size);
    arena_init(&arena);
    size_t count = kube_dcgm_read(exact, size, &arena, &devices);
    assert(count <= KUBE_DCGM_DEVICES_MAX);
    for (size_t i = 0; i < count; i++) {
        assert(*devices[i].uuid && devices[i].utilization >= -1 && devices[i].utilization <= 100);
        assert(devices[i].memory_used_mib >= -1 && devices[i].temperature >= -1 && devices[i].xid >= 0);
    }
    arena_done(&arena);
    free(exact);
    return 0;
}
