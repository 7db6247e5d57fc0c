// What a caller must see to in a snapshot (scheduler/snapshot.h): each row spoils a good one in one way, and the
// message says where.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

static const char SNAPSHOT[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],"
    "\"nodes\":[{\"name\":\"n0\",\"nodePool\":\"default\",\"gpus\":2,\"gpuMemoryMib\":1000,\"extended\":{\"e/x\":1}},"
    "{\"name\":\"n1\",\"nodePool\":\"default\"}],"
    "\"topologies\":[{\"name\":\"dc\",\"levels\":[\"rack\"]}],"
    "\"departments\":[{\"name\":\"d\"}],\"projects\":[{\"name\":\"p\",\"department\":\"d\"}],"
    "\"workloads\":["
    "{\"name\":\"a\",\"project\":\"p\",\"pods\":[{\"name\":\"a0\",\"gpuPortion\":0.5,\"status\":\"Running\",\"node\":"
    "\"n0\"},"
    "{\"name\":\"a1\",\"extended\":{\"e/x\":1}}]},"
    "{\"name\":\"b\",\"project\":\"p\",\"topology\":{\"name\":\"dc\",\"required\":\"rack\"},"
    "\"subGroups\":[{\"name\":\"s\"},{\"name\":\"t\",\"parent\":\"s\",\"minPods\":1},"
    "{\"name\":\"u\",\"parent\":\"s\",\"minPods\":1,\"topology\":{\"name\":\"dc\",\"preferred\":\"rack\"}}],"
    "\"pods\":[{\"name\":\"b0\",\"subGroup\":\"t\"}]}]}";

// Everything that a snapshot points to, to be written on.
struct spoiled {
    struct snapshot *snapshot;
    struct snapshot_node *nodes;
    struct snapshot_extended_amount *offers;
    struct snapshot_queue *department_queue, *project_queue;
    struct snapshot_project *project;
    struct snapshot_workload *workloads; // a, b
    struct snapshot_sub_group *groups;   // s, t, u
    struct snapshot_pod *pods;           // a0, a1, b0
    struct snapshot_extended_amount *asks;
};

static const uint32_t TWO[] = {2}, ONE_AND_ONE[] = {1, 1};

#define ROW(id, change)               \
    static void id(struct spoiled *s) \
    {                                 \
        change;                       \
    }
