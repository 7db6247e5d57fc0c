// Bad snapshots and the message each gets: a base document that is good, one value in it replaced.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "tests/support/check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char GOOD[] =
    "{'version': 1, 'now': '2026-01-01T12:00:00Z',"
    " 'actions': ['allocate', 'reclaim'],"
    " 'settings': {'stalenessGraceSeconds': 60, 'maxConsolidationVictims': 16, 'depthPerAction': {'allocate': 3}},"
    " 'nodePools': [{'name': 'default'}, {'name': 'big', 'placementStrategy': {'gpu': 'spread'}}],"
    " 'nodes': [{'name': 'node0', 'nodePool': 'default', 'gpus': 4, 'gpuMemoryMib': 81920, 'cpuCores': 64,"
    "            'memoryBytes': 1000000000, 'labels': {'rack': 'r1'}, 'taints': [{'key': 'k'}],"
    "            'migStrategy': 'none', 'migInstances': {}, 'extended': {}},"
    "           {'name': 'node1', 'nodePool': 'big'}],"
    " 'topologies': [{'name': 'dc', 'levels': ['zone', 'rack']}],"
    " 'departments': [{'name': 'd', 'resources': [{'nodePool': 'default', 'rank': 1, 'gpu': {'deserved': 1}}]}],"
    " 'projects': [{'name': 'p', 'department': 'd', 'resources': []}],"
    " 'workloads': [{'name': 'w', 'project': 'p', 'nodePools': ['default'],"
    "                'subGroups': [{'name': 's'}, {'name': 'leaf', 'parent': 's'}], 'topology': {'name': 'dc', "
    "'required': 'rack'},"
    "                'pods': [{'name': 'w-0', 'subGroup': 'leaf', 'gpuDevices': 1, 'status': 'Running', 'node': "
    "'node0',"
    "                          'nodeSelector': {}, 'tolerations': [{'key': 'k'}], 'nodeAffinity': []},"
    "                         {'name': 'w-1', 'subGroup': 'leaf'}]},"
    "               {'name': 'x', 'project': 'p', 'pods': [{'name': 'x-0'}]}],"
    " 'usage': [{'kind': 'project', 'name': 'p', 'nodePool': 'default', 'gpu': 0.5}]}";

struct bad_case {
    const char *path;  // keys and indices, separated by '/'; "" is the whole document
    const char *value; // JSON with ' for "; NULL: the key is removed
    const char *want_message;
};

