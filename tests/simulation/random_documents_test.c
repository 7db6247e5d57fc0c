// What must hold in every cycle over every cluster, tried on random ones: no device, CPU, memory or pod slot is given
// twice, no limit or non-preemptible quota is exceeded by what is placed, only preemptible pods yield, gangs start
// whole, and the plan depends on what the snapshot says alone. Arguments: how many clusters (300), the first seed (1).
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/plan_writer.h"
#include "form/snapshot_reader.h"
#include "form/snapshot_writer.h"
#include "scheduler/simulation.h"
#include "tests/support/check.h"
#include "tests/support/random_document.h"

#include <stdlib.h>
#include <string.h>

enum {
    CYCLES = 6,
    CALM_CYCLES = 40,
    DEVICES = 8
};

static unsigned seed;      // of the cluster at hand, for messages
static unsigned unsettled; // clusters that were still deciding in the end

static bool holds_node(enum snapshot_pod_status status)
{
    return status == SNAPSHOT_POD_BINDING || status == SNAPSHOT_POD_BOUND || status == SNAPSHOT_POD_RUNNING ||
           status == SNAPSHOT_POD_RELEASING || status == SNAPSHOT_POD_STUCK_IN_RELEASING;
}

static bool is_shared(const struct snapshot_pod *pod)
{
    return pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0;
}

// What one pod takes of each of its devices, in MiB of the node's.
static int64_t device_mib(const struct snapshot_node *node, const struct snapshot_pod *pod)
{
    if (!is_shared(pod))
        return node->gpu_memory_mib;
    return pod->gpu_memory_mib > 0 ? pod->gpu_memory_mib : node->gpu_memory_mib * pod->gpu_portion_milli / 1000;
}

static void check_node(const struct snapshot *snapshot, const struct plan *plan, uint32_t index)
{
    const struct snapshot_node *node = &snapshot->nodes[index];
    int64_t used_mib[DEVICES] = {0}, cpu_milli = 0, memory_bytes = 0;
    uint32_t pod_count = 0;
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        const struct snapshot_pod *pod = &snapshot->pods[i];
        const struct plan_pod *planned = &plan->pods[i];
        if (!holds_node(planned->status) || planned->node != index)
            continue;
        cpu_milli += pod->cpu_milli;
        memory_bytes += pod->memory_bytes;
        pod_count++;
        check_int((int64_t)planned->devices.gpu_index_count, pod->gpu_devices, "seed %u: devices of %s", seed,
                  pod->name);
        check_int((int64_t)planned->devices.gpu_group_count, is_shared(pod) ? pod->gpu_devices : 0,
                  "seed %u: groups of %s", seed, pod->name);
        for (size_t j = 0; j < planned->devices.gpu_index_count; j++) {
            uint32_t device = planned->devices.gpu_indices[j];
            check_true(device < node->gpu_count, "seed %u: %s has device %u of %s", seed, pod->name, device,
                       node->name);
            used_mib[device % DEVICES] += device_mib(node, pod);
        }
    }
    for (size_t i = 0; i < DEVICES; i++)
        check_true(used_mib[i] <= node->gpu_memory_mib, "seed %u: device %zu of %s is given twice", seed, i,
                   node->name);
    check_true(cpu_milli <= node->cpu_milli, "seed %u: CPU of %s", seed, node->name);
    check_true(memory_bytes <= node->memory_bytes, "seed %u: memory of %s", seed, node->name);
    check_true(pod_count <= node->max_pods, "seed %u: pods of %s", seed, node->name);
}

static bool has_rack(const struct snapshot_node *node, const struct snapshot_placement_rules *rules)
{
    if (!rules || rules->selector_count == 0)
        return true;
    return node->label_count > 0 && strcmp(node->labels[0].value, rules->selector[0].values[0]) == 0;
}

