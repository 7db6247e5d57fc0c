#include "backends/simulated/cluster_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/yaml_reader.h"
#include "model/node.h"
#include "model/placement_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTER_NODES_MAX = 20000,
    CLUSTER_GPUS_MAX = 1024
};

struct reading {
    const char *file;
    struct arena *arena;
    struct cluster_description *cluster;
    size_t node_capacity;
};

// One entry of a list: what messages call it, and the line it stands on.
struct entry {
    const struct reading *reading;
    const json_t *json;
    const char *list;
    size_t index;
};

static int refuse(const struct entry *entry, const char *key, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s:%d: %s[%zu]%s%s: %s", entry->reading->file, yaml_line(entry->json),
                     entry->list, entry->index, *key ? "." : "", key, what);
}

static int check_keys(const struct entry *entry, const char *const *known, struct error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(entry->json))
        return refuse(entry, "", "expected a mapping", err);
    json_object_foreach((json_t *)entry->json, key, value) {
        bool found = strcmp(key, YAML_LINE_KEY) == 0;
        for (size_t i = 0; known[i] && !found; i++)
            found = strcmp(known[i], key) == 0;
        if (!found)
            return refuse(entry, key, "unknown key", err);
    }
    return 0;
}

// Text that is a key's value; fallback where the key is missing.
static int get_text(const struct entry *entry, const char *key, const char *fallback, const char **out_text,
                    struct error *err)
{
    const json_t *value = json_object_get(entry->json, key);
    if (!value && !fallback)
        return refuse(entry, key, "is missing", err);
    if (value && (!json_is_string(value) || *json_string_value(value) == '\0'))
        return refuse(entry, key, "expected a word", err);
    *out_text = value ? arena_strdup(entry->reading->arena, json_string_value(value)) : fallback;
    return 0;
}

static int get_number(const struct entry *entry, const char *key, int64_t fallback, int64_t maximum,
                      int64_t *out_number, struct error *err)
{
    const json_t *value = json_object_get(entry->json, key);
    if (value && (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > maximum))
        return refuse(entry, key, "expected a whole number from 0 on, within reason", err);
    *out_number = value ? json_integer_value(value) : fallback;
    return 0;
}

static int get_flag(const struct entry *entry, const char *key, bool fallback, bool *out_flag, struct error *err)
{
    const json_t *value = json_object_get(entry->json, key);
    if (value && !json_is_boolean(value))
        return refuse(entry, key, "expected true or false", err);
    *out_flag = value ? json_is_true(value) : fallback;
    return 0;
}

static int get_memory(const struct entry *entry, const char *key, int64_t fallback, int64_t *out_bytes,
                      struct error *err)
{
    const json_t *value = json_object_get(entry->json, key);
    if (!json_is_string(value))
        return get_number(entry, key, fallback, QUANTITY_AMOUNT_MAX, out_bytes, err);
    struct error why;
    if (quantity_parse_memory(json_string_value(value), out_bytes, &why) < 0)
        return refuse(entry, key, why.message, err);
    return *out_bytes <= QUANTITY_AMOUNT_MAX ? 0 : refuse(entry, key, "at most 64Ti", err);
}

static int get_cores(const struct entry *entry, int64_t *out_cpu_milli, struct error *err)
{
    const json_t *value = json_object_get(entry->json, "cpuCores");
    struct error why;
    *out_cpu_milli = 64000;
    if (value && !json_is_number(value))
        return refuse(entry, "cpuCores", "expected a number", err);
    if (value && quantity_cpu_from_cores(json_number_value(value), out_cpu_milli, &why) < 0)
        return refuse(entry, "cpuCores", why.message, err);
    return 0;
}

// A value as JSON text, without the lines that the reader noted; fallback where the key is missing.
static const char *dump(const struct entry *entry, const json_t *value, const char *fallback)
{
    if (!value)
        return fallback;
    json_t *copy = json_deep_copy(value);
    json_t *item;
    size_t i;
    json_object_del(copy, YAML_LINE_KEY);
    json_array_foreach(copy, i, item)
        json_object_del(item, YAML_LINE_KEY);
    char *text = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
    const char *kept = arena_strdup(entry->reading->arena, text);
    free(text);
    json_decref(copy);
    return kept;
}

static int check_placement(const struct entry *entry, const char *text, struct error *err)
{
    if (strcmp(text, "binpack") != 0 && strcmp(text, "spread") != 0)
        return refuse(entry, "placementStrategy", "expected binpack or spread", err);
    return 0;
}

