// A plan that breaks what must always hold is not carried out: each row spoils a good plan in one way.
#include "base/arena.h"
#include "base/error.h"
#include "reconciler/carry_out.h"
#include "scheduler/scheduler.h"
#include "simulation/snapshot_reader.h"
#include "tests/support/check.h"

#include <string.h>

// Two nodes; `old` holds device 0 of node0, `gang` of two is to be bound.
static const char SNAPSHOT[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],"
    "\"nodes\":[{\"name\":\"node0\",\"nodePool\":\"default\",\"gpus\":2,\"cpuCores\":8,\"memoryBytes\":1000},"
    "{\"name\":\"node1\",\"nodePool\":\"default\",\"gpus\":1,\"cpuCores\":8,\"memoryBytes\":1000,\"ready\":false}],"
    "\"departments\":[{\"name\":\"d\"}],\"projects\":[{\"name\":\"p\",\"department\":\"d\"}],"
    "\"workloads\":["
    "{\"name\":\"gang\",\"project\":\"p\",\"minPods\":2,\"pods\":[{\"name\":\"g-0\",\"gpuDevices\":1,\"memoryBytes\":"
    "10},"
    "{\"name\":\"g-1\",\"cpuCores\":1,\"gpuDevices\":0}]},"
    "{\"name\":\"old\",\"project\":\"p\",\"preemptibility\":\"non-preemptible\",\"pods\":[{\"name\":\"old-0\","
    "\"gpuDevices\":1,\"memoryBytes\":900,\"status\":\"Running\",\"node\":\"node0\"}]}]}";

struct spoiled {
    struct snapshot *snapshot;
    struct plan *plan;
    struct plan_decision *decisions;
    struct plan_pod *pods;
    struct snapshot_node *nodes;
    struct snapshot_workload *workloads;
    struct snapshot_pod *snapshot_pods;
};

static uint32_t ZERO = 0, SEVEN = 7;

static void nothing(struct spoiled *s)
{
    (void)s;
}

static void same_device(struct spoiled *s)
{
    s->snapshot_pods[2].gpu_indices = &ZERO;
    s->snapshot_pods[2].gpu_index_count = 1;
    s->pods[0].devices.gpu_indices = &ZERO;
}

static void no_such_device(struct spoiled *s)
{
    s->pods[0].devices.gpu_indices = &SEVEN;
}

static void half_a_gang(struct spoiled *s)
{
    s->plan->decision_count = 1;
    s->pods[s->decisions[0].pod == 0 ? 1 : 0].status = SNAPSHOT_POD_PENDING;
}

static void too_much_memory(struct spoiled *s)
{
    s->nodes[0].memory_bytes = 905;
}

static void too_many_pods(struct spoiled *s)
{
    s->nodes[0].max_pods = 2;
}

static void node_not_ready(struct spoiled *s)
{
    s->nodes[0].ready = false;
}

static void node_cordoned(struct spoiled *s)
{
    s->nodes[0].cordoned = true;
}

static void going(struct spoiled *s)
{
    s->workloads[0].deleting = true;
}

static void placed_already(struct spoiled *s)
{
    s->snapshot_pods[s->decisions[0].pod].status = SNAPSHOT_POD_RUNNING;
}

static void evicts_what_must_stay(struct spoiled *s)
{
    s->decisions[0] = (struct plan_decision){
        .action = ACTION_RECLAIM, .verb = PLAN_EVICT, .workload = 1, .pod = 2, .node = 0, .beneficiary = 0, .why = ""};
}

static void evicts_what_holds_nothing(struct spoiled *s)
{
    s->decisions[0] = (struct plan_decision){
        .action = ACTION_RECLAIM, .verb = PLAN_EVICT, .workload = 0, .pod = 0, .node = 0, .beneficiary = 1, .why = ""};
}

static void binds_and_evicts(struct spoiled *s)
{
    uint32_t pod = s->decisions[0].pod;
    s->decisions[1] = (struct plan_decision){.action = ACTION_RECLAIM,
                                             .verb = PLAN_EVICT,
                                             .workload = 0,
                                             .pod = pod,
                                             .node = 0,
                                             .beneficiary = 1,
                                             .why = ""};
    s->pods[0].status = s->pods[1].status = SNAPSHOT_POD_PENDING;
}

static const struct {
    const char *name;
    void (*spoil)(struct spoiled *s);
    const char *want; // part of the message; "": it is good
} CASES[] = {
    {"a good plan", nothing, ""},
    {"a pod that is bound and evicted again", binds_and_evicts, ""},
    {"a device that another holds", same_device, "is held already"},
    {"a device that is not there", no_such_device, "has no device 7"},
    {"half a gang", half_a_gang, "of a gang of 2"},
    {"more memory than there is", too_much_memory, "more than it has"},
    {"more pods than it takes", too_many_pods, "more than it has"},
    {"a node that is not ready", node_not_ready, "takes nothing new"},
    {"a node that is cordoned", node_cordoned, "takes nothing new"},
    {"a workload that is going", going, "is going"},
    {"a pod that has a place", placed_already, "has a place already"},
    {"an eviction of what is not preemptible", evicts_what_must_stay, "is not preemptible"},
    {"an eviction of what holds nothing", evicts_what_holds_nothing, "holds no place"},
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
        check_int(scheduler_plan(snapshot, &arena, &plan, &err), 0, "planned: %s", err.message);
        check_int((int64_t)plan->decision_count, 2, "both pods are bound");
        struct spoiled spoiled = {
            .snapshot = snapshot,
            .plan = plan,
            .decisions = (struct plan_decision *)plan->decisions,
            .pods = (struct plan_pod *)plan->pods,
            .nodes = (struct snapshot_node *)snapshot->nodes,
            .workloads = (struct snapshot_workload *)snapshot->workloads,
            .snapshot_pods = (struct snapshot_pod *)snapshot->pods,
        };
        CASES[i].spoil(&spoiled);
        int rc = plan_check(snapshot, plan, &arena, &err);
        check_int(rc, *CASES[i].want ? -1 : 0, "%s: %s", CASES[i].name, err.message);
        check_true(strstr(err.message, CASES[i].want) != NULL, "%s: \"%s\" holds \"%s\"", CASES[i].name, err.message,
                   CASES[i].want);
        arena_done(&arena);
    }
    return check_finish();
}
