#include "form/why_writer.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "form/writer.h"
#include "model/told.h"

static const char *const RESOURCES[RESOURCE_COUNT] = {"gpu", "cpu", "memory"};

static const char *pool_name(const struct why_names *names, uint32_t pool)
{
    return pool == SNAPSHOT_NONE ? NULL : names->snapshot->node_pools[pool].name;
}

static const char *department_of(const struct why_names *names, uint32_t project)
{
    return names->snapshot->departments[names->snapshot->projects[project].department].name;
}

void why_write_amount(struct json_writer *json, const char *key, enum resource resource, int64_t amount)
{
    if (amount == QUANTITY_UNLIMITED)
        json_null_at(json, key);
    else if (resource == RESOURCE_MEMORY)
        json_int(json, key, amount);
    else
        json_milli(json, key, amount);
}

void why_write_sentence(struct json_writer *json, const struct why_names *names, const char *key, const char *text)
{
    if (text && names->sentence) {
        json_text(json, key, names->sentence(names->context, text));
        return;
    }
    struct arena arena;
    arena_init(&arena);
    json_text(json, key, told_plain(&arena, text));
    arena_done(&arena);
}

void why_write_workload(struct json_writer *json, const struct why_names *names, const char *key, const char *id_key,
                        uint32_t workload)
{
    if (workload == SNAPSHOT_NONE) {
        json_null_at(json, key);
        if (names->workload_id)
            json_null_at(json, id_key);
        return;
    }
    json_text(json, key,
              names->workload_name ? names->workload_name(names->context, workload)
                                   : names->snapshot->workloads[workload].name);
    if (names->workload_id)
        json_text(json, id_key, names->workload_id(names->context, workload));
}

// The queue that blocks, in the resource that is short; amounts other than GPUs and cores in their smallest unit.
static void write_queue(struct json_writer *json, const struct why_names *names,
                        const struct plan_explanation *explanation)
{
    const struct snapshot *snapshot = names->snapshot;
    bool is_project = explanation->queue_kind == QUEUE_KIND_PROJECT;
    enum resource r = explanation->resource;
    json_key(json, "queue");
    if (explanation->queue == SNAPSHOT_NONE) {
        json_value_null(json);
        return;
    }
    json_begin_object(json);
    json_text(json, "kind", queue_kind_name(explanation->queue_kind));
    json_text(json, "name",
              is_project ? snapshot->projects[explanation->queue].name
                         : snapshot->departments[explanation->queue].name);
    json_text(json, "resource", RESOURCES[r]);
    why_write_amount(json, "requested", r, explanation->requested);
    why_write_amount(json, "deserved", r, explanation->deserved);
    why_write_amount(json, "limit", r, explanation->limit);
    why_write_amount(json, "fairShare", r, explanation->fair_share);
    why_write_amount(json, "allocated", r, explanation->allocated);
    why_write_amount(json, "allocatedNonPreemptible", r, explanation->allocated_non_preemptible);
    json_end_object(json);
}

static void write_progress(struct json_writer *json, const struct plan_explanation *explanation,
                           const struct snapshot_workload *workload)
{
    json_key(json, "progress");
    if (explanation->pods_needed == 0) {
        json_value_null(json);
        return;
    }
    json_begin_object(json);
    json_int(json, "placed", explanation->pods_placed);
    json_int(json, "needed", explanation->pods_needed);
    json_text(json, "subGroup",
              explanation->sub_group == SNAPSHOT_NONE || !workload ? NULL
                                                                   : workload->sub_groups[explanation->sub_group].name);
    json_end_object(json);
}

static void write_evidence(struct json_writer *json, const struct why_names *names,
                           const struct plan_explanation *explanation)
{
    bool is_gpu = explanation->resource == RESOURCE_GPU;
    json_key(json, "reclaim");
    json_begin_array(json);
    for (size_t i = 0; i < explanation->evidence_count; i++) {
        const struct plan_evidence *evidence = &explanation->evidence[i];
        json_begin_object(json);
        json_text(json, "project", names->snapshot->projects[evidence->project].name);
        json_text(json, "department", department_of(names, evidence->project));
        why_write_amount(json, is_gpu ? "gpusHeld" : "held", explanation->resource, evidence->held);
        why_write_amount(json, is_gpu ? "gpusReclaimable" : "reclaimable", explanation->resource,
                         evidence->reclaimable);
        json_text(json, "reason", evidence_code_name(evidence->code));
        why_write_sentence(json, names, "sentence", evidence->sentence);
        write_time(json, "protectedUntil", evidence->protected_until_ms);
        if (evidence->ends_ms != SNAPSHOT_TIME_NONE)
            write_time(json, "endsAt", evidence->ends_ms);
        json_end_object(json);
    }
    json_end_array(json);
    if (explanation->evidence_more > 0)
        json_int(json, "reclaimMore", explanation->evidence_more);
}

static void write_room(struct json_writer *json, const struct plan_explanation *explanation)
{
    if (!explanation->has_room)
        return;
    json_key(json, "free");
    json_begin_object(json);
    json_milli(json, "gpus", explanation->free_milli);
    json_int(json, "nodes", explanation->free_nodes);
    json_milli(json, "largestPiece", explanation->most_milli);
    json_end_object(json);
    if (explanation->room_ms != SNAPSHOT_TIME_NONE)
        write_time(json, "roomAt", explanation->room_ms);
}

