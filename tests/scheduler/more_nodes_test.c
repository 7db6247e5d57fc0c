// Adding a node never makes fewer pods run, where all pods ask for the same and each is a workload of its own, whatever
// the queues, priorities and what runs already. Elsewhere it may: docs/scheduler.md, 12.5, and the cases with
// "node" in tests/scheduler/cases. Arguments: first seed, how many, and "any" to look for such cases in clusters of
// every kind: what is found is made smaller and kept in artifacts/clusters.
#include "tests/support/check.h"
#include "tests/support/cluster_life.h"
#include "tests/support/rich_document.h"
#include "tests/support/shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 100 // 2,000 in make test-long
};

static json_t *new_node(void)
{
    struct document_dice dice = {.state = 1};
    return rich_document_node(&dice, "node9", "default");
}

// Each pod of the rich cluster as a workload of its own that asks for one device.
static json_t *uniform_document(struct document_dice *dice)
{
    json_t *document = rich_document(dice), *workloads = json_array(), *workload, *pod, *node;
    size_t w, p, n;
    json_object_del(document, "settings");
    json_object_del(document, "actions");
    json_array_foreach(json_object_get(document, "workloads"), w, workload) {
        json_array_foreach(json_object_get(workload, "pods"), p, pod) {
            json_t *single = json_pack(
                "{s:o, s:O, s:O, s:O, s:[{s:O, s:i}]}", "name", json_sprintf("w%02zu-%zu", w, p), "project",
                json_object_get(workload, "project"), "createdAt", json_object_get(workload, "createdAt"), "priority",
                json_object_get(workload, "priority"), "pods", "name", json_object_get(pod, "name"), "gpuDevices", 1);
            json_array_append_new(workloads, single);
        }
    }
    json_object_set_new(document, "workloads", workloads);
    json_array_foreach(json_object_get(document, "nodes"), n, node) {
        json_object_del(node, "taints");
        json_object_set_new(node, "nodePool", json_string("default"));
    }
    return document;
}

static bool has_fewer(const json_t *document, uint32_t *out_without, uint32_t *out_with)
{
    struct life without, with;
    struct breach breach;
    json_t *larger = json_deep_copy(document);
    json_array_append_new(json_object_get(larger, "nodes"), new_node());
    bool both = cluster_live_document(document, LIFE_CYCLES, false, &without, &breach) &&
                cluster_live_document(larger, LIFE_CYCLES, false, &with, &breach);
    json_decref(larger);
    *out_without = both ? without.running_pods : 0;
    *out_with = both ? with.running_pods : 0;
    return both && with.running_pods < without.running_pods;
}

static bool still_fewer(const json_t *document, void *context)
{
    uint32_t without = 0, with = 0;
    (void)context;
    return has_fewer(document, &without, &with);
}

static void look_for(uint64_t seed)
{
    uint32_t without = 0, with = 0;
    char name[64];
    struct document_dice dice = {.state = seed};
    json_t *document = rich_document(&dice);
    if (has_fewer(document, &without, &with)) {
        snprintf(name, sizeof(name), "more-nodes-%" PRIu64, seed);
        json_t *small = shrink(document, still_fewer, NULL);
        has_fewer(small, &without, &with);
        printf("seed %" PRIu64 ": %u pods, %u with one more node\n", seed, without, with);
        shrink_keep("artifacts/clusters", name, "More nodes, fewer pods.", small);
        json_decref(small);
    }
    json_decref(document);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : check_sample(CLUSTERS);
    uint64_t pods = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint32_t without = 0, with = 0;
        if (argc > 3) {
            look_for(seed);
            continue;
        }
        struct document_dice dice = {.state = seed};
        json_t *document = uniform_document(&dice);
        check_true(!has_fewer(document, &without, &with), "seed %" PRIu64 ": %u pods run, with one more node %u", seed,
                   without, with);
        pods += with;
        json_decref(document);
    }
    if (argc > 3)
        return 0;
    check_true(pods > count, "%" PRIu64 " pods run in %" PRIu64 " clusters", pods, count);
    return check_finish();
}
