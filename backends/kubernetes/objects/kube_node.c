#include "backends/kubernetes/objects/kube_node.h"

#include "base/arena.h"
#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>

static const char *const PRESSURES[] = {"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"};

static const json_t *find_of_type(const json_t *list, const char *type)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        if (strcmp(kube_text_at(item, "type"), type) == 0)
            return item;
    }
    return NULL;
}

static void set_reason(struct kube_node *node, const char *reason, const json_t *condition, struct arena *arena)
{
    node->is_ready = false;
    node->reason = reason;
    node->message = arena_strdup(arena, kube_text_at(condition, "message"));
}

static void read_conditions(const json_t *conditions, struct arena *arena, struct kube_node *out)
{
    const json_t *ready = find_of_type(conditions, "Ready");
    const char *status = kube_text_at(ready, "status");
    out->ready_since_ms = kube_time_of(json_object_get(ready, "lastTransitionTime"));
    out->is_ready = strcmp(status, "True") == 0;
    if (!out->is_ready)
        set_reason(out, strcmp(status, "False") == 0 ? "NodeNotReady" : "NodeUnknown", ready, arena);
    for (size_t i = 0; i < sizeof(PRESSURES) / sizeof(PRESSURES[0]) && out->is_ready; i++) {
        const json_t *pressure = find_of_type(conditions, PRESSURES[i]);
        if (strcmp(kube_text_at(pressure, "status"), "True") == 0)
            set_reason(out, PRESSURES[i], pressure, arena);
    }
}

static const char *label_or_empty(const struct kube_meta *meta, const char *key)
{
    const char *value = kube_meta_label(meta, key);
    return value ? value : "";
}

static int64_t label_number(const struct kube_meta *meta, const char *key)
{
    char *end;
    const char *text = label_or_empty(meta, key);
    long long value = strtoll(text, &end, 10);
    return *text && *end == '\0' && value > 0 && value < (1LL << 40) ? value : 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static const char *read_driver(const struct kube_meta *meta, struct arena *arena)
{
    const char *full = kube_meta_label(meta, "nvidia.com/cuda.driver-version.full");
    const char *major = kube_meta_label(meta, "nvidia.com/cuda.driver.major");
    if (full || !major)
        return full ? full : "";
    return arena_printf(arena, "%s.%s", major, label_or_empty(meta, "nvidia.com/cuda.driver.minor"));
}

static void read_gpus(const struct kube_node *node, struct arena *arena, struct kube_node_gpus *out)
{
    const struct kube_meta *meta = &node->meta;
    const char *sharing = label_or_empty(meta, KUBE_GPU ".sharing-strategy");
    *out = (struct kube_node_gpus){
        .product = label_or_empty(meta, KUBE_GPU ".product"),
        .memory_mib = quantity_within(label_number(meta, KUBE_GPU ".memory"), QUANTITY_GPU_MEMORY_MIB_MAX),
        .count = label_number(meta, KUBE_GPU ".count"),
        .replicas = label_number(meta, KUBE_GPU ".replicas"),
        .mig_strategy = label_or_empty(meta, "nvidia.com/mig.strategy"),
        .clique = label_or_empty(meta, KUBE_GPU ".clique"),
        .driver = read_driver(meta, arena),
    };
    if (out->replicas < 1)
        out->replicas = 1;
    out->is_shared = out->replicas > 1 || ends_in(out->product, "-SHARED") || strcmp(sharing, "time-slicing") == 0 ||
                     strcmp(sharing, "mps") == 0 || kube_amounts_has(&node->allocatable, KUBE_GPU ".shared");
}

static bool has_taint(const struct kube_node *node, const char *key)
{
    for (size_t i = 0; i < node->taint_count; i++)
        if (strcmp(node->taints[i].key, key) == 0)
            return true;
    return false;
}

int kube_node_read(const json_t *object, struct arena *arena, struct kube_node *out_node)
{
    struct kube_node node = {.reason = "", .message = ""};
    if (kube_meta_read(object, arena, &node.meta) < 0)
        return -1;
    read_conditions(kube_value_at(object, "status.conditions"), arena, &node);
    node.is_cordoned = json_is_true(kube_value_at(object, "spec.unschedulable"));
    node.taint_count = kube_taints_read(kube_value_at(object, "spec.taints"), arena, &node.taints);
    node.is_out_of_service = has_taint(&node, "node.kubernetes.io/out-of-service");
    kube_amounts_read(kube_value_at(object, "status.allocatable"), arena, &node.allocatable);
    kube_amounts_read(kube_value_at(object, "status.capacity"), arena, &node.capacity);
    read_gpus(&node, arena, &node.gpus);
    const json_t *address = find_of_type(kube_value_at(object, "status.addresses"), "InternalIP");
    node.address = arena_strdup(arena, kube_text_at(address, "address"));
    *out_node = node;
    return 0;
}
