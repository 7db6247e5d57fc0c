// The simulated cluster's file: what it may say, and one line with file, line and path for what it may not.
#include "backends/simulated/cluster_file.h"
#include "base/arena.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

struct refusal {
    const char *name;
    const char *text;
    const char *want; // part of the message
};

static const struct refusal REFUSALS[] = {
    {"unknown key", "nodes:\n- name: a\n  gpu: 2\n", "c.yaml:2: nodes[0].gpu: unknown key"},
    {"unknown key at the top", "node:\n- name: a\n", "node"},
    {"no name", "nodes:\n- gpus: 2\n", "nodes[0].name: is missing"},
    {"a name that is a list", "nodes:\n- name: [a]\n", "nodes[0].name: expected a word"},
    {"negative GPUs", "nodes:\n- name: a\n  gpus: -1\n", "nodes[0].gpus: expected a whole number"},
    {"GPUs as text", "nodes:\n- name: a\n  gpus: two\n", "nodes[0].gpus: expected a whole number"},
    {"too many GPUs", "nodes:\n- name: a\n  gpus: 100000\n", "nodes[0].gpus"},
    {"half a GPU", "nodes:\n- name: a\n  gpus: 0.5\n", "nodes[0].gpus: expected a whole number"},
    {"a bad quantity", "nodes:\n- name: a\n  memoryBytes: 12Qi\n", "nodes[0].memoryBytes"},
    {"more memory than a machine has", "nodes:\n- name: a\n  memoryBytes: 65Ti\n",
     "nodes[0].memoryBytes: at most 64Ti"},
    {"the same as a number", "nodes:\n- name: a\n  memoryBytes: 4611686018427387903\n", "nodes[0].memoryBytes"},
    {"more memory than a device has", "nodes:\n- name: a\n  gpuMemoryMib: 1048577\n", "nodes[0].gpuMemoryMib"},
    {"a pool that is not there", "nodes:\n- name: a\n  nodePool: fast\n", "nodes[0].nodePool: no such pool"},
    {"a node twice", "nodes:\n- name: a\n- name: a\n", "duplicate: a"},
    {"a count that meets a name", "nodes:\n- name: a-1\n- name: a\n  count: 2\n", "duplicate: a"},
    {"too many nodes", "nodes:\n- name: a\n  count: 20001\n", "nodes[0].count"},
    {"a pool twice", "nodePools:\n- name: a\n- name: a\n", "nodePools[1].name: duplicate"},
    {"a label for the default pool", "nodePools:\n- name: default\n  labelKey: k\n", "the default pool has no label"},
    {"a placement that is none", "nodePools:\n- name: p\n  placementStrategy: {gpu: random}\n",
     "placementStrategy: expected binpack or spread"},
    {"a label that is a number", "nodes:\n- name: a\n  labels: {k: 1}\n", "nodes[0].labels"},
    {"taints that are a word", "nodes:\n- name: a\n  taints: x\n", "nodes[0].taints: expected a list"},
    {"a taint without an effect", "nodes:\n- name: a\n  taints: [{key: k}]\n", "effect: is missing"},
    {"an effect that is none", "nodes:\n- name: a\n  taints: [{key: k, effect: Never}]\n",
     "effect: expected NoSchedule"},
    {"MIG counts that are words", "nodes:\n- name: a\n  migInstances: {nvidia.com/mig-1g.10gb: x}\n",
     "nodes[0].migInstances"},
    {"a MIG strategy that is none", "nodes:\n- name: a\n  migStrategy: some\n", "nodes[0].migStrategy"},
    {"ready that is a word", "nodes:\n- name: a\n  ready: maybe\n", "nodes[0].ready"},
    {"not YAML", "nodes: [\n", "c.yaml:"},
    {"an alias", "nodes:\n- &a {name: a}\n- *a\n", "c.yaml:"},
    {"a scalar", "42\n", "c.yaml"},
    {"nodes that are a mapping", "nodes: {name: a}\n", "nodes"},
    {"a topology without levels", "topologies:\n- name: t\n", "topologies[0]"},
    {"a key twice", "nodes:\n- name: a\n  name: b\n", "c.yaml:"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < COUNT(REFUSALS); i++) {
        struct arena arena;
        struct error err = {0};
        struct cluster_description cluster = {0};
        arena_init(&arena);
        int rc = cluster_text_read(REFUSALS[i].text, "c.yaml", &arena, &cluster, &err);
        check_int(rc, -1, "%s: refused", REFUSALS[i].name);
        check_true(strstr(err.message, REFUSALS[i].want) != NULL, "%s: \"%s\" holds \"%s\"", REFUSALS[i].name,
                   err.message, REFUSALS[i].want);
        check_true(strchr(err.message, '\n') == NULL, "%s: one line", REFUSALS[i].name);
        arena_done(&arena);
    }
}

