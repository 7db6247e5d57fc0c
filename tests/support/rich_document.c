#include "tests/support/rich_document.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_NODES = 6,
    MOST_GPUS = 8,
    MOST_PODS = 6,
    DEVICE_MIB = 16000,
    NODE_CORES = 16,
    NODE_GIB = 64,
    MIG_INSTANCES = 7,
    NICS = 2
};

static const char *const POOLS[] = {"default", "other", "spare"};
static const char MIG[] = "nvidia.com/mig-1g.10gb", BIG_MIG[] = "nvidia.com/mig-3g.20gb", NIC[] = "example.com/nic";

// What is left on a node for pods that run already.
struct room {
    unsigned pool;
    unsigned gpus; // devices that nobody has
    unsigned first_free;
    int64_t cpu_milli;
    int64_t gib;
    unsigned pods;
    unsigned mig, nics;
    unsigned open_mib; // of the shared device opened last
    unsigned open_group;
    unsigned mib; // of a device
};

struct maker {
    struct document_dice *dice;
    json_t *document;
    unsigned pool_count, node_count, project_count, department_count;
    struct room rooms[MOST_NODES];
    unsigned promises;
    // Which features this cluster has.
    bool fractions, memory_amounts, mig, extended, rules, pod_affinity, topology, sub_groups, elastic, promised,
        min_times, limits, statuses, deleting, delays, stale, tight_cpu, small_pods;
};

static unsigned below(struct maker *maker, unsigned sides)
{
    return document_dice_throw(maker->dice, sides);
}

static bool one_in(struct maker *maker, unsigned sides)
{
    return below(maker, sides) == 0;
}

static void set_int(json_t *object, const char *key, unsigned value)
{
    json_object_set_new(object, key, json_integer(value));
}

static json_t *named(const char *prefix, unsigned number)
{
    return json_sprintf("%s%02u", prefix, number);
}

static json_t *clock_text(unsigned minutes) // past eleven; now is twelve
{
    return json_sprintf("2026-01-01T11:%02u:00Z", minutes % 60);
}

static void choose_features(struct maker *maker)
{
    bool *const features[] = {&maker->fractions, &maker->memory_amounts, &maker->mig,       &maker->extended,
                              &maker->rules,     &maker->pod_affinity,   &maker->topology,  &maker->sub_groups,
                              &maker->elastic,   &maker->promised,       &maker->min_times, &maker->limits,
                              &maker->statuses,  &maker->deleting,       &maker->delays,    &maker->stale,
                              &maker->tight_cpu, &maker->small_pods};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        *features[i] = one_in(maker, 3);
}

static void make_settings(struct maker *maker)
{
    static const char *const ORDERS[][5] = {{"allocate", "reclaim", "preempt", "consolidation", "stalegangeviction"},
                                            {"stalegangeviction", "allocate", "preempt", "reclaim", NULL},
                                            {"allocate", NULL, NULL, NULL, NULL}};
    json_t *settings = json_object();
    if (one_in(maker, 6))
        json_object_set_new(settings, "fullHierarchyFairness", json_false());
    if (one_in(maker, 3))
        json_object_set_new(settings, "stalenessGraceSeconds", json_integer((json_int_t)below(maker, 3) * 60 - 60));
    if (one_in(maker, 6))
        set_int(settings, "maxConsolidationVictims", below(maker, 4));
    if (one_in(maker, 8))
        json_object_set_new(settings, "depthPerAction",
                            json_pack("{s:i, s:i}", "allocate", 3 + below(maker, 3), "reclaim", 1 + below(maker, 3)));
    if (one_in(maker, 8))
        set_int(settings, "scenariosPerWorkload", 1 + below(maker, 6));
    if (one_in(maker, 12))
        set_int(settings, "scenariosPerAction", 1 + below(maker, 20));
    if (one_in(maker, 3))
        json_object_set_new(settings, "reclaimMinRuntimeMethod", json_string("queue"));
    if (one_in(maker, 6))
        set_int(settings, "reclaimSaturationMultiplier", 1 + below(maker, 2));
    json_object_set_new(maker->document, "settings", settings);
    if (!one_in(maker, 10))
        return;
    json_t *actions = json_array();
    const char *const *order = ORDERS[below(maker, 3)];
    for (size_t i = 0; i < 5 && order[i]; i++)
        json_array_append_new(actions, json_string(order[i]));
    json_object_set_new(maker->document, "actions", actions);
}