ROW(nothing, (void)s)
ROW(node_without_name, s->nodes[0].name = NULL)
ROW(nodes_out_of_order, s->nodes[0].name = "z")
ROW(node_in_no_pool, s->nodes[0].node_pool = 1)
ROW(negative_node_memory, s->nodes[0].memory_bytes = -1)
ROW(negative_node_cpu, s->nodes[1].cpu_milli = -1)
ROW(negative_gpu_memory, s->nodes[0].gpu_memory_mib = -1)
ROW(too_many_gpus, s->nodes[0].gpu_count = 65536)
ROW(no_such_gpu, (s->nodes[0].unhealthy_gpu_count = 1, s->nodes[0].unhealthy_gpus = TWO))
ROW(a_gpu_twice, (s->nodes[0].unhealthy_gpu_count = 2, s->nodes[0].unhealthy_gpus = ONE_AND_ONE))
ROW(unknown_offer, s->offers[0].resource = 9)
ROW(negative_offer, s->offers[0].count = -1)
ROW(negative_deserved, s->department_queue->deserved.of[RESOURCE_GPU] = -1)
ROW(negative_limit, s->project_queue->limit.of[RESOURCE_CPU] = -1)
ROW(negative_weight, s->project_queue->over_quota_weight_milli.of[RESOURCE_MEMORY] = -1)
ROW(negative_usage, s->project_queue->usage_micro.of[RESOURCE_GPU] = -1)
ROW(negative_bound, s->project->person_gpu_limit_milli = -1)
static const struct snapshot_person LESS_THAN_NOTHING[] = {{"ann", -1}}, OUT_OF_ORDER[] = {{"bob", 1}, {"ann", 1}};
ROW(negative_use, (s->project->people = LESS_THAN_NOTHING, s->project->person_count = 1))
ROW(people_out_of_order, (s->project->people = OUT_OF_ORDER, s->project->person_count = 2))
ROW(project_without_department, s->project->department = 1)
ROW(no_such_project, s->workloads[0].project = 1)
ROW(pods_beyond_the_end, s->workloads[1].pod_count = 2)
ROW(pods_that_begin_beyond, s->workloads[1].first_pod = 4)
ROW(no_such_pool, *(uint32_t *)s->workloads[0].node_pools = 1)
ROW(no_such_topology, s->workloads[1].topology.topology = 1)
ROW(no_such_level, s->workloads[1].topology.required = 1)
ROW(no_level, s->workloads[1].topology.required = SNAPSHOT_NONE)
ROW(no_such_preferred_level, s->groups[2].topology.preferred = 1)
ROW(no_such_parent, s->groups[1].parent = 3)
ROW(its_own_parent, s->groups[1].parent = 1)
ROW(groups_out_of_order, s->groups[2].name = "a")
ROW(pod_of_another, s->pods[0].workload = 1)
ROW(pod_in_a_set, s->pods[2].sub_group = 0)
ROW(pod_in_no_group, s->pods[2].sub_group = SNAPSHOT_NONE)
ROW(pod_in_an_unknown_group, s->pods[2].sub_group = 7)
ROW(group_where_there_is_none, s->pods[0].sub_group = 0)
ROW(negative_pod_memory, s->pods[0].memory_bytes = -1)
ROW(negative_pod_cpu, s->pods[0].cpu_milli = -1)
ROW(negative_amount, s->pods[0].gpu_memory_mib = -1)
ROW(negative_portion, s->pods[0].gpu_portion_milli = -10)
ROW(more_than_a_device, s->pods[0].gpu_portion_milli = 1010)
ROW(part_of_no_device, s->pods[0].gpu_devices = 0)
ROW(two_kinds_of_part, s->pods[0].gpu_memory_mib = 10)
ROW(runs_nowhere, s->pods[0].node = SNAPSHOT_NONE)
ROW(promised_nowhere, (s->pods[1].status = SNAPSHOT_POD_PIPELINED, s->pods[1].node = 2))
ROW(unknown_request, s->asks[0].resource = 9)
ROW(pods_out_of_order, s->pods[1].name = "a")
ROW(pods_that_do_not_follow, s->workloads[0].pod_count = 1)
ROW(pods_of_nobody, s->workloads[1].pod_count = 0)

