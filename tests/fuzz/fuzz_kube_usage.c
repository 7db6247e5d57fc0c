// An answer of metrics.k8s.io: any JSON. What comes of it has names, and amounts that are none below 0.
#include "backends/kubernetes/metrics/kube_usage.h"
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *list = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
    struct kube_usage *usages;
    struct arena arena;
    arena_init(&arena);
    size_t count = kube_usage_read(list, &arena, &usages);
    for (size_t i = 0; i < count; i++) {
        assert(*usages[i].name && usages[i].namespace);
        assert(usages[i].cpu_milli >= 0 && usages[i].memory_bytes >= 0);
    }
    json_decref(list);
    arena_done(&arena);
    return 0;
}
