// Nodes, what they offer beside GPU, CPU and memory, and topologies.
#include "base/arena.h"
#include "form/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char MIG_PREFIX[] = "nvidia.com/mig-";

// The X of nvidia.com/mig-Xg.…; 0 where the name is not of that form.
static int64_t mig_slices(const char *name)
{
    if (strncmp(name, MIG_PREFIX, sizeof(MIG_PREFIX) - 1) != 0)
        return 0;
    const char *digits = name + sizeof(MIG_PREFIX) - 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 2 || digits[count] != 'g' || digits[count + 1] != '.' || digits[count + 2] == '\0')
        return 0;
    return strtol(digits, NULL, 10);
}

static size_t count_keys(const json_t *object)
{
    return json_object_size(json_object_get(object, "migInstances")) +
           json_object_size(json_object_get(object, "extended"));
}

static size_t collect_keys(const json_t *object, const char **names, size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(object, "migInstances"), key, value)
        names[count++] = key;
    json_object_foreach(json_object_get(object, "extended"), key, value)
        names[count++] = key;
    return count;
}

// Indices of extended resources go by the order of all their names, so these are collected before anything is checked;
// what is of the wrong type counts as empty here and is an error where it is read.
void read_extended_names(struct reader *reader, const struct place *document)
{
    const json_t *nodes = json_object_get(document->value, "nodes");
    const json_t *workloads = json_object_get(document->value, "workloads");
    const json_t *object, *workload;
    size_t i, j, capacity = 0, count = 0;
    json_array_foreach(nodes, i, object)
        capacity += count_keys(object);
    json_array_foreach(workloads, i, workload) {
        json_array_foreach(json_object_get(workload, "pods"), j, object)
            capacity += count_keys(object);
    }
    const char **names = arena_array(reader->arena, capacity, sizeof(*names));
    json_array_foreach(nodes, i, object)
        count = collect_keys(object, names, count);
    json_array_foreach(workloads, i, workload) {
        json_array_foreach(json_object_get(workload, "pods"), j, object)
            count = collect_keys(object, names, count);
    }
    const size_t *order = texts_order(reader->arena, names, count);
    reader->extended = arena_array(reader->arena, count, sizeof(*reader->extended));
    size_t *total = &reader->snapshot->extended_resource_count;
    for (i = 0; i < count; i++) {
        const char *name = names[order[i]];
        if (*total > 0 && strcmp(reader->extended[*total - 1].name, name) == 0)
            continue;
        int64_t slices = mig_slices(name);
        reader->extended[(*total)++] = (struct snapshot_extended_resource){
            .name = arena_strdup(reader->arena, name), .is_mig = slices > 0, .gpu_milli = slices * 1000};
    }
    reader->snapshot->extended_resources = reader->extended;
}

static int read_amounts(struct reader *reader, const struct place *place, bool mig,
                        struct snapshot_extended_amount *amounts, size_t *count, struct error *err)
{
    if (place->value && !json_is_null(place->value) && !json_is_object(place->value))
        return place_expected(place, err, "an object");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)place->value, key, value) {
        struct place amount = place_member(place, key);
        struct snapshot_extended_amount *out = &amounts[*count];
        if (mig && mig_slices(key) == 0)
            return place_error(&amount, err, "a MIG profile is named like nvidia.com/mig-1g.10gb");
        if (!mig && strncmp(key, MIG_PREFIX, sizeof(MIG_PREFIX) - 1) == 0)
            return place_error(&amount, err, "MIG profiles stand in migInstances");
        if (read_whole(&amount, 0, READER_EXTENDED_MAXIMUM, &out->count, err) < 0)
            return -1;
        out->resource =
            names_find(reader->extended, reader->snapshot->extended_resource_count, sizeof(*reader->extended), key);
        *count += out->count > 0;
    }
    return 0;
}

static int compare_amounts(const void *a, const void *b)
{
    const struct snapshot_extended_amount *left = a, *right = b;
    return (left->resource > right->resource) - (left->resource < right->resource);
}

int read_extended(struct reader *reader, const struct place *object,
                  const struct snapshot_extended_amount **out_amounts, size_t *out_count, struct error *err)
{
    struct place mig = place_member(object, "migInstances"), extended = place_member(object, "extended");
    struct snapshot_extended_amount *amounts =
        arena_array(reader->arena, count_keys(object->value) + 1, sizeof(*amounts));
    size_t count = 0;
    if (read_amounts(reader, &mig, true, amounts, &count, err) < 0 ||
        read_amounts(reader, &extended, false, amounts, &count, err) < 0)
        return -1;
    qsort(amounts, count, sizeof(*amounts), compare_amounts);
    *out_amounts = amounts;
    *out_count = count;
    return 0;
}