static const struct cluster_pool *find_pool(const struct cluster_description *cluster, const char *name)
{
    for (size_t i = 0; i < cluster->pool_count; i++)
        if (strcmp(cluster->pools[i].name, name) == 0)
            return &cluster->pools[i];
    return NULL;
}

static int read_pool(struct reading *reading, const struct entry *entry, struct error *err)
{
    static const char *const KEYS[] = {
        "name", "labelKey", "labelValue", "placementStrategy", "preemptMinRuntimeSeconds", "reclaimMinRuntimeSeconds",
        NULL};
    struct cluster_pool *pool = &reading->cluster->pools[reading->cluster->pool_count];
    int64_t preempt_s, reclaim_s;
    if (check_keys(entry, KEYS, err) < 0 || get_text(entry, "name", NULL, &pool->name, err) < 0)
        return -1;
    if (find_pool(reading->cluster, pool->name))
        return refuse(entry, "name", "duplicate", err);
    bool is_default = strcmp(pool->name, "default") == 0;
    if (is_default && (json_object_get(entry->json, "labelKey") || json_object_get(entry->json, "labelValue")))
        return refuse(entry, "labelKey", "the default pool has no label", err);
    struct entry placement = *entry;
    placement.json = json_object_get(entry->json, "placementStrategy");
    static const char *const PLACEMENT_KEYS[] = {"gpu", "cpu", NULL};
    if (placement.json && check_keys(&placement, PLACEMENT_KEYS, err) < 0)
        return -1;
    if (get_text(&placement, "gpu", "binpack", &pool->gpu_placement, err) < 0 ||
        get_text(&placement, "cpu", "binpack", &pool->cpu_placement, err) < 0 ||
        check_placement(entry, pool->gpu_placement, err) < 0 || check_placement(entry, pool->cpu_placement, err) < 0 ||
        get_text(entry, "labelKey", "prorata.io/node-pool", &pool->label_key, err) < 0 ||
        get_text(entry, "labelValue", pool->name, &pool->label_value, err) < 0 ||
        get_number(entry, "preemptMinRuntimeSeconds", 0, 1 << 30, &preempt_s, err) < 0 ||
        get_number(entry, "reclaimMinRuntimeSeconds", preempt_s, 1 << 30, &reclaim_s, err) < 0)
        return -1;
    if (preempt_s != reclaim_s && json_object_get(entry->json, "preemptMinRuntimeSeconds"))
        return refuse(entry, "reclaimMinRuntimeSeconds", "must equal preemptMinRuntimeSeconds: a pool has one", err);
    pool->min_runtime_ms = reclaim_s * 1000;
    if (is_default)
        pool->label_key = pool->label_value = NULL;
    reading->cluster->pool_count++;
    return 0;
}

static int add_node(struct reading *reading, const struct entry *entry, struct cluster_node node, const json_t *labels,
                    const char *name, struct error *err)
{
    struct cluster_description *cluster = reading->cluster;
    if (cluster->node_count == CLUSTER_NODES_MAX)
        return refuse(entry, "count", "more nodes than 20000", err);
    cluster->nodes = arena_grow(reading->arena, cluster->nodes, &reading->node_capacity, cluster->node_count + 1,
                                sizeof(*cluster->nodes));
    node.name = name;
    node.labels_json = node_labels_json(reading->arena, labels, name);
    cluster->nodes[cluster->node_count++] = node;
    return 0;
}

// Those of the entry with its pool's; to be released.
static int read_labels(const struct entry *entry, const struct cluster_pool *pool, json_t **out_labels,
                       struct error *err)
{
    const json_t *given = json_object_get(entry->json, "labels");
    const char *key;
    json_t *value;
    if (given && !json_is_object(given))
        return refuse(entry, "labels", "expected a mapping", err);
    json_object_foreach((json_t *)given, key, value) {
        if (strcmp(key, YAML_LINE_KEY) != 0 && !json_is_string(value))
            return refuse(entry, "labels", "values must be text (quote numbers)", err);
    }
    json_t *labels = given ? json_copy((json_t *)given) : json_object();
    if (pool && pool->label_key)
        json_object_set_new(labels, pool->label_key, json_string(pool->label_value));
    json_object_del(labels, YAML_LINE_KEY);
    *out_labels = labels;
    return 0;
}

