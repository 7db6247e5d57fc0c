#include "form/plan_writer.h"

#include "base/arena.h"
#include "form/why_writer.h"

#include <stdlib.h>
#include <string.h>

static void write_groups(struct json_writer *json, const struct plan_devices *devices)
{
    json_key(json, "gpuGroups");
    json_begin_array(json);
    for (size_t i = 0; i < devices->gpu_group_count; i++)
        json_value_text(json, devices->gpu_groups[i]);
    json_end_array(json);
    json_key(json, "gpuIndices");
    json_begin_array(json);
    for (size_t i = 0; i < devices->gpu_index_count; i++)
        json_value_int(json, devices->gpu_indices[i]);
    json_end_array(json);
}

static const char *node_name(const struct snapshot *snapshot, uint32_t node)
{
    return node == SNAPSHOT_NONE ? NULL : snapshot->nodes[node].name;
}

static void write_decision(struct json_writer *json, const struct snapshot *snapshot,
                           const struct plan_decision *decision, bool explains)
{
    json_begin_object(json);
    json_text(json, "action", scheduler_action_name(decision->action));
    json_text(json, "verb", plan_verb_name(decision->verb));
    json_text(json, "workload", snapshot->workloads[decision->workload].name);
    json_text(json, "pod", snapshot->pods[decision->pod].name);
    json_text(json, "node", node_name(snapshot, decision->node));
    if (decision->verb == PLAN_PIPELINE || decision->verb == PLAN_BIND)
        write_groups(json, &decision->devices);
    if (decision->beneficiary != SNAPSHOT_NONE)
        json_text(json, "for", snapshot->workloads[decision->beneficiary].name);
    struct why_names names = {.snapshot = snapshot};
    why_write_sentence(json, &names, "why", decision->why);
    if (explains && decision->receipt) {
        json_key(json, "receipt");
        json_begin_object(json);
        why_write_receipt(json, &names, decision);
        json_end_object(json);
    }
    json_end_object(json);
}