void why_write_explanation(struct json_writer *json, const struct why_names *names,
                           const struct plan_explanation *explanation, const struct snapshot_workload *workload)
{
    json_begin_object(json);
    json_text(json, "nodePool", pool_name(names, explanation->node_pool));
    json_text(json, "code", explanation_code_name(explanation->code));
    why_write_sentence(json, names, "message", explanation->message);
    write_queue(json, names, explanation);
    json_key(json, "nodeReasons");
    json_begin_array(json);
    for (size_t i = 0; i < explanation->node_reason_count; i++) {
        json_begin_object(json);
        json_text(json, "reason", explanation->node_reasons[i].reason);
        json_int(json, "nodes", explanation->node_reasons[i].node_count);
        json_end_object(json);
    }
    json_end_array(json);
    write_progress(json, explanation, workload);
    write_evidence(json, names, explanation);
    write_time(json, "protectedUntil", explanation->until_ms);
    write_room(json, explanation);
    json_end_object(json);
}

void why_write_forecast(struct json_writer *json, const struct why_names *names, const struct plan_forecast *forecast)
{
    json_begin_object(json);
    json_text(json, "kind", forecast_kind_name(forecast->kind));
    write_time(json, "at", forecast->at_ms);
    why_write_sentence(json, names, "sentence", forecast->sentence);
    json_end_object(json);
}

static void write_receipt_queue(struct json_writer *json, const struct plan_receipt_queue *queue)
{
    why_write_amount(json, "deserved", RESOURCE_GPU, queue->deserved.of[RESOURCE_GPU]);
    why_write_amount(json, "limit", RESOURCE_GPU, queue->limit.of[RESOURCE_GPU]);
    why_write_amount(json, "fairShare", RESOURCE_GPU, queue->fair_share.of[RESOURCE_GPU]);
    why_write_amount(json, "allocatedBefore", RESOURCE_GPU, queue->allocated_before.of[RESOURCE_GPU]);
    why_write_amount(json, "allocatedAfter", RESOURCE_GPU, queue->allocated_after.of[RESOURCE_GPU]);
}

void why_write_receipt_side(struct json_writer *json, const struct why_names *names,
                            const struct plan_receipt_side *side)
{
    if (side->project == SNAPSHOT_NONE) {
        json_value_null(json);
        return;
    }
    json_begin_object(json);
    json_text(json, "project", names->snapshot->projects[side->project].name);
    write_receipt_queue(json, &side->project_queue);
    if (names->snapshot->settings.full_hierarchy_fairness) {
        json_key(json, "department");
        json_begin_object(json);
        json_text(json, "name", names->snapshot->departments[side->department].name);
        write_receipt_queue(json, &side->department_queue);
        json_end_object(json);
    }
    json_end_object(json);
}

void why_write_receipt(struct json_writer *json, const struct why_names *names, const struct plan_decision *decision)
{
    const struct snapshot *snapshot = names->snapshot;
    const struct plan_receipt *receipt = decision->receipt;
    uint32_t beneficiary = decision->beneficiary;
    json_text(json, "action", scheduler_action_name(decision->action));
    json_text(json, "rule", eviction_rule_name(receipt->rule));
    why_write_workload(json, names, "workload", "workloadId", decision->workload);
    json_text(json, "pod", snapshot->pods[decision->pod].name);
    json_text(json, "project", snapshot->projects[receipt->victim.project].name);
    json_text(json, "department", department_of(names, receipt->victim.project));
    json_text(json, "nodePool", pool_name(names, decision->node_pool));
    json_text(json, "node", snapshot->nodes[decision->node].name);
    json_milli(json, "gpus", decision->gpu_milli);
    json_key(json, "gpuIndices");
    json_begin_array(json);
    for (size_t i = 0; i < decision->devices.gpu_index_count; i++)
        json_value_int(json, decision->devices.gpu_indices[i]);
    json_end_array(json);
    why_write_workload(json, names, "beneficiary", "beneficiaryId", beneficiary);
    json_text(json, "beneficiaryProject",
              receipt->beneficiary.project == SNAPSHOT_NONE ? NULL
                                                            : snapshot->projects[receipt->beneficiary.project].name);
    json_bool(json, "moved", decision->moved);
    json_milli(json, "lostSeconds", decision->lost_ms);
    why_write_sentence(json, names, "sentence", decision->why);
    json_key(json, "victim");
    why_write_receipt_side(json, names, &receipt->victim);
    json_key(json, "beneficiaryQueue");
    why_write_receipt_side(json, names, &receipt->beneficiary);
}

// Names keep their marks in what is stored: who reads it is told some of them.
static const char *keep_marks(void *context, const char *text)
{
    (void)context;
    return text;
}

void why_write_waiting(struct buffer *out, const struct snapshot *snapshot, const struct plan_workload *planned,
                       const struct snapshot_workload *workload, struct arena *arena)
{
    struct json_writer json;
    struct why_names names = {.snapshot = snapshot, .sentence = keep_marks};
    struct plan_forecast forecast = plan_forecast_of(planned, arena);
    const struct plan_explanation *first = &planned->explanations[0], *cause = NULL;
    for (size_t i = 1; i < planned->explanation_count && !cause; i++)
        if (explanation_is_cause(planned->explanations[i].code))
            cause = &planned->explanations[i];
    json_writer_init(&json, out, false);
    json_begin_object(&json);
    json_text(&json, "sentence", arena_printf(arena, "%s.", first->message));
    json_text(&json, "why", cause ? arena_printf(arena, "%s.", cause->message) : NULL);
    json_text(&json, "code", explanation_code_name(first->code));
    json_text(&json, "pool", pool_name(&names, first->node_pool));
    json_key(&json, "forecast");
    why_write_forecast(&json, &names, &forecast);
    json_key(&json, "nodePools");
    json_begin_array(&json);
    for (size_t i = 0; i < planned->explanation_count; i++)
        why_write_explanation(&json, &names, &planned->explanations[i], workload);
    json_end_array(&json);
}