static void check_decisions(const struct snapshot *snapshot, const struct plan *plan)
{
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        const struct snapshot_workload *workload = &snapshot->workloads[decision->workload];
        const struct snapshot_pod *pod = &snapshot->pods[decision->pod];
        const struct snapshot_node *node = &snapshot->nodes[decision->node];
        check_true(pod->workload == decision->workload && decision->why && *decision->why, "seed %u: decision %zu",
                   seed, i);
        if (decision->verb == PLAN_EVICT && decision->action != ACTION_STALE_GANG_EVICTION) {
            check_true(workload->preemptible, "seed %u: %s may not be evicted", seed, pod->name);
            check_true(decision->beneficiary != SNAPSHOT_NONE, "seed %u: %s is evicted for nobody", seed, pod->name);
        }
        if (decision->verb != PLAN_BIND && decision->verb != PLAN_PIPELINE)
            continue;
        check_true(node->ready && !node->cordoned, "seed %u: %s takes nothing new", seed, node->name);
        check_true(has_rack(node, pod->rules), "seed %u: %s does not match %s", seed, node->name, pod->name);
        check_true(node->taint_count == 0 || (pod->rules && pod->rules->toleration_count > 0),
                   "seed %u: %s does not tolerate %s", seed, pod->name, node->name);
        bool wanted = false;
        for (size_t j = 0; j < workload->node_pool_count; j++)
            wanted = wanted || workload->node_pools[j] == node->node_pool;
        check_true(wanted, "seed %u: %s does not want the pool of %s", seed, pod->name, node->name);
    }
}

// A workload that got a place in this cycle has its gang; and all its pods are in one pool.
static void check_gangs(const struct snapshot *snapshot, const struct plan *plan)
{
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        const struct snapshot_workload *workload = &snapshot->workloads[i];
        uint32_t active = 0, bound = 0, pool = SNAPSHOT_NONE;
        for (uint32_t j = workload->first_pod; j < workload->first_pod + workload->pod_count; j++) {
            enum snapshot_pod_status status = plan->pods[j].status;
            bool is_active =
                (holds_node(status) && status != SNAPSHOT_POD_RELEASING) || status == SNAPSHOT_POD_PIPELINED;
            active += is_active;
            bound += status == SNAPSHOT_POD_BINDING;
            if (!is_active)
                continue;
            uint32_t here = snapshot->nodes[plan->pods[j].node].node_pool;
            check_true(pool == SNAPSHOT_NONE || pool == here, "seed %u: %s stands in two pools", seed, workload->name);
            pool = here;
        }
        check_true(bound == 0 || active >= workload->min_pods, "seed %u: the gang of %s is not whole", seed,
                   workload->name);
    }
}

static void check_queue(const struct plan_queue *before, const struct plan_queue *after, const char *name)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        check_true(after->allocated.of[r] >= 0, "seed %u: %s has less than nothing", seed, name);
        // Who is above a line may stay there, for the line may have been moved; nobody gets farther.
        if (after->allocated.of[r] > before->allocated.of[r])
            check_true(after->allocated.of[r] <= after->limit.of[r], "seed %u: %s is over its limit", seed, name);
        if (after->allocated_non_preemptible.of[r] > before->allocated_non_preemptible.of[r])
            check_true(after->allocated_non_preemptible.of[r] <= after->deserved.of[r],
                       "seed %u: non-preemptible pods of %s are over its quota", seed, name);
    }
}

static void check_plan(const struct snapshot *snapshot, const struct plan *before, const struct plan *plan)
{
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        check_node(snapshot, plan, i);
    check_decisions(snapshot, plan);
    check_gangs(snapshot, plan);
    size_t pools = snapshot->node_pool_count;
    for (size_t i = 0; i < snapshot->project_count * pools; i++)
        check_queue(&before->projects[i], &plan->projects[i], snapshot->projects[i / pools].name);
    for (size_t i = 0; i < snapshot->department_count * pools; i++)
        check_queue(&before->departments[i], &plan->departments[i], snapshot->departments[i / pools].name);
}