// clang-format off
static const struct bad_case CASES[] = {
    // the document
    {"", "[]", "an object, got a list"},
    {"", "7", "an object, got 7"},
    {"colour", "1", "colour: unknown key"},
    {"a b", "1", "[\"a b\"]: unknown key"},
    {"", "{}", "version: missing"},
    {"version", NULL, "version: missing"},
    {"version", "2", "version: at most 1, got 2"},
    {"version", "'1'", "version: a whole number, got \"1\""},
    {"version", "true", "version: a whole number, got true"},
    {"now", NULL, "now: missing"},
    {"now", "1767268800", "now: a time, got 1767268800"},
    {"now", "'noon'", "now: a time like 2026-01-01T12:00:00Z, got \"noon\""},
    {"now", "'2026-02-30T12:00:00Z'", "now: a time like 2026-01-01T12:00:00Z, got \"2026-02-30T12:00:00Z\""},
    {"actions", "'allocate'", "actions: a list, got \"allocate\""},
    {"actions/1", "'bind'", "actions[1]: allocate, consolidation, reclaim, preempt or stalegangeviction, got \"bind\""},
    {"actions/1", "'allocate'", "actions[1]: duplicate action \"allocate\""},
    // settings
    {"settings", "[]", "settings: an object, got a list"},
    {"settings/colour", "1", "settings.colour: unknown key"},
    {"settings/stalenessGraceSeconds", "'60'", "settings.stalenessGraceSeconds: a number, got \"60\""},
    {"settings/stalenessGraceSeconds", "null", "settings.stalenessGraceSeconds: may not be null"},
    {"settings/stalenessGraceSeconds", "1e300", "settings.stalenessGraceSeconds: at most 10000000000, got 1e+300"},
    {"settings/maxConsolidationVictims", "-1", "settings.maxConsolidationVictims: at least 0, got -1"},
    {"settings/maxConsolidationVictims", "1.5", "settings.maxConsolidationVictims: a whole number, got 1.5"},
    {"settings/fullHierarchyFairness", "1", "settings.fullHierarchyFairness: true or false, got 1"},
    {"settings/depthPerAction/allocate", "-3", "settings.depthPerAction.allocate: at least 0, got -3"},
    {"settings/depthPerAction/bind", "3", "settings.depthPerAction.bind: unknown key"},
    {"settings/reclaimSaturationMultiplier", "0.5", "settings.reclaimSaturationMultiplier: at least 1, got 0.5"},
    {"settings/reclaimMinRuntimeMethod", "'x'", "settings.reclaimMinRuntimeMethod: lca or queue, got \"x\""},
    // node pools
    {"nodePools", "{}", "nodePools: a list, got an object"},
    {"nodePools/0", "'default'", "nodePools[0]: an object, got \"default\""},
    {"nodePools/0/name", NULL, "nodePools[0].name: missing"},
    {"nodePools/0/name", "''", "nodePools[0].name: may not be empty"},
    {"nodePools/0/name", "null", "nodePools[0].name: may not be null"},
    {"nodePools/1/name", "'default'", "nodePools[1].name: duplicate name \"default\""},
    {"nodePools/1/placementStrategy/gpu", "'pack'", "nodePools[1].placementStrategy.gpu: binpack, spread or fragmentation, got \"pack\""},
    {"nodePools/1/placementStrategy/disk", "'pack'", "nodePools[1].placementStrategy.disk: unknown key"},
    {"nodePools/0/preemptMinRuntimeSeconds", "-1", "nodePools[0].preemptMinRuntimeSeconds: at least 0, got -1"},
    {"nodePools/0/topology", "1", "nodePools[0].topology: text, got 1"},
    {"nodePools/0/topology", "'az'", "nodePools[0].topology: no topology \"az\""},
    {"nodePools/0/timeBasedFairshare", "1", "nodePools[0].timeBasedFairshare: an object, got 1"},
    {"nodePools/0/timeBasedFairshare", "{'kValue': -1}", "nodePools[0].timeBasedFairshare.kValue: at least 0, got -1"},
    // nodes
    {"nodes/0/name", "7", "nodes[0].name: text, got 7"},
    {"nodes/1/name", "'node0'", "nodes[1].name: duplicate name \"node0\""},
    {"nodes/0/nodePool", NULL, "nodes[0].nodePool: missing"},
    {"nodes/0/nodePool", "'small'", "nodes[0].nodePool: no node pool \"small\""},
    {"nodes/0/nodePool", "7", "nodes[0].nodePool: a name, got 7"},
    {"nodes/0/gpu", "4", "nodes[0].gpu: unknown key"},
    {"nodes/0/gpus", "-1", "nodes[0].gpus: at least 0, got -1"},
    {"nodes/0/gpus", "0.5", "nodes[0].gpus: a whole number, got 0.5"},
    {"nodes/0/gpus", "65536", "nodes[0].gpus: at most 65535, got 65536"},
    {"nodes/0/gpuMemoryMib", "-80", "nodes[0].gpuMemoryMib: at least 0, got -80"},
    {"nodes/0/gpuType", "7", "nodes[0].gpuType: text, got 7"},
    {"nodes/0/cpuCores", "-0.5", "nodes[0].cpuCores: at least 0, got -0.5"},
    {"nodes/0/cpuCores", "'64'", "nodes[0].cpuCores: a number, got \"64\""},
    {"nodes/0/memoryBytes", "1.5", "nodes[0].memoryBytes: a whole number, got 1.5"},
    {"nodes/0/memoryBytes", "9007199254740993", "nodes[0].memoryBytes: at most 9007199254740992, got 9007199254740993"},
    {"nodes/0/maxPods", "-1", "nodes[0].maxPods: at least 0, got -1"},
    {"nodes/0/migStrategy", "'double'", "nodes[0].migStrategy: none, single or mixed, got \"double\""},
    {"nodes/0/migInstances", "[]", "nodes[0].migInstances: an object, got a list"},
    {"nodes/0/migInstances", "{'nvidia.com/mig-1g.10gb': -7}", "nodes[0].migInstances[\"nvidia.com/mig-1g.10gb\"]: at least 0, got -7"},
    {"nodes/0/migInstances", "{'nvidia.com/gpu': 7}", "nodes[0].migInstances[\"nvidia.com/gpu\"]: a MIG profile is named like nvidia.com/mig-1g.10gb"},
    {"nodes/0/extended", "{'nvidia.com/mig-1g.10gb': 7}", "nodes[0].extended[\"nvidia.com/mig-1g.10gb\"]: MIG profiles stand in migInstances"},
    {"nodes/0/extended", "{'nic': 0.5}", "nodes[0].extended.nic: a whole number, got 0.5"},
    {"nodes/0/labels", "['rack']", "nodes[0].labels: an object, got a list"},
    {"nodes/0/labels/rack", "1", "nodes[0].labels.rack: text, got 1"},
    {"nodes/0/taints/0/key", NULL, "nodes[0].taints[0].key: missing"},
    {"nodes/0/taints/0/effect", "'Never'", "nodes[0].taints[0].effect: NoSchedule, PreferNoSchedule or NoExecute, got \"Never\""},
    {"nodes/0/ready", "'yes'", "nodes[0].ready: true or false, got \"yes\""},
    {"nodes/0/cordoned", "0", "nodes[0].cordoned: true or false, got 0"},
    // topologies
    {"topologies/0/name", NULL, "topologies[0].name: missing"},
    {"topologies/0/levels", "'zone'", "topologies[0].levels: a list, got \"zone\""},
    {"topologies/0/levels/1", "7", "topologies[0].levels[1]: text, got 7"},
    {"topologies/0/levels/1", "'zone'", "topologies[0].levels[1]: duplicate level \"zone\""},
    // queues
    {"departments/0/name", NULL, "departments[0].name: missing"},
    {"departments/0/createdAt", "0", "departments[0].createdAt: a time, got 0"},
    {"departments/0/resources/0/nodePool", "'small'", "departments[0].resources[0].nodePool: no node pool \"small\""},
    {"departments/0/resources", "[{'nodePool': 'big'}, {'nodePool': 'big'}]", "departments[0].resources[1]: duplicate: node pool \"big\""},
    {"departments/0/resources/0/rank", "1.5", "departments[0].resources[0].rank: a whole number, got 1.5"},
    {"departments/0/resources/0/gpu/deserved", "-1", "departments[0].resources[0].gpu.deserved: at least 0, got -1"},
    {"departments/0/resources/0/gpu/deserved", "0.0001", "departments[0].resources[0].gpu.deserved: steps of 0.001, got 0.0001"},
    {"departments/0/resources/0/gpu/limit", "'none'", "departments[0].resources[0].gpu.limit: a number, got \"none\""},
    {"departments/0/resources/0/gpu/overQuotaWeight", "-1", "departments[0].resources[0].gpu.overQuotaWeight: at least 0, got -1"},
    {"departments/0/resources/0/gpu/weight", "1", "departments[0].resources[0].gpu.weight: unknown key"},
    {"departments/0/resources/0/cpu", "7", "departments[0].resources[0].cpu: an object, got 7"},
    {"departments/0/resources/0/memory", "{'limit': 0.5}", "departments[0].resources[0].memory.limit: a whole number, got 0.5"},
    {"projects/0/department", NULL, "projects[0].department: missing"},
    {"projects/0/department", "'e'", "projects[0].department: no department \"e\""},
    {"projects/0/reclaimMinRuntimeSeconds", "-60", "projects[0].reclaimMinRuntimeSeconds: at least 0, got -60"},
    // usage
    {"usage/0/kind", "'team'", "usage[0].kind: project or department, got \"team\""},
    {"usage/0/name", "'q'", "usage[0].name: no project \"q\""},
    {"usage/0/gpu", "-0.1", "usage[0].gpu: at least 0, got -0.1"},
    {"usage", "[{'name': 'p', 'nodePool': 'big'}, {'name': 'p', 'nodePool': 'big'}]", "usage[1]: duplicate: the usage of this queue in this node pool"},
    {"projects/0/maxGpusPerPerson", "-1", "projects[0].maxGpusPerPerson: at least 0, got -1"},
    {"projects/0/maxWorkloadsPerPerson", "0.5", "projects[0].maxWorkloadsPerPerson: a whole number, got 0.5"},
    {"projects/0/fairAmongPeople", "1", "projects[0].fairAmongPeople: true or false, got 1"},
    {"people", "[{'project': 'q', 'name': 'ann'}]", "people[0].project: no project \"q\""},
    {"people", "[{'project': 'p', 'name': ''}]", "people[0].name: may not be empty"},
    {"people", "[{'project': 'p', 'name': 'ann', 'gpuHours': -1}]", "people[0].gpuHours: at least 0, got -1"},
    {"people", "[{'project': 'p', 'name': 'ann'}, {'project': 'p', 'name': 'ann'}]", "people: duplicate: \"ann\" of project \"p\""},
    // workloads
    {"workloads/0/name", NULL, "workloads[0].name: missing"},
    {"workloads/1/name", "'w'", "workloads[1].name: duplicate name \"w\""},
    {"workloads/0/project", NULL, "workloads[0].project: missing"},
    {"workloads/0/project", "'q'", "workloads[0].project: no project \"q\""},
    {"workloads/0/pods", NULL, "workloads[0].pods: missing"},
    {"workloads/0/pods", "null", "workloads[0].pods: a list, got null"},
    {"workloads/0/priority", "'high'", "workloads[0].priority: a whole number, got \"high\""},
    {"workloads/0/preemptibility", "'semi'", "workloads[0].preemptibility: preemptible or non-preemptible, got \"semi\""},
    {"workloads/0/minPods", "-1", "workloads[0].minPods: at least 0, got -1"},
    {"workloads/0/nodePools", "[]", "workloads[0].nodePools: at least one node pool"},
    {"workloads/0/nodePools", "['small']", "workloads[0].nodePools[0]: no node pool \"small\""},
    {"workloads/0/nodePools", "['big', 'big']", "workloads[0].nodePools[1]: duplicate: node pool \"big\""},
    {"workloads/0/nodePools", "'big'", "workloads[0].nodePools: a list, got \"big\""},
    {"workloads/0/preemptionDelaySeconds", "-1", "workloads[0].preemptionDelaySeconds: at least 0, got -1"},
    {"workloads/0/staleSeconds", "-1", "workloads[0].staleSeconds: at least 0, got -1"},
    {"workloads/0/promise", "-1", "workloads[0].promise: at least 0, got -1"},
    {"workloads/0/deleting", "null", "workloads[0].deleting: may not be null"},
    {"workloads/0/topology/name", "'az'", "workloads[0].topology.name: no topology \"az\""},
    {"workloads/0/topology/required", "null", "workloads[0].topology: workload \"w\": names neither a required nor a preferred level"},
    {"workloads/0/topology/required", "'block'", "workloads[0].topology.required: no level \"block\" in topology \"dc\""},
    {"workloads/0/topology/preferred", "1", "workloads[0].topology.preferred: the name of a level, got 1"},
    {"workloads/0/podAffinity", "{'type': 'some', 'key': 'rack'}", "workloads[0].podAffinity.type: required or preferred, got \"some\""},
    // sub-groups
    {"workloads/0/subGroups/1/name", "'s'", "workloads[0].subGroups[1].name: duplicate name \"s\""},
    {"workloads/0/subGroups/1/parent", "'t'", "workloads[0].subGroups[1].parent: no sub-group \"t\""},
    {"workloads/0/subGroups/0/parent", "'leaf'", "workloads[0].subGroups[1]: more than 16 levels of sub-groups, or its own ancestor"},
    {"workloads/0/subGroups/0/minPods", "1", "workloads[0].subGroups[0].minPods: a sub-group with sub-groups of its own has minSubGroups"},
    {"workloads/0/subGroups/1/minSubGroups", "1", "workloads[0].subGroups[1].minSubGroups: a sub-group without sub-groups of its own has minPods"},
    {"workloads/0/subGroups/1/topology", "{'name': 'dc'}", "workloads[0].subGroups[1].topology: sub-group \"leaf\": names neither a required nor a preferred level"},
    {"workloads/0/subGroups/1/topology", "{'name': 'dc', 'required': 'x'}", "workloads[0].subGroups[1].topology.required: no level \"x\" in topology \"dc\""},
    // pods
    {"workloads/0/pods/0/name", NULL, "workloads[0].pods[0].name: missing"},
    {"workloads/0/pods/1/name", "'w-0'", "workloads[0].pods[1].name: duplicate name \"w-0\""},
    {"workloads/1/pods/0/name", "'w-0'", "workloads[1].pods[0].name: duplicate name \"w-0\""},
    {"workloads/0/pods/0/gpu", "1", "workloads[0].pods[0].gpu: unknown key"},
    {"workloads/0/pods/0/subGroup", "null", "workloads[0].pods[0].subGroup: missing, and the workload has sub-groups"},
    {"workloads/0/pods/0/subGroup", "'t'", "workloads[0].pods[0].subGroup: no sub-group \"t\""},
    {"workloads/0/pods/0/subGroup", "'s'", "workloads[0].pods[0].subGroup: \"s\" has sub-groups of its own and holds no pods"},
    {"workloads/1/pods/0/subGroup", "'s'", "workloads[1].pods[0].subGroup: no sub-group \"s\""},
    {"workloads/0/pods/0/role", "'worker'", "workloads[0].pods[0].role: master, launcher or head, got \"worker\""},
    {"workloads/0/pods/0/gpuDevices", "-1", "workloads[0].pods[0].gpuDevices: at least 0, got -1"},
    {"workloads/0/pods/0/gpuDevices", "0.5", "workloads[0].pods[0].gpuDevices: a whole number, got 0.5"},
    {"workloads/0/pods/0/gpuPortion", "0.125", "workloads[0].pods[0].gpuPortion: steps of 0.01, got 0.125"},
    {"workloads/0/pods/0/gpuPortion", "1", "workloads[0].pods[0].gpuPortion: at most 0.99, got 1"},
    {"workloads/0/pods/0/gpuPortion", "-0.5", "workloads[0].pods[0].gpuPortion: at least 0, got -0.5"},
    {"workloads/0/pods/0/gpuMemoryMib", "0.5", "workloads[0].pods[0].gpuMemoryMib: a whole number, got 0.5"},
    {"workloads/1/pods/0", "{'name': 'a', 'gpuPortion': 0.5, 'gpuMemoryMib': 5}", "workloads[1].pods[0].gpuMemoryMib: gpuPortion or gpuMemoryMib, not both"},
    {"workloads/1/pods/0", "{'name': 'a', 'gpuPortion': 0.5, 'gpuDevices': 0}", "workloads[1].pods[0].gpuDevices: at least 1 where a part of a device is asked for, got 0"},
    {"workloads/0/pods/0/migInstances", "{'nvidia.com/mig-1g.10gb': 1}", "workloads[0].pods[0].migInstances: MIG instances or devices, not both"},
    {"workloads/0/pods/0/cpuCores", "-1", "workloads[0].pods[0].cpuCores: at least 0, got -1"},
    {"workloads/0/pods/0/memoryBytes", "-1", "workloads[0].pods[0].memoryBytes: at least 0, got -1"},
    {"workloads/0/pods/0/extended", "{'nic': -1}", "workloads[0].pods[0].extended.nic: at least 0, got -1"},
    {"workloads/0/pods/0/nodeSelector", "{'rack': 'r1'}", "workloads[0].pods[0].nodeSelector.rack: a list, got \"r1\""},
    {"workloads/0/pods/0/nodeSelector", "{'rack': []}", "workloads[0].pods[0].nodeSelector.rack: at least one value"},
    {"workloads/0/pods/0/nodeSelector", "{'rack': [1]}", "workloads[0].pods[0].nodeSelector.rack[0]: text, got 1"},
    {"workloads/0/pods/0/nodeAffinity", "[{'matchExpressions': []}]", "workloads[0].pods[0].nodeAffinity[0].matchExpressions: at least one expression"},
    {"workloads/0/pods/0/nodeAffinity", "[{'matchExpressions': [{'key': 'k', 'operator': 'Is'}]}]", "workloads[0].pods[0].nodeAffinity[0].matchExpressions[0].operator: In, NotIn, Exists, DoesNotExist, Gt or Lt, got \"Is\""},
    {"workloads/0/pods/0/nodeAffinity", "[{'matchExpressions': [{'key': 'k', 'operator': 'Gt', 'values': ['x']}]}]", "workloads[0].pods[0].nodeAffinity[0].matchExpressions[0].values: one whole number, as text"},
    {"workloads/0/pods/0/tolerations/0/operator", "'In'", "workloads[0].pods[0].tolerations[0].operator: Equal or Exists, got \"In\""},
    {"workloads/0/pods/0/tolerations/0/key", NULL, "workloads[0].pods[0].tolerations[0]: without a key the operator is Exists"},
    {"workloads/0/pods/0/status", "'running'", "workloads[0].pods[0].status: Pending, Gated, Pipelined, Binding, Bound, Running, Releasing, StuckInReleasing, Succeeded or Failed, got \"running\""},
    {"workloads/0/pods/0/node", "'node9'", "workloads[0].pods[0].node: no node \"node9\""},
    {"workloads/0/pods/0/node", NULL, "workloads[0].pods[0].node: missing, and a pod that is Running holds a node"},
    {"workloads/0/pods/0/node", "0", "workloads[0].pods[0].node: a name, got 0"},
    {"workloads/0/pods/0/gpuGroups", "'0'", "workloads[0].pods[0].gpuGroups: a list, got \"0\""},
    {"workloads/0/pods/0/gpuGroups", "[0]", "workloads[0].pods[0].gpuGroups[0]: text, got 0"},
    {"workloads/1/pods/0", "{'name': 'a', 'status': 'Running', 'node': 'node0', 'gpuPortion': 0.5, 'gpuGroups': ['0', '1']}", "workloads[1].pods[0].gpuGroups: one group for each of 1 devices, got 2"},
    {"workloads/1/pods/0", "{'name': 'a', 'status': 'Running', 'node': 'node0', 'gpuPortion': 0.5, 'gpuDevices': 2, 'gpuGroups': ['0', '0']}", "workloads[1].pods[0].gpuGroups: duplicate: group \"0\""},
    {"workloads/0/pods/0/gpuIndices", "[0, 1]", "workloads[0].pods[0].gpuIndices: one index for each of 1 devices, got 2"},
    {"workloads/0/pods/0/gpuIndices", "[4]", "workloads[0].pods[0].gpuIndices: device 4 of a node with 4 devices"},
    {"workloads/1/pods/0", "{'name': 'a', 'status': 'Running', 'node': 'node0', 'gpuDevices': 2, 'gpuIndices': [1, 1]}", "workloads[1].pods[0].gpuIndices: duplicate: device 1"},
    {"workloads/0/pods/0/startedAt", "'then'", "workloads[0].pods[0].startedAt: a time like 2026-01-01T12:00:00Z, got \"then\""},
};
// clang-format on