int read_labels(struct reader *reader, const struct place *place, const struct snapshot_label **out_labels,
                size_t *out_count, struct error *err)
{
    if (!place->value)
        return 0;
    if (!json_is_object(place->value))
        return place_expected(place, err, "an object");
    size_t size = json_object_size(place->value), count = 0;
    const char **keys = arena_array(reader->arena, size, sizeof(*keys));
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)place->value, key, value)
        keys[count++] = key;
    const size_t *order = texts_order(reader->arena, keys, count);
    struct snapshot_label *labels = arena_array(reader->arena, count, sizeof(*labels));
    for (size_t i = 0; i < count; i++) {
        struct place label = place_member(place, keys[order[i]]);
        labels[i].key = arena_strdup(reader->arena, label.key);
        if (read_text(reader, &label, &labels[i].value, err) < 0)
            return -1;
    }
    *out_labels = labels;
    *out_count = count;
    return 0;
}

static int read_effect(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    size_t word;
    if (read_word(place, TAINT_EFFECT_WORDS, TAINT_EFFECT_COUNT, &word, err) < 0)
        return -1;
    *(enum taint_effect *)target = (enum taint_effect)word;
    return 0;
}

static int read_taint(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"key", read_name, offsetof(struct snapshot_taint, key), FIELD_REQUIRED},
        {"value", read_text, offsetof(struct snapshot_taint, value), FIELD_NULL},
        {"effect", read_effect, offsetof(struct snapshot_taint, effect), 0},
    };
    *(struct snapshot_taint *)target = (struct snapshot_taint){.value = "", .effect = TAINT_NO_SCHEDULE};
    return fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), target, err);
}