static json_t *export_snapshot(const struct snapshot *snapshot)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, 0);
    json_writer_init(&json, &out, false);
    snapshot_write(&json, snapshot);
    json_t *document = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
    buffer_done(&out);
    return document;
}

// What simulate prints of one cycle over the document.
static char *cycle_text(const json_t *document)
{
    struct arena arena;
    struct buffer out;
    struct json_writer json;
    struct snapshot *snapshot;
    struct simulation simulation;
    struct plan *plan;
    struct error err = {0};
    arena_init(&arena);
    buffer_init(&out, 0);
    if (snapshot_read_json(document, &arena, &snapshot, &err) == 0) {
        simulation_init(&simulation, snapshot);
        if (simulation_plan(&simulation, &plan, &err) == 0) {
            json_writer_init(&json, &out, false);
            plan_write_cycle(&json, snapshot, plan, 1);
        }
        simulation_done(&simulation);
    }
    check_text(err.message, "", "seed %u: reads and plans", seed);
    arena_done(&arena);
    return buffer_take(&out);
}

static void check_order(struct document_dice *dice, const json_t *document)
{
    json_t *shuffled = json_deep_copy(document);
    random_document_shuffle(dice, shuffled);
    char *text = cycle_text(document), *again = cycle_text(document), *other = cycle_text(shuffled);
    check_text(again, text, "seed %u: same snapshot, same plan", seed);
    check_text(other, text, "seed %u: the order of lists leaves no trace", seed);
    free(text);
    free(again);
    free(other);
    json_decref(shuffled);
}

// Runs cycles and gives the cluster as they leave it; in calm, until nothing is decided any more.
static json_t *run_cycles(const json_t *document, int cycles, bool until_calm)
{
    struct arena arena;
    struct snapshot *snapshot;
    struct simulation simulation;
    struct plan *before, *plan;
    struct error err = {0};
    json_t *result = NULL;
    bool calm = false;
    arena_init(&arena);
    if (snapshot_read_json(document, &arena, &snapshot, &err) == 0) {
        simulation_init(&simulation, snapshot);
        for (int i = 0; i < cycles && !calm; i++) {
            if (simulation_look(&simulation, &before, &err) < 0 || simulation_plan(&simulation, &plan, &err) < 0)
                break;
            check_plan(&simulation.snapshot, before, plan);
            calm = plan->decision_count == 0;
            simulation_advance(&simulation, plan);
        }
        result = export_snapshot(&simulation.snapshot);
        simulation_done(&simulation);
    }
    check_text(err.message, "", "seed %u: reads and plans", seed);
    if (!calm && until_calm) {
        printf("seed %u: still deciding after %d cycles\n", seed, cycles);
        unsettled++;
    }
    arena_done(&arena);
    return result;
}

// Some workloads come and are placed, more come and compete with them, until all is settled.
static void check_cluster(void)
{
    struct document_dice dice = {.state = seed};
    json_t *empty = random_document(&dice);
    unsigned first = 1 + document_dice_throw(&dice, 8), second = 1 + document_dice_throw(&dice, 8);
    random_document_workloads(&dice, empty, 0, first);
    check_order(&dice, empty);
    json_t *filled = run_cycles(empty, CYCLES, false);
    random_document_workloads(&dice, filled, first, second);
    check_order(&dice, filled);
    json_t *settled = run_cycles(filled, CALM_CYCLES, true);
    json_decref(empty);
    json_decref(filled);
    json_decref(settled);
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300;
    unsigned first = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    for (seed = first; seed < first + count; seed++)
        check_cluster();
    // The rules do not promise rest: a share in GPUs can be restored by what disturbs a share in CPU, and a promise is
    // kept on the node that suits best by then, be it charged more there. One cluster in a thousand is of that kind.
    check_true(unsettled <= count / 300, "%u of %u clusters did not come to rest", unsettled, count);
    return check_finish();
}
