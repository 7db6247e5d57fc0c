#include "base/json_writer.h"
#include "form/why_writer.h"
#include "form/writer.h"

enum {
    WORKLOADS_MAXIMUM = 200 // that are listed; all are counted
};

static void write_id(struct json_writer *json, const struct why_names *names, const char *key,
                     enum share_node_kind kind, uint32_t index)
{
    if (names->node_id)
        json_text(json, key, names->node_id(names->context, kind, index));
}

static void write_outcome(struct json_writer *json, const struct why_names *names, const struct quota_workload *one)
{
    const struct snapshot *snapshot = names->snapshot;
    uint32_t index = snapshot->workloads[one->workload].project;
    const struct snapshot_project *project = &snapshot->projects[index];
    json_begin_object(json);
    why_write_workload(json, names, "workload", "workloadId", one->workload);
    json_text(json, "project", project->name);
    write_id(json, names, "projectId", SHARE_NODE_PROJECT, index);
    json_text(json, "department", snapshot->departments[project->department].name);
    json_text(json, "nodePool", one->node_pool == SNAPSHOT_NONE ? NULL : snapshot->node_pools[one->node_pool].name);
    json_text(json, "outcome", quota_outcome_name(one->outcome));
    json_milli(json, "gpus", one->gpu_milli);
    json_int(json, "pods", one->pods);
    json_text(json, "action", one->is_evicted ? scheduler_action_name(one->action) : NULL);
    json_text(json, "beneficiaryProject",
              one->beneficiary == SNAPSHOT_NONE
                  ? NULL
                  : snapshot->projects[snapshot->workloads[one->beneficiary].project].name);
    json_milli(json, "lostSeconds", one->lost_ms);
    json_end_object(json);
}

static void write_queue(struct json_writer *json, const struct why_names *names, const struct quota_queue *queue)
{
    const struct snapshot *snapshot = names->snapshot;
    bool is_project = queue->kind == QUEUE_KIND_PROJECT;
    json_begin_object(json);
    json_text(json, "kind", queue_kind_name(queue->kind));
    json_text(json, "name",
              is_project ? snapshot->projects[queue->queue].name : snapshot->departments[queue->queue].name);
    write_id(json, names, "id", is_project ? SHARE_NODE_PROJECT : SHARE_NODE_DEPARTMENT, queue->queue);
    json_text(json, "nodePool", snapshot->node_pools[queue->node_pool].name);
    why_write_numbers(json, "before", &queue->before);
    why_write_numbers(json, "after", &queue->after);
    json_end_object(json);
}

static void write_excess(struct json_writer *json, const struct why_names *names, const struct quota_excess *excess)
{
    const struct snapshot *snapshot = names->snapshot;
    json_begin_object(json);
    json_text(json, "nodePool", snapshot->node_pools[excess->node_pool].name);
    json_text(json, "department",
              excess->department == SNAPSHOT_NONE ? NULL : snapshot->departments[excess->department].name);
    json_text(json, "promisedTo", excess->kind == QUEUE_KIND_PROJECT ? "projects" : "departments");
    why_write_amount(json, "promised", RESOURCE_GPU, excess->promised_milli);
    why_write_amount(json, "available", RESOURCE_GPU, excess->available_milli);
    json_end_object(json);
}

static void write_totals(struct json_writer *json, const struct quota_answer *answer)
{
    static const char *const KEYS[QUOTA_OUTCOME_COUNT] = {"starts", "keeps", "givesWay", "staysPending", "restarts"};
    json_key(json, "totals");
    json_begin_object(json);
    json_milli(json, "gpusGained", answer->gained_milli);
    json_milli(json, "gpusLost", answer->lost_milli);
    json_int(json, "projectsGaining", answer->gaining_count);
    json_int(json, "projectsLosing", answer->losing_count);
    for (size_t i = 0; i < QUOTA_OUTCOME_COUNT; i++)
        json_int(json, KEYS[i], answer->counts[i]);
    json_end_object(json);
}

static const char *verdict_of(const struct quota_answer *answer)
{
    static const enum quota_outcome LOSSES[] = {QUOTA_GIVES_WAY, QUOTA_STAYS_PENDING, QUOTA_RESTARTS};
    for (size_t i = 0; i < sizeof(LOSSES) / sizeof(LOSSES[0]); i++)
        if (answer->counts[LOSSES[i]] > 0)
            return "Losses";
    return answer->workload_count > 0 ? "Gains" : "NoEffect";
}

void why_write_quota(struct json_writer *json, const struct why_names *names, const struct quota_answer *answer)
{
    json_text(json, "verdict", verdict_of(answer));
    why_write_sentence(json, names, "sentence", answer->sentence);
    json_bool(json, "atRest", answer->is_at_rest);
    json_int(json, "cycles", answer->cycles);
    write_time(json, "holdsUntil", answer->good_until_ms == INT64_MAX ? SNAPSHOT_TIME_NONE : answer->good_until_ms);
    write_totals(json, answer);
    json_key(json, "queues");
    json_begin_array(json);
    for (size_t i = 0; i < answer->queue_count; i++)
        write_queue(json, names, &answer->queues[i]);
    json_end_array(json);
    json_key(json, "workloads");
    json_begin_array(json);
    for (size_t i = 0; i < answer->workload_count && i < WORKLOADS_MAXIMUM; i++)
        write_outcome(json, names, &answer->workloads[i]);
    json_end_array(json);
    if (answer->workload_count > WORKLOADS_MAXIMUM)
        json_int(json, "workloadsMore", (int64_t)answer->workload_count - WORKLOADS_MAXIMUM);
    json_key(json, "exceeded");
    json_begin_array(json);
    for (size_t i = 0; i < answer->excess_count; i++)
        write_excess(json, names, &answer->excesses[i]);
    json_end_array(json);
    json_int(json, "plans", answer->plan_count);
}