static void set_min_times(struct maker *maker, json_t *object)
{
    static const unsigned SECONDS[] = {0, 300, 1200, 3600};
    if (maker->min_times && one_in(maker, 2))
        set_int(object, "preemptMinRuntimeSeconds", SECONDS[below(maker, 4)]);
    if (maker->min_times && one_in(maker, 2))
        set_int(object, "reclaimMinRuntimeSeconds", SECONDS[below(maker, 4)]);
}

static void make_pools(struct maker *maker)
{
    json_t *pools = json_array();
    maker->pool_count = one_in(maker, 3) ? 2 + below(maker, 2) : 1;
    for (unsigned i = 0; i < maker->pool_count; i++) {
        const char *gpu = one_in(maker, 4) ? "spread" : "binpack", *cpu = one_in(maker, 4) ? "spread" : "binpack";
        json_t *pool = json_pack("{s:s, s:{s:s, s:s}}", "name", POOLS[i], "placementStrategy", "gpu", gpu, "cpu", cpu);
        set_min_times(maker, pool);
        if (one_in(maker, 3))
            json_object_set_new(pool, "timeBasedFairshare", json_pack("{s:f}", "kValue", 0.5 * below(maker, 6)));
        json_array_append_new(pools, pool);
    }
    json_object_set_new(maker->document, "nodePools", pools);
}

json_t *rich_document_node(struct document_dice *dice, const char *name, const char *pool)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:{s:s, s:s}}", "name", name, "nodePool", pool, "gpus",
                     1 + document_dice_throw(dice, MOST_GPUS), "gpuMemoryMib", DEVICE_MIB, "cpuCores", NODE_CORES,
                     "memoryBytes", (json_int_t)NODE_GIB << 30, "labels", "rack", "r0", "host", name);
}

static void make_node(struct maker *maker, json_t *nodes, unsigned index)
{
    struct room *room = &maker->rooms[index];
    char name[16];
    snprintf(name, sizeof name, "node%u", index);
    *room = (struct room){.pool = below(maker, maker->pool_count), .mib = DEVICE_MIB, .pods = 110};
    json_t *node = rich_document_node(maker->dice, name, POOLS[room->pool]);
    room->gpus = (unsigned)json_integer_value(json_object_get(node, "gpus"));
    room->cpu_milli = (maker->tight_cpu ? 4 : NODE_CORES) * 1000;
    room->gib = NODE_GIB;
    set_int(node, "cpuCores", maker->tight_cpu ? 4 : NODE_CORES);
    if (one_in(maker, 5))
        set_int(node, "gpuMemoryMib", room->mib = DEVICE_MIB * 2);
    if (one_in(maker, 12))
        set_int(node, "gpus", room->gpus = 0);
    if (one_in(maker, 10))
        set_int(node, "maxPods", room->pods = 2 + below(maker, 3));
    if (maker->mig && one_in(maker, 2)) {
        json_object_set_new(node, "migStrategy", json_string("mixed"));
        json_object_set_new(node, "migInstances", json_pack("{s:i, s:i}", MIG, MIG_INSTANCES, BIG_MIG, 1));
        set_int(node, "gpus", room->gpus = 0);
        room->mig = MIG_INSTANCES;
    }
    if (maker->extended && one_in(maker, 2)) {
        json_object_set_new(node, "extended", json_pack("{s:i}", NIC, NICS));
        room->nics = NICS;
    }
    json_t *labels = json_object_get(node, "labels");
    json_object_set_new(labels, "rack", json_sprintf("r%u", below(maker, 3)));
    json_object_set_new(labels, "zone", json_sprintf("z%u", index % 2));
    json_object_set_new(labels, "generation", json_sprintf("%u", 1 + below(maker, 3)));
    if (one_in(maker, 10))
        json_object_del(labels, "rack");
    if (maker->rules && one_in(maker, 4))
        json_object_set_new(node, "taints",
                            json_pack("[{s:s, s:s, s:s}]", "key", "team", "value", "blue", "effect",
                                      one_in(maker, 3) ? "PreferNoSchedule" : "NoSchedule"));
    if (one_in(maker, 14))
        json_object_set_new(node, one_in(maker, 2) ? "ready" : "cordoned",
                            one_in(maker, 2) ? json_false() : json_true());
    json_array_append_new(nodes, node);
}

