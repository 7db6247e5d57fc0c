#include "tests/support/rich_maker.h"

#include <string.h>

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
    else if (!json_object_get(topology, "required")) // a constraint has at least one of the two
        json_object_set_new(topology, "preferred", json_string(LEVELS[2]));
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
    unsigned kind = below(maker, 10);
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
    unsigned devices = (unsigned)json_integer_value(json_object_get(pod, "gpuDevices"));
    if (!portion && !memory) {
        if (room->gpus < devices)
            return false;
        room->gpus -= devices;
        return true;
    }
    // On a node with larger devices a group stays a little emptier than it could be.
    unsigned mib = memory ? (unsigned)json_integer_value(memory)
                          : (unsigned)(json_real_value(portion) * room->mib + room->mib / 100.0);
    unsigned wanted = devices ? devices : 1;
    bool joins = wanted == 1 && room->open_mib >= mib;
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
    int64_t cpu_milli = (int64_t)(json_real_value(json_object_get(pod, "cpuCores")) * 1000 + 1);
    int64_t gib = json_integer_value(json_object_get(pod, "memoryBytes")) >> 30;
    const json_t *mig = json_object_get(pod, "migInstances");
    bool has_nic = json_object_get(pod, "extended") != NULL, has_mig = json_object_get(mig, MIG) != NULL;
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
    memcpy(before, maker->rooms, sizeof(before));
    json_t *waiting = json_deep_copy(pods);
    unsigned started = 0;
    for (size_t i = 0; i < json_array_size(pods); i++) {
        unsigned first = below(maker, maker->node_count);
        for (unsigned n = 0; n < maker->node_count; n++) {
            unsigned node = (first + n) % maker->node_count;
            if (maker->rooms[node].pool == pool && start_pod(maker, json_array_get(pods, i), node)) {
                started++;
                break;
            }
        }
    }
    if (started < minimum && !(maker->stale && one_in(maker, 2))) {
        memcpy(maker->rooms, before, sizeof(before));
        json_array_clear(pods);
        json_array_extend(pods, waiting);
    }
    json_decref(waiting);
}

// Two or three leaves, or a tree of two sets with two leaves each. Returns how many leaves, named a, b, ...
static unsigned make_sub_groups(struct maker *maker, json_t *workload)
{
    static const char *const LEAVES[] = {"a", "b", "c", "d"}, *const SETS[] = {"x", "y"};
    bool nested = one_in(maker, 3);
    unsigned leaves = nested ? 4 : 2 + below(maker, 2);
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
    unsigned count = leaves > 0 ? leaves + below(maker, 3) : one_in(maker, 2) ? 1 : 1 + below(maker, MOST_PODS);
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
    if (one_in(maker, 6))
        set_int(workload, "maxRunSeconds", 900 * (1 + below(maker, 8)));
    if (maker->delays && one_in(maker, 3))
        set_int(workload, "preemptionDelaySeconds", 600 * below(maker, 8));
    if (maker->delays && one_in(maker, 4)) {
        set_int(workload, "displacedTimes", 1 + below(maker, 4));
        json_object_set_new(workload, "lastDisplacedAt", clock_text(below(maker, 60)));
    }
    if (maker->delays && one_in(maker, 3))
        json_object_set_new(workload, "lastEvictionAt", clock_text(below(maker, 60)));
}

void make_workload(struct maker *maker, json_t *workloads, unsigned index)
{
    static const int PRIORITIES[] = {50, 50, 75, 100, 125};
    unsigned pool = below(maker, maker->pool_count);
    json_t *workload =
        json_pack("{s:o, s:o, s:o, s:i, s:[s]}", "name", named("w", index), "project",
                  named("p", below(maker, maker->project_count)), "createdAt", clock_text(below(maker, 5)), "priority",
                  PRIORITIES[below(maker, 5)], "nodePools", RICH_POOLS[pool]);
    for (unsigned i = 1; i < maker->pool_count && one_in(maker, 2); i++)
        json_array_append_new(json_object_get(workload, "nodePools"),
                              json_string(RICH_POOLS[(pool + i) % maker->pool_count]));
    if (one_in(maker, 3))
        json_object_set_new(workload, "preemptibility",
                            json_string(one_in(maker, 3) ? "non-preemptible" : "preemptible"));
    unsigned leaves = maker->sub_groups && one_in(maker, 3) ? make_sub_groups(maker, workload) : 0;
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
