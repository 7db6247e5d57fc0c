#include "backends/kubernetes/metrics/kube_usage.h"

#include "backends/kubernetes/objects/kube_meta.h"
#include "backends/kubernetes/objects/kube_quantity.h"
#include "base/arena.h"
#include "base/duration.h"
#include "base/quantity.h"

// As Go writes a duration; 0 where it is none.
static int64_t window_of(const json_t *item)
{
    const char *text = kube_text_at(item, "window");
    int64_t window_ms = 0;
    return *text && duration_parse(text, &window_ms, NULL) == 0 ? window_ms : 0;
}

static void add(struct kube_usage *usage, const json_t *measured)
{
    int64_t cpu_milli = kube_quantity_milli_of(kube_value_at(measured, "usage.cpu")),
            memory_bytes = kube_quantity_units_of(kube_value_at(measured, "usage.memory"));
    usage->cpu_milli =
        quantity_within(quantity_add(usage->cpu_milli, cpu_milli > 0 ? cpu_milli : 0), QUANTITY_CPU_MILLI_MAX);
    usage->memory_bytes =
        quantity_within(quantity_add(usage->memory_bytes, memory_bytes > 0 ? memory_bytes : 0), QUANTITY_AMOUNT_MAX);
}

size_t kube_usage_read(const json_t *list, struct arena *arena, struct kube_usage **out_usages)
{
    const json_t *items = json_object_get(list, "items"), *item, *container;
    size_t count = 0, i, k;
    *out_usages = arena_array(arena, json_array_size(items), sizeof(**out_usages));
    json_array_foreach(items, i, item) {
        const char *name = kube_text_at(item, "metadata.name");
        if (!*name)
            continue;
        struct kube_usage *usage = &(*out_usages)[count++];
        *usage = (struct kube_usage){
            .name = arena_strdup(arena, name),
            .namespace = arena_strdup(arena, kube_text_at(item, "metadata.namespace")),
            .time_ms = kube_time_of(json_object_get(item, "timestamp")),
            .window_ms = window_of(item),
        };
        add(usage, item); // of a node
        json_array_foreach(json_object_get(item, "containers"), k, container)
            add(usage, container);
    }
    return count;
}