static const struct {
    const char *name;
    void (*spoil)(struct spoiled *s);
    const char *want; // part of the message; "": it is good
} CASES[] = {
    {"a good one", nothing, ""},
    {"a node without a name", node_without_name, "node[0]: no name"},
    {"nodes out of order", nodes_out_of_order, "node[1]: n1 stands behind z"},
    {"a node in no pool", node_in_no_pool, "node n0: no such node pool"},
    {"a node with less than no memory", negative_node_memory, "node n0: an amount"},
    {"a node with less than no cores", negative_node_cpu, "node n1: an amount"},
    {"a device with less than no memory", negative_gpu_memory, "node n0: an amount"},
    {"more devices than a node may have", too_many_gpus, "node n0: an amount"},
    {"an unhealthy device that is not there", no_such_gpu, "node n0: unhealthy_gpus[0]"},
    {"an unhealthy device twice", a_gpu_twice, "node n0: unhealthy_gpus[1]"},
    {"an offer of something unknown", unknown_offer, "node n0: extended[0]"},
    {"an offer of less than nothing", negative_offer, "node n0: extended[0]"},
    {"a department that deserves less than nothing", negative_deserved, "department d: an amount"},
    {"a limit below nothing", negative_limit, "project p: an amount"},
    {"a negative weight", negative_weight, "project p: an amount"},
    {"negative usage", negative_usage, "project p: an amount"},
    {"a bound on people below nothing", negative_bound, "project p: an amount"},
    {"a person who used less than nothing", negative_use, "project p: an amount of a person"},
    {"people out of order", people_out_of_order, "people[1]: ann stands behind bob"},
    {"a project in no department", project_without_department, "project p: no such department"},
    {"a workload of no project", no_such_project, "workload a: no such project"},
    {"pods beyond the end", pods_beyond_the_end, "workload b: its pods are out of range"},
    {"pods that begin beyond it", pods_that_begin_beyond, "workload b: its pods are out of range"},
    {"a pool that is not there", no_such_pool, "workload a: no such node pool"},
    {"a topology that is not there", no_such_topology, "workload b: no such topology"},
    {"a level that is not there", no_such_level, "workload b: no such topology level"},
    {"a topology without a level", no_level, "workload b: a topology without a level"},
    {"a preferred level that is not there", no_such_preferred_level, "workload b: no such topology level"},
    {"a sub-group with an unknown parent", no_such_parent, "sub-group t: no such parent"},
    {"a sub-group inside itself", its_own_parent, "sub-group t: nested deeper"},
    {"sub-groups out of order", groups_out_of_order, "sub-groups[2]: a stands behind t"},
    {"a pod of another workload", pod_of_another, "pod a0: belongs to no leaf"},
    {"a pod in a set of sub-groups", pod_in_a_set, "pod b0: belongs to no leaf"},
    {"a pod outside the sub-groups", pod_in_no_group, "pod b0: belongs to no leaf"},
    {"a pod in an unknown sub-group", pod_in_an_unknown_group, "pod b0: belongs to no leaf"},
    {"a sub-group where there are none", group_where_there_is_none, "pod a0: belongs to no leaf"},
    {"a pod that asks for less than no memory", negative_pod_memory, "pod a0: an amount"},
    {"a pod that asks for less than no cores", negative_pod_cpu, "pod a0: an amount"},
    {"a negative amount of GPU memory", negative_amount, "pod a0: an amount"},
    {"a negative portion", negative_portion, "pod a0: an amount"},
    {"a portion of more than a device", more_than_a_device, "pod a0: an amount"},
    {"a part of no device", part_of_no_device, "pod a0: a shared request"},
    {"two kinds of part", two_kinds_of_part, "pod a0: a shared request"},
    {"a pod that runs nowhere", runs_nowhere, "pod a0: Running on no node"},
    {"a promise of no node", promised_nowhere, "pod a1: promised no node"},
    {"a request of something unknown", unknown_request, "pod a1: extended[0]"},
    {"pods out of order", pods_out_of_order, "pods[1]: a stands behind a0"},
    {"pods that do not follow those before", pods_that_do_not_follow, "workload b: its pods do not follow"},
    {"pods of nobody", pods_of_nobody, "pods: 3, but workloads have 2"},
};

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena arena;
        struct error err = {0};
        struct snapshot *snapshot;
        struct plan *plan;
        arena_init(&arena);
        check_int(snapshot_read(SNAPSHOT, strlen(SNAPSHOT), &arena, &snapshot, &err), 0, "read: %s", err.message);
        struct spoiled spoiled = {
            .snapshot = snapshot,
            .nodes = (struct snapshot_node *)snapshot->nodes,
            .offers = (struct snapshot_extended_amount *)snapshot->nodes[0].extended,
            .department_queue = (struct snapshot_queue *)snapshot->departments[0].queues,
            .project_queue = (struct snapshot_queue *)snapshot->projects[0].queues,
            .project = (struct snapshot_project *)snapshot->projects,
            .workloads = (struct snapshot_workload *)snapshot->workloads,
            .groups = (struct snapshot_sub_group *)snapshot->workloads[1].sub_groups,
            .pods = (struct snapshot_pod *)snapshot->pods,
            .asks = (struct snapshot_extended_amount *)snapshot->pods[1].extended,
        };
        CASES[i].spoil(&spoiled);
        int rc = scheduler_plan(snapshot, &arena, &plan, &err);
        check_int(rc, *CASES[i].want ? -1 : 0, "%s: %s", CASES[i].name, err.message);
        check_true(strstr(err.message, CASES[i].want) != NULL, "%s: \"%s\" holds \"%s\"", CASES[i].name, err.message,
                   CASES[i].want);
        check_true(rc == 0 || err.code == ERROR_INVALID, "%s: the caller's mistake", CASES[i].name);
        arena_done(&arena);
    }
    return check_finish();
}
