// Connections to ports of pods: POST /workloads/{id}/pods/{pod}/port-forward opens one, which goes on as a session of
// exec.c does.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/exec_sessions.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "reconciler/reconciler.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

// On disk before anything is opened. Who has a connection to the port has been recorded: a browser opens many.
static int record(struct request *req, const struct workload_state *workload,
                  const struct reconciler_port_request *request, struct error *err)
{
    if (exec_sessions_has_port(req->server->exec_sessions, req->caller->subject_uuid, request->pod_uuid, request->port))
        return 0;
    log_write(LOG_INFO, "api", "port forward workload=%s pod=%s port=%u user=\"%s\"", workload->uuid, request->pod_uuid,
              (unsigned)request->port, req->caller->name);
    return workload_record(req, workload, "PortForward",
                           arena_printf(req->arena, "%s forwards port %u of a pod of %s", req->caller->name,
                                        (unsigned)request->port, workload->name),
                           err);
}

int op_create_port_forward(struct request *req, struct response *res, struct error *err)
{
    struct workload_state workload;
    struct reconciler_port opened;
    struct reconciler_port_request request = {.pod_uuid = request_path(req, "podId"),
                                              .port = (uint16_t)json_integer_value(json_object_get(req->body, "port"))};
    if (workload_of_path(req, &KIND_ANY, ACTION_UPDATE, &workload, err) < 0 ||
        workload_check_person(req, &workload, &request.caller, err) < 0)
        return -1;
    request.workload_id = workload.id;
    struct exec_sessions *sessions = req->server->exec_sessions;
    struct place_claim claim = access_place_claim(req->caller, -1);
    int place;
    if (exec_sessions_take(sessions, PLACE_FORWARDS, &claim, &place, err) < 0)
        return -1;
    if (record(req, &workload, &request, err) < 0 ||
        reconciler_open_port(req->server->reconciler, &request, req->arena, &opened, err) < 0) {
        exec_sessions_leave(sessions, PLACE_FORWARDS, place);
        return -1;
    }
    struct exec_session session = {.workload_id = workload.id,
                                   .kind = PLACE_FORWARDS,
                                   .port = request.port,
                                   .place = place,
                                   .input_fd = fcntl(opened.fd, F_DUPFD_CLOEXEC, 0),
                                   .output_fd = opened.fd,
                                   .error_fd = -1,
                                   .control_fd = -1};
    if (session.input_fd < 0) {
        close(opened.fd);
        exec_sessions_leave(sessions, PLACE_FORWARDS, place);
        return error_set(err, ERROR_UNAVAILABLE, "the server has no descriptor left");
    }
    char id[UUID_SIZE];
    snprintf(session.owner, sizeof(session.owner), "%s", req->caller->subject_uuid);
    snprintf(session.pod, sizeof(session.pod), "%s", request.pod_uuid);
    exec_sessions_add(sessions, &session, id);
    return response_json(res, json_pack("{s:s, s:s}", "sessionId", id, "pod", opened.pod_name));
}
