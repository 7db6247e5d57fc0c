#include "tests/support/random_document.h"

#include <stdio.h>
#include <string.h>

// splitmix64
unsigned document_dice_throw(struct document_dice *dice, unsigned sides)
{
    if (dice->byte_count > 0) {
        dice->byte_count--;
        return *dice->bytes++ % sides;
    }
    uint64_t z = dice->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (unsigned)((z ^ (z >> 31)) % sides);
}

static bool one_in(struct document_dice *dice, unsigned sides)
{
    return document_dice_throw(dice, sides) == 0;
}

static json_t *named(const char *prefix, unsigned number)
{
    return json_sprintf("%s%u", prefix, number);
}

static json_t *minutes_past_noon(unsigned minutes)
{
    return json_sprintf("2026-01-01T%02u:%02u:00Z", 10 + minutes / 60, minutes % 60);
}

static json_t *random_resources(struct document_dice *dice, const char *const *pools, unsigned pool_count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < pool_count; i++) {
        json_t *gpu = json_pack("{s:i, s:i}", "deserved", document_dice_throw(dice, 5), "overQuotaWeight",
                                document_dice_throw(dice, 4));
        if (one_in(dice, 5))
            json_object_set_new(gpu, "limit", json_integer(2 + document_dice_throw(dice, 6)));
        json_t *item =
            json_pack("{s:s, s:i, s:o}", "nodePool", pools[i], "rank", one_in(dice, 4) ? 200 : 100, "gpu", gpu);
        if (one_in(dice, 6))
            json_object_set_new(item, "cpu", json_pack("{s:i, s:i}", "deserved", 8, "limit", 16));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *random_node(struct document_dice *dice, unsigned number, const char *pool)
{
    json_t *node = json_pack("{s:o, s:s, s:i, s:i, s:i, s:I, s:i}", "name", named("node", number), "nodePool", pool,
                             "gpus", document_dice_throw(dice, 7), "gpuMemoryMib", one_in(dice, 3) ? 40000 : 80000,
                             "cpuCores", 4 + document_dice_throw(dice, 20), "memoryBytes", (json_int_t)64000000000,
                             "maxPods", one_in(dice, 5) ? 3 : 110);
    json_object_set_new(node, "labels", json_pack("{s:o}", "rack", named("r", document_dice_throw(dice, 2))));
    if (one_in(dice, 12))
        json_object_set_new(node, "cordoned", json_true());
    if (one_in(dice, 12))
        json_object_set_new(node, "taints", json_pack("[{s:s}]", "key", "reserved"));
    return node;
}

json_t *random_document(struct document_dice *dice)
{
    static const char *const POOLS[] = {"default", "other"};
    unsigned pool_count = one_in(dice, 4) ? 2 : 1;
    json_t *cluster = json_pack("{s:i, s:s, s:[], s:[], s:[], s:[], s:[]}", "version", 1, "now", "2026-01-01T12:00:00Z",
                                "nodePools", "nodes", "departments", "projects", "workloads");
    json_object_set_new(cluster, "settings", json_pack("{s:i}", "stalenessGraceSeconds", one_in(dice, 2) ? 60 : 0));
    for (unsigned i = 0; i < pool_count; i++)
        json_array_append_new(json_object_get(cluster, "nodePools"),
                              json_pack("{s:s, s:{s:s}}", "name", POOLS[i], "placementStrategy", "gpu",
                                        one_in(dice, 3) ? "spread" : "binpack"));
    for (unsigned i = 0, count = 1 + document_dice_throw(dice, 4); i < count; i++)
        json_array_append_new(json_object_get(cluster, "nodes"),
                              random_node(dice, i, POOLS[document_dice_throw(dice, pool_count)]));
    unsigned department_count = 1 + document_dice_throw(dice, 2);
    for (unsigned i = 0; i < department_count; i++)
        json_array_append_new(
            json_object_get(cluster, "departments"),
            json_pack("{s:o, s:o}", "name", named("d", i), "resources", random_resources(dice, POOLS, pool_count)));
    for (unsigned i = 0, count = 1 + document_dice_throw(dice, 4); i < count; i++)
        json_array_append_new(json_object_get(cluster, "projects"),
                              json_pack("{s:o, s:o, s:o, s:o}", "name", named("p", i), "department",
                                        named("d", document_dice_throw(dice, department_count)), "createdAt",
                                        minutes_past_noon(document_dice_throw(dice, 3)), "resources",
                                        random_resources(dice, POOLS, pool_count)));
    return cluster;
}

static void set_gpu_request(struct document_dice *dice, json_t *pod)
{
    switch (document_dice_throw(dice, 8)) {
    case 0:
        break; // CPU alone
    case 1:
        json_object_set_new(pod, "gpuPortion", json_real((1 + document_dice_throw(dice, 9)) / 10.0));
        break;
    case 2:
        json_object_set_new(pod, "gpuMemoryMib", json_integer(10000 * (1 + (json_int_t)document_dice_throw(dice, 4))));
        break;
    default:
        json_object_set_new(pod, "gpuDevices", json_integer(1 + (json_int_t)document_dice_throw(dice, 3)));
    }
}

static json_t *random_pods(struct document_dice *dice, unsigned workload, unsigned count)
{
    json_t *like = json_pack("{s:i, s:I}", "cpuCores", 1 + document_dice_throw(dice, 3), "memoryBytes",
                             (json_int_t)1000000000 * (1 + document_dice_throw(dice, 8)));
    set_gpu_request(dice, like);
    if (one_in(dice, 8))
        json_object_set_new(like, "nodeSelector",
                            json_pack("{s:[o]}", "rack", named("r", document_dice_throw(dice, 2))));
    if (one_in(dice, 8))
        json_object_set_new(like, "tolerations", json_pack("[{s:s}]", "operator", "Exists"));
    json_t *pods = json_array();
    for (unsigned i = 0; i < count; i++) {
        json_t *pod = json_deep_copy(like);
        json_object_set_new(pod, "name", json_sprintf("w%u-%u", workload, i));
        json_array_append_new(pods, pod);
    }
    json_decref(like);
    return pods;
}

void random_document_workloads(struct document_dice *dice, json_t *cluster, unsigned first, unsigned count)
{
    static const int PRIORITIES[] = {50, 50, 50, 75, 100, 125};
    unsigned project_count = (unsigned)json_array_size(json_object_get(cluster, "projects"));
    for (unsigned i = first; i < first + count; i++) {
        unsigned pod_count = one_in(dice, 2) ? 1 : 1 + document_dice_throw(dice, 4);
        json_t *workload =
            json_pack("{s:o, s:o, s:o, s:i, s:i, s:o}", "name", named("w", i), "project",
                      named("p", document_dice_throw(dice, project_count)), "createdAt", minutes_past_noon(i),
                      "priority", PRIORITIES[document_dice_throw(dice, 6)], "minPods",
                      1 + document_dice_throw(dice, pod_count), "pods", random_pods(dice, i, pod_count));
        if (json_array_size(json_object_get(cluster, "nodePools")) > 1)
            json_object_set_new(workload, "nodePools",
                                one_in(dice, 2) ? json_pack("[s,s]", "other", "default") : json_pack("[s]", "default"));
        json_array_append_new(json_object_get(cluster, "workloads"), workload);
    }
}

static void shuffle_list(struct document_dice *dice, json_t *list)
{
    for (size_t i = json_array_size(list); i > 1; i--) {
        size_t j = document_dice_throw(dice, (unsigned)i);
        json_t *a = json_incref(json_array_get(list, i - 1)), *b = json_incref(json_array_get(list, j));
        json_array_set_new(list, i - 1, b);
        json_array_set_new(list, j, a);
    }
}

// A workload's nodePools are names, the document's own are objects.
static bool order_matters(const char *key, const json_t *list)
{
    if (strcmp(key, "nodePools") == 0)
        return json_is_string(json_array_get(list, 0));
    return strcmp(key, "actions") == 0 || strcmp(key, "levels") == 0 || strncmp(key, "gpu", 3) == 0;
}

static void shuffle_under(struct document_dice *dice, json_t *value, const char *key)
{
    const char *inner_key;
    size_t i;
    json_t *inner;
    json_object_foreach(value, inner_key, inner)
        shuffle_under(dice, inner, inner_key);
    json_array_foreach(value, i, inner)
        shuffle_under(dice, inner, key);
    if (json_is_array(value) && !order_matters(key, value))
        shuffle_list(dice, value);
}

void random_document_shuffle(struct document_dice *dice, json_t *value)
{
    shuffle_under(dice, value, "");
}