static int read_taints(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_node *node = target;
    void *items;
    size_t count;
    if (fields_read_list(reader, place, sizeof(struct snapshot_taint), read_taint, &items, &count, err) < 0)
        return -1;
    const struct snapshot_taint *taints = items;
    const char **texts = arena_array(reader->arena, count, sizeof(*texts));
    for (size_t i = 0; i < count; i++)
        texts[i] = arena_printf(reader->arena, "%s\x01%s\x01%d", taints[i].key, taints[i].value, (int)taints[i].effect);
    const size_t *order = texts_order(reader->arena, texts, count);
    struct snapshot_taint *sorted = arena_array(reader->arena, count, sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        sorted[i] = taints[order[i]];
    node->taints = sorted;
    node->taint_count = count;
    return 0;
}

static int read_node_labels(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_node *node = target;
    return read_labels(reader, place, &node->labels, &node->label_count, err);
}

static int read_mig_strategy(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    size_t word;
    if (read_word(place, (const char *const[]){"none", "single", "mixed"}, 3, &word, err) < 0)
        return -1;
    *(enum mig_strategy *)target = (enum mig_strategy)word;
    return 0;
}

static int read_gpu_count(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    int64_t count;
    if (read_whole(place, 0, READER_DEVICES_MAXIMUM, &count, err) < 0)
        return -1;
    *(uint32_t *)target = (uint32_t)count;
    return 0;
}

#define NODE(key, member, read, flags)                           \
    {                                                            \
        key, read, offsetof(struct snapshot_node, member), flags \
    }
static const struct field NODE_FIELDS[] = {
    NODE("name", name, read_name, FIELD_REQUIRED),
    {"nodePool", NULL, 0, FIELD_REQUIRED},
    NODE("gpus", gpu_count, read_gpu_count, 0),
    {"unhealthyGpus", NULL, 0, 0},
    NODE("gpuMemoryMib", gpu_memory_mib, read_mib, FIELD_NULL),
    NODE("gpuType", gpu_type, read_text, FIELD_NULL),
    NODE("cpuCores", cpu_milli, read_cores, 0),
    NODE("memoryBytes", memory_bytes, read_bytes, 0),
    NODE("maxPods", max_pods, read_count, FIELD_NULL),
    NODE("migStrategy", mig_strategy, read_mig_strategy, FIELD_NULL),
    {"migInstances", NULL, 0, 0},
    {"extended", NULL, 0, 0},
    {"labels", read_node_labels, 0, FIELD_NULL},
    {"taints", read_taints, 0, FIELD_NULL},
    NODE("ready", ready, read_bool, 0),
    NODE("cordoned", cordoned, read_bool, 0),
};

static int read_index(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    return read_count(reader, place, target, err);
}

static int compare_indices(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static int read_unhealthy(struct reader *reader, const struct place *object, struct snapshot_node *node,
                          struct error *err)
{
    struct place list = place_member(object, "unhealthyGpus");
    void *items;
    size_t count;
    if (json_is_null(list.value))
        list.value = NULL;
    if (fields_read_list(reader, &list, sizeof(uint32_t), read_index, &items, &count, err) < 0)
        return -1;
    uint32_t *indices = items;
    qsort(indices, count, sizeof(*indices), compare_indices);
    for (size_t i = 0; i < count; i++) {
        if (indices[i] >= node->gpu_count)
            return place_error(&list, err, "device %" PRIu32 " of a node with %" PRIu32 " devices", indices[i],
                               node->gpu_count);
        if (i > 0 && indices[i] == indices[i - 1])
            return place_error(&list, err, "duplicate: device %" PRIu32, indices[i]);
    }
    node->unhealthy_gpus = indices;
    node->unhealthy_gpu_count = count;
    return 0;
}

static int read_node(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_node *node = target;
    *node = (struct snapshot_node){.max_pods = 110, .ready = true};
    if (fields_read(reader, place, NODE_FIELDS, READER_COUNT_OF(NODE_FIELDS), node, err) < 0)
        return -1;
    if (read_node_pool_reference(reader, place, &node->node_pool, err) < 0)
        return -1;
    if (read_unhealthy(reader, place, node, err) < 0)
        return -1;
    return read_extended(reader, place, &node->extended, &node->extended_count, err);
}

int read_nodes(struct reader *reader, const struct place *document, struct error *err)
{
    struct place list = place_member(document, "nodes");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct snapshot_node), read_node, &items, &count, err) < 0 ||
        names_sort(reader, &list, items, count, sizeof(struct snapshot_node), err) < 0)
        return -1;
    const struct snapshot_node *nodes = items;
    uint64_t gpus = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        gpus += nodes[i].gpu_count;
        bytes += (uint64_t)nodes[i].memory_bytes;
        if (gpus > READER_ALL_GPUS_MAXIMUM)
            return place_error(&list, err, "more than %" PRIu64 " GPUs in all", READER_ALL_GPUS_MAXIMUM);
        if (bytes > READER_ALL_BYTES_MAXIMUM)
            return place_error(&list, err, "more than %" PRIu64 " bytes of memory in all", READER_ALL_BYTES_MAXIMUM);
    }
    reader->snapshot->nodes = nodes;
    reader->snapshot->node_count = count;
    return 0;
}

static int read_levels(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_topology *topology = target;
    void *items;
    if (fields_read_list(reader, place, sizeof(const char *), read_name, &items, &topology->level_count, err) < 0)
        return -1;
    topology->levels = items;
    if (topology->level_count > READER_LEVELS_MAXIMUM)
        return place_error(place, err, "at most %d levels, got %zu", READER_LEVELS_MAXIMUM, topology->level_count);
    for (size_t i = 0; i < topology->level_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(topology->levels[i], topology->levels[j]) == 0) {
                struct place level = place_item(place, i);
                return place_error(&level, err, "duplicate level \"%s\"", topology->levels[i]);
            }
    return 0;
}

static int read_topology(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"name", read_name, offsetof(struct snapshot_topology, name), FIELD_REQUIRED},
        {"levels", read_levels, 0, 0},
    };
    return fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), target, err);
}

int read_topologies(struct reader *reader, const struct place *document, struct error *err)
{
    struct place list = place_member(document, "topologies");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct snapshot_topology), read_topology, &items, &count, err) < 0 ||
        names_sort(reader, &list, items, count, sizeof(struct snapshot_topology), err) < 0)
        return -1;
    reader->snapshot->topologies = items;
    reader->snapshot->topology_count = count;
    list = place_member(document, "nodePools");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct place pool = place_item(&list, i), name = place_member(&pool, "topology");
        uint32_t topology;
        if (json_is_string(name.value) &&
            names_resolve(&name, "topology", items, count, sizeof(struct snapshot_topology), &topology, err) < 0)
            return -1;
    }
    return 0;
}
