// A plan that breaks what must always hold is not carried out: each row spoils a good plan in one way.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "reconciler/check/plan_check.h"
#include "scheduler/scheduler.h"
#include "scheduler/simulation.h"
#include "tests/support/check.h"
#include "tests/support/rich_document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANDOM_CLUSTERS = 500,
    RANDOM_CYCLES = 4
};

// Two nodes; `old` holds device 0 of node0, `gang` of two is to be bound.
static const char SNAPSHOT[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"},"
    "{\"name\":\"other\"}],\"nodes\":[{\"name\":\"node0\",\"nodePool\":\"default\",\"gpus\":2,\"cpuCores\":8,"
    "\"memoryBytes\":1000},"
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

static void unhealthy_device(struct spoiled *s)
{
    s->nodes[0].unhealthy_gpus = s->pods[0].devices.gpu_indices;
    s->nodes[0].unhealthy_gpu_count = 1;
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
    s->decisions[1] = (struct plan_decision){
        .action = ACTION_STALE_GANG_EVICTION, .verb = PLAN_EVICT, .pod = pod, .beneficiary = SNAPSHOT_NONE, .why = ""};
    s->pods[0].status = s->pods[1].status = SNAPSHOT_POD_PENDING;
}

static void no_device(struct spoiled *s)
{
    s->pods[0].devices.gpu_index_count = 0;
}

static void unwanted_pool(struct spoiled *s)
{
    s->nodes[0].node_pool = 1;
}

static void part_of_a_gang_waits(struct spoiled *s)
{
    s->pods[1].status = SNAPSHOT_POD_PIPELINED;
}

// A project takes back what another holds: `r` and `s` of b run, `w` of a gets the place of one of them.
static const char RECLAIM[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],"
    "\"nodes\":[{\"name\":\"node0\",\"nodePool\":\"default\",\"gpus\":2}],\"departments\":[{\"name\":\"d\"}],"
    "\"projects\":[{\"name\":\"a\",\"department\":\"d\",\"resources\":[{\"gpu\":{\"deserved\":1}}]},"
    "{\"name\":\"b\",\"department\":\"d\"}],\"workloads\":["
    "{\"name\":\"r\",\"project\":\"b\",\"pods\":[{\"name\":\"r-0\",\"gpuDevices\":1,\"status\":\"Running\",\"node\":"
    "\"node0\"}]},"
    "{\"name\":\"s\",\"project\":\"b\",\"pods\":[{\"name\":\"s-0\",\"gpuDevices\":1,\"status\":\"Running\",\"node\":"
    "\"node0\"}]},"
    "{\"name\":\"w\",\"project\":\"a\",\"pods\":[{\"name\":\"w-0\",\"gpuDevices\":1}]}]}";

static void for_nobody(struct spoiled *s)
{
    s->decisions[0].beneficiary = SNAPSHOT_NONE;
}

static void for_itself(struct spoiled *s)
{
    s->decisions[0].beneficiary = s->decisions[0].workload;
}

static void for_its_own_project(struct spoiled *s)
{
    s->decisions[0].beneficiary = 1 - s->decisions[0].workload;
}

static void for_who_gets_nothing(struct spoiled *s)
{
    s->plan->decision_count = 1;
}

static void in_another_statement(struct spoiled *s)
{
    s->decisions[1].statement++;
}

static void by_allocate(struct spoiled *s)
{
    s->decisions[0].action = ACTION_ALLOCATE;
}

static void by_preemption_of_another_project(struct spoiled *s)
{
    s->decisions[0].action = ACTION_PREEMPT;
}

static void by_preemption_of_its_equal(struct spoiled *s)
{
    s->decisions[0].action = ACTION_PREEMPT;
    s->workloads[2].project = 1;
}

static struct snapshot_queue *project_queue(struct spoiled *s)
{
    return (struct snapshot_queue *)s->snapshot->projects[0].queues;
}

static void over_a_limit(struct spoiled *s)
{
    project_queue(s)->limit.of[RESOURCE_GPU] = 900;
}

static void over_a_department_s_limit(struct spoiled *s)
{
    ((struct snapshot_queue *)s->snapshot->departments[0].queues)->limit.of[RESOURCE_GPU] = 1900;
}

static void without_departments(struct spoiled *s)
{
    over_a_department_s_limit(s);
    s->snapshot->settings.full_hierarchy_fairness = false;
}

static void over_what_is_deserved(struct spoiled *s)
{
    s->workloads[2].preemptible = false;
    project_queue(s)->deserved.of[RESOURCE_GPU] = 900;
}

static void of_what_the_victim_deserves(struct spoiled *s)
{
    ((struct snapshot_queue *)s->snapshot->projects[1].queues)->deserved.of[RESOURCE_GPU] = 2000;
}

static void of_what_is_over_a_limit(struct spoiled *s)
{
    of_what_the_victim_deserves(s);
    ((struct snapshot_queue *)s->snapshot->projects[1].queues)->limit.of[RESOURCE_GPU] = 1900;
}

static void limit_of_another(struct spoiled *s)
{
    ((struct snapshot_queue *)s->snapshot->projects[1].queues)->limit.of[RESOURCE_GPU] = 0;
}

// A tree: `x` with `a` and `b`, which needs both, beside `c`.
static const char TREE[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],"
    "\"nodes\":[{\"name\":\"node0\",\"nodePool\":\"default\",\"gpus\":4,\"gpuMemoryMib\":1000,\"extended\":{\"e/"
    "x\":1}}],"
    "\"departments\":[{\"name\":\"d\"}],\"projects\":[{\"name\":\"p\",\"department\":\"d\"}],\"workloads\":["
    "{\"name\":\"g\",\"project\":\"p\",\"minSubGroups\":2,\"subGroups\":[{\"name\":\"a\",\"parent\":\"x\",\"minPods\":"
    "1},"
    "{\"name\":\"b\",\"parent\":\"x\",\"minPods\":2},{\"name\":\"c\",\"minPods\":1},{\"name\":\"x\"}],"
    "\"pods\":[{\"name\":\"g-0\",\"subGroup\":\"a\",\"gpuPortion\":0.6},{\"name\":\"g-1\",\"subGroup\":\"b\","
    "\"gpuPortion\":0.3},"
    "{\"name\":\"g-2\",\"subGroup\":\"b\",\"gpuPortion\":0.6},{\"name\":\"g-3\",\"subGroup\":\"c\",\"extended\":{\"e/"
    "x\":1}}]}]}";

static void half_a_sub_group(struct spoiled *s)
{
    s->pods[2].status = SNAPSHOT_POD_PENDING;
}

static void half_a_set(struct spoiled *s)
{
    s->pods[0].status = SNAPSHOT_POD_PENDING;
}

static void half_a_tree(struct spoiled *s)
{
    s->pods[3].status = SNAPSHOT_POD_PENDING;
}

static void sub_group_that_waits(struct spoiled *s)
{
    s->pods[2].status = SNAPSHOT_POD_PIPELINED;
}

static void group_on_anothers_device(struct spoiled *s)
{
    s->pods[2].devices.gpu_indices = s->pods[0].devices.gpu_indices;
}

static void group_over_its_memory(struct spoiled *s)
{
    s->pods[2].devices = s->pods[0].devices;
}

static void more_than_is_extended(struct spoiled *s)
{
    ((struct snapshot_extended_amount *)s->nodes[0].extended)->count = 0;
}

// `w` gets node1; what is left there of `g`, a gang of two that lost `g-0`, moves to node0.
static const char MOVE[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],\"nodes\":["
    "{\"name\":\"node0\",\"nodePool\":\"default\",\"gpus\":2},"
    "{\"name\":\"node1\",\"nodePool\":\"default\",\"gpus\":2}],"
    "\"departments\":[{\"name\":\"d\"}],\"projects\":[{\"name\":\"p\",\"department\":\"d\",\"resources\":[{\"gpu\":{"
    "\"deserved\":2}}]}],\"workloads\":["
    "{\"name\":\"g\",\"project\":\"p\",\"pods\":[{\"name\":\"g-0\",\"gpuDevices\":1,\"status\":\"Releasing\",\"node\":"
    "\"node1\"},{\"name\":\"g-1\",\"gpuDevices\":1,\"status\":\"Running\",\"node\":\"node1\"}]},"
    "{\"name\":\"stays\",\"project\":\"p\",\"preemptibility\":\"non-preemptible\",\"pods\":[{\"name\":\"s-0\","
    "\"gpuDevices\":1,\"status\":\"Running\",\"node\":\"node0\"}]},"
    "{\"name\":\"w\",\"project\":\"p\",\"pods\":[{\"name\":\"w-0\",\"gpuDevices\":2}]}]}";

static void gang_that_stood_whole(struct spoiled *s)
{
    s->snapshot_pods[0].status = SNAPSHOT_POD_RUNNING;
}

static void part_of_a_gang_that_waited(struct spoiled *s)
{
    s->snapshot_pods[1].status = SNAPSHOT_POD_PENDING;
    s->decisions[0] = s->decisions[--s->plan->decision_count];
}

struct spoiled_case {
    const char *name;
    void (*spoil)(struct spoiled *s);
    const char *want; // part of the message; "": it is good
};

static const struct spoiled_case RECLAIM_CASES[] = {
    {"a good plan", nothing, ""},
    {"an eviction for nobody", for_nobody, "for nobody"},
    {"an eviction for itself", for_itself, "for nobody"},
    {"reclaim from its own project", for_its_own_project, "reclaimed for its own project"},
    {"an eviction for who gets nothing", for_who_gets_nothing, "gets no place by that"},
    {"a place by another statement", in_another_statement, "gets no place by that"},
    {"an eviction by allocate", by_allocate, "by allocate"},
    {"preemption in another project", by_preemption_of_another_project, "not above it"},
    {"preemption of its equal", by_preemption_of_its_equal, "not above it"},
    {"more than the limit", over_a_limit, "project a would hold 1000 GPU thousandths, and its limit is 900"},
    {"more than the department's limit", over_a_department_s_limit, "department d would hold 2000"},
    {"departments that play no role", without_departments, ""},
    {"more non-preemptible than is deserved", over_what_is_deserved, "its quota is 900"},
    {"a limit of who gets nothing", limit_of_another, ""},
    {"reclaim of what the victim deserves", of_what_the_victim_deserves, "would be reclaimed of what"},
    {"reclaim of what is over the victim's limit", of_what_is_over_a_limit, ""},
};

static const struct spoiled_case MOVE_CASES[] = {
    {"a part of a gang that moves", nothing, ""},
    {"a gang of which a part moves", gang_that_stood_whole, "workload g: 1 would be placed of a gang of 2"},
    {"a part of a gang that waited", part_of_a_gang_that_waited, "workload g: 1 would be placed of a gang of 2"},
};

static const struct spoiled_case TREE_CASES[] = {
    {"a good plan", nothing, ""},
    {"half a sub-group", half_a_sub_group, "sub-group b: 1 would be placed of a gang of 2"},
    {"half a set", half_a_set, "sub-group x: 1 would be placed of a gang of 2"},
    {"half a tree", half_a_tree, "workload g: 1 would be placed of a gang of 2"},
    {"a sub-group that waits", sub_group_that_waits, "would start while the rest waits"},
    {"a group on another's device", group_on_anothers_device, "is held already"},
    {"a group that needs more than a device has", group_over_its_memory, "is held already"},
    {"more of something extended", more_than_is_extended, "more than it has"},
};

static const struct spoiled_case CASES[] = {
    {"a good plan", nothing, ""},
    {"a pod that is bound and evicted again", binds_and_evicts, ""},
    {"a device that another holds", same_device, "is held already"},
    {"a device that is not there", no_such_device, "has no device 7"},
    {"a device that is not healthy", unhealthy_device, "is not healthy"},
    {"half a gang", half_a_gang, "of a gang of 2"},
    {"more memory than there is", too_much_memory, "more than it has"},
    {"more pods than it takes", too_many_pods, "more than it has"},
    {"a node that is not ready", node_not_ready, "takes nothing new"},
    {"a node that is cordoned", node_cordoned, "takes nothing new"},
    {"a workload that is going", going, "is going"},
    {"a pod that has a place", placed_already, "has a place already"},
    {"an eviction of what is not preemptible", evicts_what_must_stay, "is not preemptible"},
    {"no device for who asks for one", no_device, "0 devices instead of 1"},
    {"a node of a pool that it does not want", unwanted_pool, "in none of its pools"},
    {"a gang that starts in part", part_of_a_gang_waits, "would start while the rest waits"},
    {"an eviction of what holds nothing", evicts_what_holds_nothing, "holds no place"},
};

// Whatever the scheduler decides passes: a good plan that is refused stops a cluster.
static void check_random(uint64_t seed)
{
    struct document_dice dice = {.state = seed};
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    struct simulation simulation;
    struct plan *plan;
    arena_init(&arena);
    json_t *document = rich_document(&dice);
    check_int(snapshot_read_json(document, &arena, &snapshot, &err), 0, "read: %s", err.message);
    simulation_init(&simulation, snapshot);
    for (int cycle = 0; cycle < RANDOM_CYCLES; cycle++) {
        check_int(simulation_plan(&simulation, &plan, &err), 0, "seed %" PRIu64 ": %s", seed, err.message);
        check_int(plan_check(&simulation.snapshot, plan, &arena, &err), 0, "seed %" PRIu64 ": %s", seed, err.message);
        simulation_advance(&simulation, plan);
    }
    simulation_done(&simulation);
    json_decref(document);
    arena_done(&arena);
}

static void check_cases(const char *text, int64_t decisions, const struct spoiled_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        struct error err = {0};
        struct snapshot *snapshot;
        struct plan *plan;
        arena_init(&arena);
        check_int(snapshot_read(text, strlen(text), &arena, &snapshot, &err), 0, "read: %s", err.message);
        check_int(scheduler_plan(snapshot, &arena, &plan, &err), 0, "planned: %s", err.message);
        check_int((int64_t)plan->decision_count, decisions, "decisions");
        struct spoiled spoiled = {
            .snapshot = snapshot,
            .plan = plan,
            .decisions = (struct plan_decision *)plan->decisions,
            .pods = (struct plan_pod *)plan->pods,
            .nodes = (struct snapshot_node *)snapshot->nodes,
            .workloads = (struct snapshot_workload *)snapshot->workloads,
            .snapshot_pods = (struct snapshot_pod *)snapshot->pods,
        };
        cases[i].spoil(&spoiled);
        int rc = plan_check(snapshot, plan, &arena, &err);
        check_int(rc, *cases[i].want ? -1 : 0, "%s: %s", cases[i].name, err.message);
        check_true(strstr(err.message, cases[i].want) != NULL, "%s: \"%s\" holds \"%s\"", cases[i].name, err.message,
                   cases[i].want);
        arena_done(&arena);
    }
}

int main(int argc, char **argv)
{
    uint64_t clusters = argc > 1 ? strtoull(argv[1], NULL, 10) : RANDOM_CLUSTERS;
    for (uint64_t seed = 1; seed <= clusters; seed++)
        check_random(seed);
    check_cases(SNAPSHOT, 2, CASES, COUNT(CASES));
    check_cases(RECLAIM, 2, RECLAIM_CASES, COUNT(RECLAIM_CASES));
    check_cases(MOVE, 3, MOVE_CASES, COUNT(MOVE_CASES));
    check_cases(TREE, 4, TREE_CASES, COUNT(TREE_CASES));
    return check_finish();
}
