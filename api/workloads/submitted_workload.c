#include "api/workloads/submitted_workload.h"

#include "base/arena.h"
#include "base/json_writer.h"
#include "model/workload_type.h"

#include <inttypes.h>

void submitted_workload_write(const struct submitted_workload *workload, struct buffer *out, struct arena *arena)
{
    struct json_writer json;
    json_writer_init(&json, out, false);
    json_begin_object(&json);
    json_text(&json, "name", workload->name);
    json_text(&json, "requestedName", workload->requested_name);
    json_text(&json, "workloadId", workload->uuid);
    json_text(&json, "projectId", arena_printf(arena, "%" PRId64, workload->project_id));
    json_text(&json, "departmentId", arena_printf(arena, "%" PRId64, workload->department_id));
    json_text(&json, "clusterId", workload->cluster_uuid);
    json_text(&json, "createdBy", workload->created_by);
    json_time(&json, "createdAt", workload->created_ms);
    json_time(&json, "deletedAt", workload->deleted_ms);
    json_text(&json, "desiredPhase", workload->desired_phase);
    json_text(&json, "actualPhase", workload->phase);
    json_raw(&json, "spec", workload->spec_json);
    if (workload_type_is(workload->type, WORKLOAD_TYPE_DISTRIBUTED)) {
        json_bool(&json, "masterSpecSameAsWorker", workload->is_master_same);
        if (workload->master_spec_json)
            json_raw(&json, "masterSpec", workload->master_spec_json);
    }
    json_end_object(&json);
}