static void test_depth(void)
{
    char text[512] = "nodes: ";
    for (int i = 0; i < 100; i++)
        strcat(text, "[");
    struct arena arena;
    struct error err = {0};
    struct cluster_description cluster = {0};
    arena_init(&arena);
    check_int(cluster_text_read(text, "c.yaml", &arena, &cluster, &err), -1, "a hundred levels are too deep");
    arena_done(&arena);
}

static void test_a_cluster(void)
{
    static const char TEXT[] = "nodePools:\n"
                               "- name: fast\n"
                               "  placementStrategy: {gpu: spread}\n"
                               "  reclaimMinRuntimeSeconds: 60\n"
                               "nodes:\n"
                               "- name: big\n"
                               "  nodePool: fast\n"
                               "  gpus: 8\n"
                               "  count: 3\n"
                               "  memoryBytes: 1Gi\n"
                               "  cpuCores: 2.5\n"
                               "  labels: {zone: z1}\n"
                               "  taints: [{key: k, value: v, effect: NoSchedule}]\n"
                               "- name: plain\n"
                               "  cordoned: true\n"
                               "topologies:\n"
                               "- name: dc\n"
                               "  levels: [zone, kubernetes.io/hostname]\n";
    struct arena arena;
    struct error err = {0};
    struct cluster_description cluster = {0};
    arena_init(&arena);
    check_int(cluster_text_read(TEXT, "c.yaml", &arena, &cluster, &err), 0, "it is good: %s", err.message);
    check_int((int64_t)cluster.node_count, 4, "counts are spelled out");
    check_text(cluster.nodes[0].name, "big-0", "from 0");
    check_text(cluster.nodes[2].name, "big-2", "to the last");
    check_int(cluster.nodes[1].gpu_count, 8, "GPUs");
    check_int(cluster.nodes[1].cpu_milli, 2500, "cores");
    check_int(cluster.nodes[1].memory_bytes, 1 << 30, "memory as a quantity");
    check_text(cluster.nodes[1].labels_json,
               "{\"kubernetes.io/hostname\":\"big-1\",\"prorata.io/node-pool\":\"fast\",\"zone\":\"z1\"}",
               "the pool's label is set");
    check_text(cluster.nodes[1].taints_json, "[{\"effect\":\"NoSchedule\",\"key\":\"k\",\"value\":\"v\"}]", "taints");
    check_true(cluster.nodes[3].is_cordoned && cluster.nodes[3].is_ready, "flags");
    check_text(cluster.nodes[3].labels_json, "{\"kubernetes.io/hostname\":\"plain\"}", "the default pool has no label");
    check_int((int64_t)cluster.pool_count >= 1, 1, "pools");
    check_text(cluster.pools[0].gpu_placement, "spread", "placement");
    check_int(cluster.pools[0].min_runtime_ms, 60000, "minimum run time");
    check_text(cluster.topologies[0].levels_json, "[\"zone\",\"kubernetes.io/hostname\"]", "topology");
    arena_done(&arena);
}

int main(void)
{
    test_refusals();
    test_depth();
    test_a_cluster();
    return check_finish();
}
