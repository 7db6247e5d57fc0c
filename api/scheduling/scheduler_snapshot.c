// The live cluster as the scheduler last read it, for taking a decision home and replaying it with `prorata simulate`.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/snapshot_writer.h"
#include "reconciler/reconciler.h"

int op_get_scheduler_snapshot(struct request *req, struct response *res, struct error *err)
{
    if (access_check_whole_cluster(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, "snapshot", err) < 0)
        return -1;
    const struct reconciler_view *view = reconciler_acquire_view(req->server->reconciler);
    if (!view)
        return error_set(err, ERROR_UNAVAILABLE, "the first cycle has not run yet");
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    snapshot_write(&json, view->snapshot);
    reconciler_release_view(req->server->reconciler, view);
    return 0;
}