static void write_pods(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan)
{
    json_key(json, "pods");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        json_begin_object(json);
        json_text(json, "workload", snapshot->workloads[snapshot->pods[i].workload].name);
        json_text(json, "name", snapshot->pods[i].name);
        json_text(json, "status", snapshot_pod_status_name(plan->pods[i].status));
        json_text(json, "node", node_name(snapshot, plan->pods[i].node));
        write_groups(json, &plan->pods[i].devices);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_nodes(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan)
{
    json_key(json, "nodes");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->node_count; i++) {
        json_begin_object(json);
        json_text(json, "name", snapshot->nodes[i].name);
        json_int(json, "idleGpus", plan->nodes[i].idle_gpus);
        json_int(json, "releasingGpus", plan->nodes[i].releasing_gpus);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_forecast(struct json_writer *json, const struct why_names *names,
                           const struct plan_workload *workload)
{
    struct arena arena;
    arena_init(&arena);
    struct plan_forecast forecast = plan_forecast_of(workload, &arena);
    json_key(json, "forecast");
    why_write_forecast(json, names, &forecast);
    arena_done(&arena);
}

static void write_workload(struct json_writer *json, const struct snapshot *snapshot, size_t index,
                           const struct plan_workload *workload, bool explains)
{
    struct why_names names = {.snapshot = snapshot};
    json_begin_object(json);
    json_text(json, "name", snapshot->workloads[index].name);
    json_text(json, "status", snapshot_pod_status_name(workload->status));
    json_key(json, "explanation");
    json_begin_array(json);
    for (size_t i = 0; i < workload->explanation_count; i++) {
        if (explains) {
            why_write_explanation(json, &names, &workload->explanations[i], &snapshot->workloads[index]);
            continue;
        }
        json_begin_object(json);
        json_text(json, "code", explanation_code_name(workload->explanations[i].code));
        why_write_sentence(json, &names, "message", workload->explanations[i].message);
        json_end_object(json);
    }
    json_end_array(json);
    if (explains && workload->explanation_count > 0)
        write_forecast(json, &names, workload);
    json_end_object(json);
}

static void write_amount(struct json_writer *json, const char *key, enum resource resource, int64_t amount)
{
    json_key(json, key);
    if (amount == QUANTITY_UNLIMITED)
        json_value_null(json);
    else if (resource == RESOURCE_MEMORY)
        json_value_int(json, amount);
    else
        json_value_milli(json, amount);
}

struct queue_line {
    const char *name;
    enum queue_kind kind;
    size_t node_pool;
    const struct plan_queue *queue;
};

static int compare_queue_lines(const void *a, const void *b)
{
    const struct queue_line *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    if (order == 0)
        order = strcmp(queue_kind_name(left->kind), queue_kind_name(right->kind));
    return order != 0 ? order : (left->node_pool > right->node_pool) - (left->node_pool < right->node_pool);
}

static void write_queue(struct json_writer *json, const struct snapshot *snapshot, const struct queue_line *line)
{
    static const char *const RESOURCES[RESOURCE_COUNT] = {"gpu", "cpu", "memory"};
    const struct plan_queue *queue = line->queue;
    json_begin_object(json);
    json_text(json, "kind", queue_kind_name(line->kind));
    json_text(json, "name", line->name);
    json_text(json, "nodePool", snapshot->node_pools[line->node_pool].name);
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        enum resource resource = (enum resource)i;
        json_key(json, RESOURCES[i]);
        json_begin_object(json);
        write_amount(json, "deserved", resource, queue->deserved.of[i]);
        write_amount(json, "limit", resource, queue->limit.of[i]);
        write_amount(json, "fairShare", resource, queue->fair_share.of[i]);
        write_amount(json, "allocated", resource, queue->allocated.of[i]);
        write_amount(json, "allocatedNonPreemptible", resource, queue->allocated_non_preemptible.of[i]);
        write_amount(json, "requested", resource, queue->requested.of[i]);
        json_end_object(json);
    }
    json_end_object(json);
}

static void write_queues(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan)
{
    size_t pools = snapshot->node_pool_count;
    size_t count = 0;
    struct queue_line *lines =
        memory_array((snapshot->project_count + snapshot->department_count) * pools, sizeof(*lines));
    for (size_t i = 0; i < snapshot->project_count * pools; i++)
        lines[count++] =
            (struct queue_line){snapshot->projects[i / pools].name, QUEUE_KIND_PROJECT, i % pools, &plan->projects[i]};
    for (size_t i = 0; i < snapshot->department_count * pools; i++)
        lines[count++] = (struct queue_line){snapshot->departments[i / pools].name, QUEUE_KIND_DEPARTMENT, i % pools,
                                             &plan->departments[i]};
    qsort(lines, count, sizeof(*lines), compare_queue_lines);
    json_key(json, "queues");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++)
        write_queue(json, snapshot, &lines[i]);
    json_end_array(json);
    free(lines);
}

static void write_decisions(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan,
                            bool explains)
{
    json_begin_array(json);
    for (size_t i = 0; i < plan->decision_count; i++)
        write_decision(json, snapshot, &plan->decisions[i], explains);
    json_end_array(json);
}

void plan_write_decisions(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan)
{
    write_decisions(json, snapshot, plan, false);
}

static void write_cycle(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan,
                        int64_t cycle, bool explains)
{
    json_begin_object(json);
    json_int(json, "cycle", cycle);
    json_key(json, "decisions");
    write_decisions(json, snapshot, plan, explains);
    write_pods(json, snapshot, plan);
    json_key(json, "workloads");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->workload_count; i++)
        write_workload(json, snapshot, i, &plan->workloads[i], explains);
    json_end_array(json);
    write_queues(json, snapshot, plan);
    write_nodes(json, snapshot, plan);
    json_end_object(json);
}

void plan_write_cycle(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan, int64_t cycle)
{
    write_cycle(json, snapshot, plan, cycle, false);
}

void plan_write_explained_cycle(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan,
                                int64_t cycle)
{
    write_cycle(json, snapshot, plan, cycle, true);
}

void plan_write_final(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan)
{
    json_begin_object(json);
    write_pods(json, snapshot, plan);
    write_nodes(json, snapshot, plan);
    json_end_object(json);
}
