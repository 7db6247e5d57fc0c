#include "model/submission.h"

#include <stdio.h>
#include <string.h>

struct workload_facts submission_facts(const struct submission *submission)
{
    const struct workload_spec *spec = submission->spec;
    struct workload_facts facts = {
        .name = submission->name,
        .type = workload_type_text(spec->type),
        .project_id = submission->project_id,
        .created_by = submission->created_by,
        .created_ms = submission->now_ms,
        .desired = DESIRED_RUNNING,
        .priority = spec->priority,
        .preemptible = spec->is_preemptible,
        .node_pools_json = submission->node_pools_json,
        .serving_json = submission->serving_json,
        .pods_wanted = spec->pods_wanted,
        .min_pods = spec->min_pods,
        .sub_groups_json = spec->sub_groups_json,
        .completions = spec->completions,
        .backoff_limit = spec->backoff_limit,
        .grace_period_ms = spec->grace_period_ms,
        .time_limit_ms = submission->time_limit_ms,
        .idle_limit_ms = submission->idle_limit_ms,
        .time_limit_scope = submission->time_limit_scope,
        .idle_limit_scope = submission->idle_limit_scope,
        .start_at_ms = spec->start_at_ms,
        .waits_for = submission->waits_for,
        .terminate_after_preemption = spec->is_terminated_after_preemption,
        .phase = PHASE_CREATING,
        .phase_updated_ms = submission->now_ms,
        .promise = -1,
    };
    if (submission->uuid)
        snprintf(facts.uuid, sizeof(facts.uuid), "%s", submission->uuid);
    return facts;
}

struct pod_facts submission_pod_facts(const struct pod_request *request, const char *name, int64_t index,
                                      int64_t attempt)
{
    return (struct pod_facts){
        .name = name,
        .is_master = strcmp(request->role, POD_ROLE_TEXT_MASTER) == 0,
        .pod_index = index,
        .attempt = attempt,
        .status = POD_STATUS_PENDING,
        .gpu_devices = request->gpu_devices,
        .gpu_portion_milli = request->gpu_portion_milli,
        .gpu_memory_mib = request->gpu_memory_mib,
        .cpu_milli = request->cpu_milli,
        .memory_bytes = request->memory_bytes,
        .constraints_json = request->constraints_json,
    };
}