static int check_taints(const struct entry *entry, const json_t *taints, struct error *err)
{
    static const char *const KEYS[] = {"key", "value", "effect", NULL};
    if (taints && !json_is_array(taints))
        return refuse(entry, "taints", "expected a list", err);
    for (size_t i = 0; i < json_array_size(taints); i++) {
        struct entry taint = *entry;
        const char *key, *value, *effect;
        taint.json = json_array_get(taints, i);
        if (check_keys(&taint, KEYS, err) < 0 || get_text(&taint, "key", NULL, &key, err) < 0 ||
            get_text(&taint, "value", "-", &value, err) < 0 || get_text(&taint, "effect", NULL, &effect, err) < 0)
            return -1;
        bool is_known = false;
        for (size_t k = 0; k < TAINT_EFFECT_COUNT; k++)
            is_known |= strcmp(TAINT_EFFECT_WORDS[k], effect) == 0;
        if (!is_known)
            return refuse(&taint, "effect", "expected NoSchedule, PreferNoSchedule or NoExecute", err);
    }
    return 0;
}

static int check_mig(const struct entry *entry, const json_t *mig, struct error *err)
{
    const char *key;
    json_t *value;
    if (mig && !json_is_object(mig))
        return refuse(entry, "migInstances", "expected a mapping of profiles to counts", err);
    json_object_foreach((json_t *)mig, key, value) {
        bool is_count = json_is_integer(value) && json_integer_value(value) >= 0;
        if (strcmp(key, YAML_LINE_KEY) != 0 && (!is_count || strncmp(key, "nvidia.com/mig-", 15) != 0))
            return refuse(entry, "migInstances", "expected a mapping of profiles (nvidia.com/mig-1g.10gb) to counts",
                          err);
    }
    return 0;
}

static int check_mig_strategy(const struct entry *entry, const char *text, struct error *err)
{
    if (strcmp(text, "none") != 0 && strcmp(text, "single") != 0 && strcmp(text, "mixed") != 0)
        return refuse(entry, "migStrategy", "expected none, single or mixed", err);
    return 0;
}

static int read_node(struct reading *reading, const struct entry *entry, struct error *err)
{
    static const char *const KEYS[] = {
        "name",        "nodePool",     "gpus",   "gpuMemoryMib", "gpuType", "cpuCores", "memoryBytes", "maxPods",
        "migStrategy", "migInstances", "labels", "taints",       "ready",   "cordoned", "count",       NULL};
    struct cluster_node node = {0};
    const char *name;
    int64_t count;
    if (check_keys(entry, KEYS, err) < 0 || get_text(entry, "name", NULL, &name, err) < 0 ||
        get_text(entry, "nodePool", "default", &node.node_pool, err) < 0 ||
        get_number(entry, "gpus", 0, CLUSTER_GPUS_MAX, &node.gpu_count, err) < 0 ||
        get_number(entry, "gpuMemoryMib", 81920, QUANTITY_GPU_MEMORY_MIB_MAX, &node.gpu_memory_mib, err) < 0 ||
        get_text(entry, "gpuType", node.gpu_count ? "NVIDIA-H100-80GB" : "", &node.gpu_type, err) < 0 ||
        get_cores(entry, &node.cpu_milli, err) < 0 ||
        get_memory(entry, "memoryBytes", 512LL << 30, &node.memory_bytes, err) < 0 ||
        get_number(entry, "maxPods", 110, 100000, &node.max_pods, err) < 0 ||
        get_text(entry, "migStrategy", "none", &node.mig_strategy, err) < 0 ||
        get_flag(entry, "ready", true, &node.is_ready, err) < 0 ||
        get_flag(entry, "cordoned", false, &node.is_cordoned, err) < 0 ||
        get_number(entry, "count", 1, CLUSTER_NODES_MAX, &count, err) < 0)
        return -1;
    const struct cluster_pool *pool = find_pool(reading->cluster, node.node_pool);
    if (!pool && strcmp(node.node_pool, "default") != 0)
        return refuse(entry, "nodePool", "no such pool in nodePools", err);
    const json_t *taints = json_object_get(entry->json, "taints"), *mig = json_object_get(entry->json, "migInstances");
    if (check_taints(entry, taints, err) < 0 || check_mig(entry, mig, err) < 0 ||
        check_mig_strategy(entry, node.mig_strategy, err) < 0)
        return -1;
    node.taints_json = dump(entry, taints, "[]");
    node.mig_instances_json = dump(entry, mig, "{}");
    json_t *labels = NULL;
    if (read_labels(entry, pool, &labels, err) < 0)
        return -1;
    bool is_one = !json_object_get(entry->json, "count");
    int rc = is_one ? add_node(reading, entry, node, labels, name, err) : 0;
    for (int64_t i = 0; !is_one && i < count && rc == 0; i++)
        rc = add_node(reading, entry, node, labels, arena_printf(reading->arena, "%s-%" PRId64, name, i), err);
    json_decref(labels);
    return rc;
}