static json_t *parse(const char *text)
{
    char *copy = memory_strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_error_t problem;
    json_t *value = json_loads(copy, JSON_DECODE_ANY, &problem);
    if (!value)
        fprintf(stderr, "%s: %s\n", text, problem.text);
    free(copy);
    return value;
}

// The document with what stands at path replaced or removed.
static json_t *edit(const char *path, const char *new_text)
{
    if (*path == '\0')
        return parse(new_text);
    json_t *document = parse(GOOD), *at = document;
    char *copy = memory_strdup(path), *rest, *key = strtok_r(copy, "/", &rest);
    for (char *next; (next = strtok_r(NULL, "/", &rest)); key = next) {
        json_t *inner = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
        if (!inner)
            json_object_set_new(at, key, inner = json_object());
        at = inner;
    }
    if (json_is_array(at))
        json_array_set_new(at, strtoul(key, NULL, 10), parse(new_text));
    else if (new_text)
        json_object_set_new(at, key, parse(new_text));
    else
        json_object_del(at, key);
    free(copy);
    return document;
}

static void check_bad(const struct bad_case *bad)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot = NULL;
    arena_init(&arena);
    json_t *document = edit(bad->path, bad->value);
    char *text = json_dumps(document, JSON_ENCODE_ANY);
    int rc = snapshot_read(text, strlen(text), &arena, &snapshot, &err);
    check_int(rc, -1, "%s = %s", bad->path, bad->value ? bad->value : "(removed)");
    check_int(err.code, ERROR_INVALID, "%s: code", bad->path);
    check_text(err.message, bad->want_message, "%s = %s", bad->path, bad->value ? bad->value : "(removed)");
    check_true(!snapshot, "%s: nothing is given", bad->path);
    free(text);
    json_decref(document);
    arena_done(&arena);
}

