// GET and DELETE /admin/pods: what runs though no workload asks for it. For real backends; elsewhere there is none.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "reconciler/reconciler.h"

enum {
    DEVICES_MAX = 64
};

static void write_stray(struct json_writer *json, const struct reconciler_stray *stray)
{
    json_begin_object(json);
    json_text(json, "id", stray->uuid);
    json_text(json, "projectName", stray->project_name);
    json_text(json, "workloadName", stray->workload_name);
    json_int(json, "processId", stray->pid);
    json_bool(json, "devicesAreKnown", stray->gpus != UINT64_MAX);
    json_key(json, "devices");
    json_begin_array(json);
    for (int i = 0; i < DEVICES_MAX && stray->gpus != UINT64_MAX; i++)
        if (stray->gpus >> i & 1)
            json_value_int(json, i);
    json_end_array(json);
    json_bool(json, "ending", stray->is_ending);
    json_time(json, "startedAt", stray->since_ms);
    json_end_object(json);
}

int op_list_stray_pods(struct request *req, struct response *res, struct error *err)
{
    struct reconciler_stray *strays;
    struct json_writer json;
    if (access_check_tenant(req, RESOURCE_TYPE_NODES, ACTION_UPDATE, err) < 0)
        return -1;
    size_t count = reconciler_list_strays(req->server->reconciler, req->arena, &strays);
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "pods");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_stray(&json, &strays[i]);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

int op_end_stray_pod(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_NODES, ACTION_UPDATE, err) < 0 ||
        reconciler_end_stray(req->server->reconciler, request_path(req, "podId"), err) < 0)
        return -1;
    return response_message(res, 202, "the pod is told to stop");
}