static void make_nodes(struct maker *maker)
{
    json_t *nodes = json_array();
    maker->node_count = 1 + below(maker, MOST_NODES);
    for (unsigned i = 0; i < maker->node_count; i++)
        make_node(maker, nodes, i);
    json_object_set_new(maker->document, "nodes", nodes);
    json_object_set_new(maker->document, "topologies",
                        json_pack("[{s:s, s:[s,s,s]}]", "name", "dc", "levels", "zone", "rack", "host"));
}

static json_t *random_share(struct maker *maker, unsigned most, unsigned unlimited_in)
{
    json_t *share = json_pack("{s:i, s:i}", "deserved", below(maker, most), "overQuotaWeight", below(maker, 4));
    if (one_in(maker, unlimited_in))
        json_object_set_new(share, "deserved", json_null());
    if (maker->limits && one_in(maker, 2))
        set_int(share, "limit", below(maker, most + 4));
    return share;
}

static json_t *random_resources(struct maker *maker, unsigned most)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < maker->pool_count; i++) {
        if (one_in(maker, 12))
            continue;
        json_t *item = json_pack("{s:s, s:i, s:o}", "nodePool", POOLS[i], "rank", 100 * (1 + one_in(maker, 4)), "gpu",
                                 random_share(maker, most, 8));
        if (one_in(maker, 5))
            json_object_set_new(item, "cpu", random_share(maker, 24, 3));
        if (one_in(maker, 10))
            json_object_set_new(
                item, "memory",
                json_pack("{s:I}", one_in(maker, 2) ? "deserved" : "limit", (json_int_t)below(maker, NODE_GIB) << 30));
        json_array_append_new(list, item);
    }
    return list;
}

static void add_usage(struct maker *maker, json_t *list, const char *kind, const char *prefix, unsigned index)
{
    if (one_in(maker, 3))
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:f, s:f}", "kind", kind, "name", named(prefix, index),
                                              "nodePool", POOLS[below(maker, maker->pool_count)], "gpu",
                                              0.05 * below(maker, 21), "cpu", 0.1 * below(maker, 5)));
}

static void make_queues(struct maker *maker)
{
    json_t *departments = json_array(), *projects = json_array(), *usage = json_array();
    maker->department_count = 1 + below(maker, 3);
    maker->project_count = 1 + below(maker, 5);
    bool with_usage = one_in(maker, 3);
    for (unsigned i = 0; i < maker->department_count; i++) {
        json_t *department = json_pack("{s:o, s:o, s:o}", "name", named("d", i), "createdAt",
                                       clock_text(below(maker, 3)), "resources", random_resources(maker, 16));
        set_min_times(maker, department);
        json_array_append_new(departments, department);
        if (with_usage)
            add_usage(maker, usage, "department", "d", i);
    }
    for (unsigned i = 0; i < maker->project_count; i++) {
        json_t *project = json_pack("{s:o, s:o, s:o, s:o}", "name", named("p", i), "department",
                                    named("d", below(maker, maker->department_count)), "createdAt",
                                    clock_text(below(maker, 3)), "resources", random_resources(maker, 8));
        set_min_times(maker, project);
        json_array_append_new(projects, project);
        if (with_usage)
            add_usage(maker, usage, "project", "p", i);
    }
    json_object_set_new(maker->document, "departments", departments);
    json_object_set_new(maker->document, "projects", projects);
    json_object_set_new(maker->document, "usage", usage);
}

static json_t *random_topology(struct maker *maker)
{
    static const char *const LEVELS[] = {"zone", "rack", "host"};
    unsigned required = below(maker, 3);
    json_t *topology = json_pack("{s:s}", "name", "dc");
    if (!one_in(maker, 3))
        json_object_set_new(topology, "required", json_string(LEVELS[required]));
    else
        required = 0;
    if (one_in(maker, 2))
        json_object_set_new(topology, "preferred", json_string(LEVELS[required + below(maker, 3 - required)]));
    return topology;
}