static void check_good(void)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot = NULL;
    arena_init(&arena);
    json_t *document = parse(GOOD);
    char *text = json_dumps(document, 0);
    check_int(snapshot_read(text, strlen(text), &arena, &snapshot, &err), 0, "the base document: %s", err.message);
    free(text);
    json_decref(document);
    check_text(snapshot->node_pools[0].name, "big", "node pools go by name");
    check_int(snapshot->nodes[0].node_pool, 1, "a node's pool");
    check_int(snapshot->nodes[1].max_pods, 110, "maxPods is 110 where nothing is said");
    check_int((int64_t)snapshot->action_count, 2, "actions as the document says");
    check_int(snapshot->settings.depth[ACTION_ALLOCATE], 3, "the depth of one action");
    check_int(snapshot->settings.depth[ACTION_RECLAIM], SNAPSHOT_COUNT_UNLIMITED, "no bound on the others");
    check_int(snapshot->departments[0].queues[1].deserved.of[RESOURCE_GPU], 1000, "a deserved GPU");
    check_int(snapshot->departments[0].queues[0].deserved.of[RESOURCE_GPU], 0, "none in a pool that is not named");
    check_int(snapshot->departments[0].queues[0].deserved.of[RESOURCE_CPU], QUANTITY_UNLIMITED, "but CPU");
    check_int(snapshot->projects[0].queues[1].usage_micro.of[RESOURCE_GPU], 500000, "usage");
    check_int(snapshot->workloads[0].min_pods, 2, "the gang is every pod where nothing is said");
    check_int(snapshot->workloads[0].preemptible, 1, "preemptible below priority 100");
    check_int(snapshot->workloads[1].created_ms, snapshot->now_ms, "created now where nothing is said");
    check_int(snapshot->pods[0].sub_group, 0, "sub-groups go by name");
    check_int(snapshot->pods[2].workload, 1, "pods stand workload by workload");
    arena_done(&arena);
}

int main(void)
{
    check_good();
    for (size_t i = 0; i < COUNT(CASES); i++)
        check_bad(&CASES[i]);
    return check_finish();
}
