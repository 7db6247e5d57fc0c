#include "base/json_writer.h"
#include "form/why_writer.h"
#include "form/writer.h"

static void write_nodes_of(struct json_writer *json, const struct why_names *names, const struct what_if_answer *answer)
{
    json_key(json, "nodes");
    json_begin_array(json);
    for (size_t i = 0; i < answer->node_count; i++) {
        json_begin_object(json);
        json_text(json, "name", names->snapshot->nodes[answer->nodes[i].node].name);
        json_milli(json, "gpus", answer->nodes[i].gpu_milli);
        json_int(json, "pods", answer->nodes[i].pods);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_displaced(struct json_writer *json, const struct why_names *names,
                            const struct what_if_displaced *displaced, size_t count)
{
    const struct snapshot *snapshot = names->snapshot;
    json_key(json, "displaced");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct what_if_displaced *one = &displaced[i];
        const struct snapshot_project *project = &snapshot->projects[snapshot->workloads[one->workload].project];
        json_begin_object(json);
        why_write_workload(json, names, "workload", "workloadId", one->workload);
        json_text(json, "project", project->name);
        json_text(json, "department", snapshot->departments[project->department].name);
        json_text(json, "nodePool", snapshot->node_pools[one->node_pool].name);
        json_milli(json, "gpus", one->gpu_milli);
        json_int(json, "pods", one->pods);
        json_text(json, "action", scheduler_action_name(one->action));
        json_bool(json, "moved", one->moved);
        json_milli(json, "lostSeconds", one->lost_ms);
        why_write_sentence(json, names, "sentence", one->sentence);
        json_end_object(json);
    }
    json_end_array(json);
}

void why_write_numbers(struct json_writer *json, const char *key, const struct plan_queue *queue)
{
    json_key(json, key);
    json_begin_object(json);
    why_write_amount(json, "quota", RESOURCE_GPU, queue->deserved.of[RESOURCE_GPU]);
    why_write_amount(json, "limit", RESOURCE_GPU, queue->limit.of[RESOURCE_GPU]);
    why_write_amount(json, "fairShare", RESOURCE_GPU, queue->fair_share.of[RESOURCE_GPU]);
    why_write_amount(json, "allocated", RESOURCE_GPU, queue->allocated.of[RESOURCE_GPU]);
    why_write_amount(json, "allocatedNonPreemptible", RESOURCE_GPU, queue->allocated_non_preemptible.of[RESOURCE_GPU]);
    why_write_amount(json, "requested", RESOURCE_GPU, queue->requested.of[RESOURCE_GPU]);
    json_end_object(json);
}

static void write_queue(struct json_writer *json, const struct why_names *names, const struct what_if_answer *answer)
{
    const struct snapshot *snapshot = names->snapshot;
    json_key(json, "queue");
    json_begin_object(json);
    json_text(json, "nodePool", snapshot->node_pools[answer->queue_node_pool].name);
    json_key(json, "project");
    json_begin_object(json);
    json_text(json, "name", snapshot->projects[answer->project].name);
    why_write_numbers(json, "before", &answer->project_before);
    why_write_numbers(json, "with", &answer->project_with);
    json_end_object(json);
    json_key(json, "department");
    json_begin_object(json);
    json_text(json, "name", snapshot->departments[answer->department].name);
    why_write_numbers(json, "before", &answer->department_before);
    why_write_numbers(json, "with", &answer->department_with);
    json_end_object(json);
    json_end_object(json);
}

static void write_quota(struct json_writer *json, const struct why_names *names, const struct what_if_change *change)
{
    const struct snapshot *snapshot = names->snapshot;
    json_text(json, "nodePool", snapshot->node_pools[change->node_pool].name);
    if (change->changes_project) {
        json_text(json, "project", snapshot->projects[change->project].name);
        why_write_amount(json, "quotaGpus", RESOURCE_GPU, change->project_deserved);
        why_write_amount(json, "limitGpus", RESOURCE_GPU, change->project_limit);
    }
    if (change->changes_department) {
        json_text(json, "department", snapshot->departments[change->department].name);
        why_write_amount(json, "departmentQuotaGpus", RESOURCE_GPU, change->department_deserved);
        why_write_amount(json, "departmentLimitGpus", RESOURCE_GPU, change->department_limit);
    }
}

static void write_change(struct json_writer *json, const struct why_names *names, const struct what_if_change *change)
{
    json_key(json, "change");
    json_begin_object(json);
    switch (change->kind) {
    case FIX_OTHER_NODE_POOL:
        json_key(json, "nodePools");
        json_begin_array(json);
        json_value_text(json, names->snapshot->node_pools[change->node_pool].name);
        json_end_array(json);
        break;
    case FIX_OTHER_PREEMPTIBILITY:
        json_text(json, "preemptibility", change->preemptible ? "preemptible" : "non-preemptible");
        break;
    case FIX_FEWER_GPUS:
        json_int(json, "gpuDevicesRequest", change->gpu_devices);
        break;
    case FIX_FEWER_PODS:
        json_int(json, "pods", change->pods);
        break;
    case FIX_OTHER_PRIORITY:
        json_int(json, "priority", change->priority);
        break;
    default:
        write_quota(json, names, change);
    }
    json_end_object(json);
}

static void write_fixes(struct json_writer *json, const struct why_names *names, const struct what_if_answer *answer)
{
    json_key(json, "fixes");
    json_begin_array(json);
    for (size_t i = 0; i < answer->fix_count; i++) {
        const struct what_if_fix *fix = &answer->fixes[i];
        json_begin_object(json);
        json_text(json, "kind", what_if_fix_kind_name(fix->change.kind));
        why_write_sentence(json, names, "sentence", fix->sentence);
        why_write_sentence(json, names, "price", fix->price);
        write_change(json, names, &fix->change);
        json_text(json, "verdict", what_if_verdict_name(fix->verdict));
        why_write_sentence(json, names, "effect", fix->effect);
        write_displaced(json, names, fix->displaced, fix->displaced_count);
        json_end_object(json);
    }
    json_end_array(json);
}

void why_write_what_if(struct json_writer *json, const struct why_names *names, const struct what_if_answer *answer,
                       const struct snapshot_workload *workload)
{
    json_text(json, "verdict", what_if_verdict_name(answer->verdict));
    why_write_sentence(json, names, "sentence", answer->sentence);
    why_write_sentence(json, names, "reason", answer->reason);
    json_text(json, "nodePool",
              answer->node_pool == SNAPSHOT_NONE ? NULL : names->snapshot->node_pools[answer->node_pool].name);
    write_nodes_of(json, names, answer);
    write_displaced(json, names, answer->displaced, answer->displaced_count);
    why_write_sentence(json, names, "couldLoseTo", answer->could_lose_to);
    json_key(json, "forecast");
    why_write_forecast(json, names, &answer->forecast);
    json_key(json, "explanation");
    json_begin_array(json);
    for (size_t i = 0; i < answer->explanation_count; i++)
        why_write_explanation(json, names, &answer->explanations[i], workload);
    json_end_array(json);
    write_queue(json, names, answer);
    write_fixes(json, names, answer);
    json_int(json, "plans", answer->plan_count);
}

void why_write_queue_order(struct json_writer *json, const struct why_names *names, const struct queue_listing *listing,
                           size_t offset, size_t limit)
{
    const struct snapshot *snapshot = names->snapshot;
    json_begin_object(json);
    json_text(json, "nodePool", snapshot->node_pools[listing->node_pool].name);
    json_int(json, "total", (int64_t)listing->count);
    json_key(json, "workloads");
    json_begin_array(json);
    for (size_t i = offset; i < listing->count && i - offset < limit; i++) {
        const struct queue_listing_entry *entry = &listing->entries[i];
        const struct snapshot_workload *workload = &snapshot->workloads[entry->workload];
        const struct snapshot_project *project = &snapshot->projects[workload->project];
        json_begin_object(json);
        json_int(json, "position", (int64_t)i + 1);
        why_write_workload(json, names, "workload", "workloadId", entry->workload);
        json_text(json, "project", project->name);
        json_text(json, "department", snapshot->departments[project->department].name);
        json_milli(json, "gpus", entry->gpu_milli);
        json_int(json, "pods", entry->pods);
        json_int(json, "priority", workload->priority);
        write_time(json, "waitingSince", entry->waiting_since_ms);
        json_text(json, "rule", entry->rule);
        why_write_sentence(json, names, "sentence", entry->sentence);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}