static int read_topology(struct reading *reading, const struct entry *entry, struct error *err)
{
    static const char *const KEYS[] = {"name", "levels", NULL};
    struct cluster_topology *topology = &reading->cluster->topologies[reading->cluster->topology_count];
    const json_t *levels = json_object_get(entry->json, "levels");
    if (check_keys(entry, KEYS, err) < 0 || get_text(entry, "name", NULL, &topology->name, err) < 0)
        return -1;
    if (!json_is_array(levels) || json_array_size(levels) == 0)
        return refuse(entry, "levels", "expected a list of label keys", err);
    topology->levels_json = dump(entry, levels, "[]");
    reading->cluster->topology_count++;
    return 0;
}

typedef int (*read_entry_fn)(struct reading *reading, const struct entry *entry, struct error *err);

static int read_list(struct reading *reading, const json_t *root, const char *list, read_entry_fn read_entry,
                     struct error *err)
{
    const json_t *items = json_object_get(root, list);
    if (items && !json_is_array(items))
        return error_set(err, ERROR_INVALID, "%s: %s: expected a list", reading->file, list);
    for (size_t i = 0; i < json_array_size(items); i++) {
        struct entry entry = {reading, json_array_get(items, i), list, i};
        if (read_entry(reading, &entry, err) < 0)
            return -1;
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct cluster_node *const *)a)->name, (*(const struct cluster_node *const *)b)->name);
}

static int check_node_names(const struct reading *reading, struct error *err)
{
    const struct cluster_description *cluster = reading->cluster;
    const struct cluster_node **sorted = arena_array(reading->arena, cluster->node_count, sizeof(*sorted));
    for (size_t i = 0; i < cluster->node_count; i++)
        sorted[i] = &cluster->nodes[i];
    qsort(sorted, cluster->node_count, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < cluster->node_count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return error_set(err, ERROR_INVALID, "%s: nodes: duplicate: %s", reading->file, sorted[i]->name);
    return 0;
}

static int read_root(struct reading *reading, const json_t *root, struct error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return error_set(err, ERROR_INVALID, "%s: expected a mapping with nodePools, nodes, topologies", reading->file);
    json_object_foreach((json_t *)root, key, value) {
        if (strcmp(key, YAML_LINE_KEY) != 0 && strcmp(key, "nodePools") != 0 && strcmp(key, "nodes") != 0 &&
            strcmp(key, "topologies") != 0)
            return error_set(err, ERROR_INVALID, "%s: %s: unknown key", reading->file, key);
    }
    struct cluster_description *cluster = reading->cluster;
    size_t pools = json_array_size(json_object_get(root, "nodePools"));
    size_t topologies = json_array_size(json_object_get(root, "topologies"));
    cluster->pools = arena_array(reading->arena, pools, sizeof(*cluster->pools));
    cluster->topologies = arena_array(reading->arena, topologies, sizeof(*cluster->topologies));
    if (read_list(reading, root, "nodePools", read_pool, err) < 0 ||
        read_list(reading, root, "topologies", read_topology, err) < 0 ||
        read_list(reading, root, "nodes", read_node, err) < 0)
        return -1;
    return check_node_names(reading, err);
}

static int read_tree(json_t *root, const char *name, struct arena *arena, struct cluster_description *out_cluster,
                     struct error *err)
{
    struct cluster_description cluster = {0};
    struct reading reading = {.file = name, .arena = arena, .cluster = &cluster};
    int rc = read_root(&reading, root, err);
    json_decref(root);
    if (rc == 0)
        *out_cluster = cluster;
    return rc;
}

int cluster_file_read(const char *path, struct arena *arena, struct cluster_description *out_cluster, struct error *err)
{
    json_t *root;
    if (yaml_read_file(path, &root, err) < 0)
        return -1;
    return read_tree(root, path, arena, out_cluster, err);
}

int cluster_text_read(const char *text, const char *name, struct arena *arena, struct cluster_description *out_cluster,
                      struct error *err)
{
    json_t *root;
    if (yaml_read(text, strlen(text), name, &root, err) < 0)
        return -1;
    return read_tree(root, name, arena, out_cluster, err);
}