static void add_rules(struct maker *maker, json_t *pod)
{
    if (one_in(maker, 5))
        json_object_set_new(pod, "nodeSelector", json_pack("{s:[s,s]}", "rack", "r0", one_in(maker, 2) ? "r1" : "r2"));
    if (one_in(maker, 5))
        json_object_set_new(pod, "nodeAffinity",
                            json_pack("[{s:[{s:s, s:s, s:[s]}]}, {s:[{s:s, s:s, s:[s]}]}]", "matchExpressions", "key",
                                      "generation", "operator", one_in(maker, 2) ? "Gt" : "Lt", "values", "2",
                                      "matchExpressions", "key", "rack", "operator", "NotIn", "values", "r0"));
    if (one_in(maker, 6))
        json_object_set_new(pod, "nodeAffinity",
                            json_pack("[{s:[{s:s, s:s}]}]", "matchExpressions", "key", "rack", "operator",
                                      one_in(maker, 2) ? "Exists" : "DoesNotExist"));
    if (one_in(maker, 3))
        json_object_set_new(pod, "tolerations",
                            one_in(maker, 2) ? json_pack("[{s:s, s:s, s:s}]", "key", "team", "operator", "Equal",
                                                         "value", one_in(maker, 3) ? "red" : "blue")
                                             : json_pack("[{s:s}]", "operator", "Exists"));
}

static json_t *random_request(struct maker *maker)
{
    json_t *pod = json_object();
    json_object_set_new(pod, "cpuCores", json_real(0.1 * below(maker, maker->tight_cpu ? 20 : 10)));
    json_object_set_new(pod, "memoryBytes", json_integer((json_int_t)below(maker, 4) << 30));
    const unsigned kind = below(maker, 10);
    if (kind == 0)
        ; // CPU alone
    else if (kind <= 2 && maker->fractions)
        json_object_set_new(pod, "gpuPortion", json_real((1 + below(maker, 9)) / 10.0));
    else if (kind == 3 && maker->memory_amounts)
        set_int(pod, "gpuMemoryMib", 1000 * (1 + below(maker, 16)));
    else if (kind == 4 && maker->mig)
        json_object_set_new(pod, "migInstances", json_pack("{s:i}", one_in(maker, 4) ? BIG_MIG : MIG, 1));
    else
        set_int(pod, "gpuDevices", 1 + (maker->small_pods || one_in(maker, 2) ? 0 : below(maker, 4)));
    if (kind <= 3 && json_object_get(pod, "gpuPortion") && one_in(maker, 5))
        set_int(pod, "gpuDevices", 2);
    if (maker->extended && one_in(maker, 4))
        json_object_set_new(pod, "extended", json_pack("{s:i}", NIC, 1));
    if (maker->rules)
        add_rules(maker, pod);
    return pod;
}

static bool start_devices(struct room *room, json_t *pod)
{
    const json_t *portion = json_object_get(pod, "gpuPortion"), *memory = json_object_get(pod, "gpuMemoryMib");
    const unsigned devices = (unsigned)json_integer_value(json_object_get(pod, "gpuDevices"));
    if (!portion && !memory) {
        if (room->gpus < devices)
            return false;
        room->gpus -= devices;
        return true;
    }
    // On a node with larger devices a group stays a little emptier than it could be.
    const unsigned mib = memory ? (unsigned)json_integer_value(memory)
                                : (unsigned)(json_real_value(portion) * room->mib + room->mib / 100.0);
    const unsigned wanted = devices ? devices : 1;
    const bool joins = wanted == 1 && room->open_mib >= mib;
    if (mib > room->mib || (!joins && room->gpus < wanted))
        return false;
    json_t *groups = json_array();
    for (unsigned i = 0; i < wanted; i++) {
        room->open_group += !joins;
        json_array_append_new(groups, json_sprintf("%u", room->open_group));
    }
    room->gpus -= joins ? 0 : wanted;
    room->open_mib = wanted > 1 ? 0 : (joins ? room->open_mib : room->mib) - mib;
    json_object_set_new(pod, "gpuGroups", groups);
    return true;
}

// Lets the pod stand on the node if there is room for it.
static bool start_pod(struct maker *maker, json_t *pod, unsigned index)
{
    static const char *const STATUSES[] = {"Binding", "Bound", "Releasing", "StuckInReleasing"};
    struct room *room = &maker->rooms[index];
    const int64_t cpu_milli = (int64_t)(json_real_value(json_object_get(pod, "cpuCores")) * 1000 + 1);
    const int64_t gib = json_integer_value(json_object_get(pod, "memoryBytes")) >> 30;
    const json_t *mig = json_object_get(pod, "migInstances");
    const bool has_nic = json_object_get(pod, "extended") != NULL, has_mig = json_object_get(mig, MIG) != NULL;
    // A group that a shared pod opens takes a slot of its own where slots are counted.
    if (json_object_get(mig, BIG_MIG) || room->cpu_milli < cpu_milli || room->gib < gib || room->pods < 2 ||
        room->mig < has_mig || room->nics < has_nic || !start_devices(room, pod))
        return false;
    room->cpu_milli -= cpu_milli;
    room->gib -= gib;
    room->pods -= 2;
    room->mig -= has_mig;
    room->nics -= has_nic;
    json_object_set_new(pod, "node", json_sprintf("node%u", index));
    json_object_set_new(pod, "status", json_string(one_in(maker, 8) ? STATUSES[below(maker, 4)] : "Running"));
    json_object_set_new(pod, "startedAt", clock_text(below(maker, 60)));
    return true;
}

// As many pods as find room in the workload's first pool; a gang that finds too little waits whole.
static void start_workload(struct maker *maker, json_t *pods, unsigned pool, unsigned minimum)
{
    struct room before[MOST_NODES];
    memcpy(before, maker->rooms, sizeof before);
    json_t *waiting = json_deep_copy(pods);
    unsigned started = 0;
    for (size_t i = 0; i < json_array_size(pods); i++) {
        const unsigned first = below(maker, maker->node_count);
        for (unsigned n = 0; n < maker->node_count; n++) {
            const unsigned node = (first + n) % maker->node_count;
            if (maker->rooms[node].pool == pool && start_pod(maker, json_array_get(pods, i), node)) {
                started++;
                break;
            }
        }
    }
    if (started < minimum && !(maker->stale && one_in(maker, 2))) {
        memcpy(maker->rooms, before, sizeof before);
        json_array_clear(pods);
        json_array_extend(pods, waiting);
    }
    json_decref(waiting);
}

// Two or three leaves, or a tree of two sets with two leaves each. Returns how many leaves, named a, b, ...
static unsigned make_sub_groups(struct maker *maker, json_t *workload)
{
    static const char *const LEAVES[] = {"a", "b", "c", "d"}, *const SETS[] = {"x", "y"};
    const bool nested = one_in(maker, 3);
    const unsigned leaves = nested ? 4 : 2 + below(maker, 2);
    json_t *groups = json_array();
    for (unsigned i = 0; i < leaves; i++) {
        json_t *leaf =
            json_pack("{s:s, s:i}", "name", LEAVES[i], "minPods", one_in(maker, 6) ? 0 : 1 + one_in(maker, 3));
        if (nested)
            json_object_set_new(leaf, "parent", json_string(SETS[i / 2]));
        if (maker->topology && one_in(maker, 4))
            json_object_set_new(leaf, "topology", random_topology(maker));
        json_array_append_new(groups, leaf);
    }
    for (unsigned i = 0; nested && i < 2; i++) {
        json_t *set = json_pack("{s:s}", "name", SETS[i]);
        if (one_in(maker, 3))
            set_int(set, "minSubGroups", 1);
        if (maker->topology && one_in(maker, 4))
            json_object_set_new(set, "topology", random_topology(maker));
        json_array_append_new(groups, set);
    }
    json_object_set_new(workload, "subGroups", groups);
    if (one_in(maker, 3))
        set_int(workload, "minSubGroups", below(maker, 3));
    return leaves;
}

static json_t *make_pods(struct maker *maker, unsigned workload, unsigned leaves)
{
    static const char *const LEAVES[] = {"a", "b", "c", "d"}, *const IDLE[] = {"Gated", "Succeeded", "Failed"};
    static const char *const ROLES[] = {"master", "launcher", "head"};
    const unsigned count = leaves > 0 ? leaves + below(maker, 3) : one_in(maker, 2) ? 1 : 1 + below(maker, MOST_PODS);
    json_t *pods = json_array(), *request = random_request(maker);
    for (unsigned i = 0; i < count; i++) {
        if (one_in(maker, 8)) {
            json_decref(request);
            request = random_request(maker);
        }
        json_t *pod = json_deep_copy(request);
        json_object_set_new(pod, "name", json_sprintf("w%02u-%u", workload, i));
        if (leaves > 0)
            json_object_set_new(pod, "subGroup", json_string(LEAVES[i % leaves]));
        if (one_in(maker, 12))
            json_object_set_new(pod, "priority", json_integer((json_int_t)below(maker, 3) - 1));
        if (one_in(maker, 16))
            json_object_set_new(pod, "role", json_string(ROLES[below(maker, 3)]));
        if (maker->statuses && one_in(maker, 16))
            json_object_set_new(pod, "status", json_string(IDLE[below(maker, 3)]));
        json_array_append_new(pods, pod);
    }
    json_decref(request);
    return pods;
}

static void add_times(struct maker *maker, json_t *workload)
{
    if (maker->deleting && one_in(maker, 6))
        json_object_set_new(workload, "deleting", json_true());
    if (maker->stale && one_in(maker, 3))
        set_int(workload, "staleSeconds", 30 * below(maker, 5));
    if (maker->stale && one_in(maker, 4))
        set_int(workload, "stalenessGraceSeconds", 60 * below(maker, 3));
    if (maker->delays && one_in(maker, 3))
        set_int(workload, "preemptionDelaySeconds", 600 * below(maker, 8));
    if (maker->delays && one_in(maker, 3))
        json_object_set_new(workload, "lastEvictionAt", clock_text(below(maker, 60)));
}

static void make_workload(struct maker *maker, json_t *workloads, unsigned index)
{
    static const int PRIORITIES[] = {50, 50, 75, 100, 125};
    const unsigned pool = below(maker, maker->pool_count);
    json_t *workload =
        json_pack("{s:o, s:o, s:o, s:i, s:[s]}", "name", named("w", index), "project",
                  named("p", below(maker, maker->project_count)), "createdAt", clock_text(below(maker, 5)), "priority",
                  PRIORITIES[below(maker, 5)], "nodePools", POOLS[pool]);
    for (unsigned i = 1; i < maker->pool_count && one_in(maker, 2); i++)
        json_array_append_new(json_object_get(workload, "nodePools"),
                              json_string(POOLS[(pool + i) % maker->pool_count]));
    if (one_in(maker, 3))
        json_object_set_new(workload, "preemptibility",
                            json_string(one_in(maker, 3) ? "non-preemptible" : "preemptible"));
    const unsigned leaves = maker->sub_groups && one_in(maker, 3) ? make_sub_groups(maker, workload) : 0;
    if (maker->topology && one_in(maker, 3))
        json_object_set_new(workload, "topology", random_topology(maker));
    if (maker->pod_affinity && one_in(maker, 4))
        json_object_set_new(workload, "podAffinity",
                            json_pack("{s:s, s:s}", "type", one_in(maker, 2) ? "required" : "preferred", "key",
                                      one_in(maker, 2) ? "rack" : "host"));
    json_t *pods = make_pods(maker, index, leaves);
    unsigned minimum = (unsigned)json_array_size(pods);
    if (leaves == 0 && maker->elastic && one_in(maker, 2))
        set_int(workload, "minPods", minimum = 1 + below(maker, minimum));
    add_times(maker, workload);
    if (!one_in(maker, 3))
        start_workload(maker, pods, pool, minimum);
    else if (maker->promised && one_in(maker, 3))
        set_int(workload, "promise", maker->promises++);
    json_object_set_new(workload, "pods", pods);
    json_array_append_new(workloads, workload);
}

json_t *rich_document(struct document_dice *dice)
{
    struct maker maker = {.dice = dice};
    maker.document = json_pack("{s:i, s:s}", "version", 1, "now", "2026-01-01T12:00:00Z");
    choose_features(&maker);
    make_settings(&maker);
    make_pools(&maker);
    make_nodes(&maker);
    make_queues(&maker);
    json_t *workloads = json_array();
    for (unsigned i = 0, count = 1 + below(&maker, 24); i < count; i++)
        make_workload(&maker, workloads, i);
    json_object_set_new(maker.document, "workloads", workloads);
    return maker.document;
}
