// GET /workloads/{id}/logs: what a pod printed. Following polls the reconciler each second until the pod has ended.
#include "api/access/authenticate.h"
#include "api/access/response_stream.h"
#include "api/http/request.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "reconciler/reconciler.h"

#include <string.h>
#include <time.h>

enum {
    LOG_MAX_BYTES = 8 * 1024 * 1024,
    FOLLOW_MAX_BYTES = 256 * 1024, // of one look
};

static int read_since(const struct request *req, int64_t *out_since_ms, struct error *err)
{
    const char *since = request_query(req, "since");
    int64_t age_ms;
    *out_since_ms = 0;
    if (!since)
        return 0;
    if (strlen(since) > 10 && since[4] == '-') // the document's pattern leaves these two forms
        return timestamp_parse(since, out_since_ms, err) < 0 ? error_prefix(err, "since: ") : 0;
    if (duration_parse(since, &age_ms, err) < 0)
        return error_prefix(err, "since: ");
    *out_since_ms = age_ms < req->received_ms ? req->received_ms - age_ms : 1;
    return 0;
}

static int check_container(const struct request *req, const struct workload_state *state, struct error *err)
{
    const char *container = request_query(req, "container");
    if (container && strcmp(container, state->name) != 0)
        return error_set(err, ERROR_NOT_FOUND, "container %.60s: the pods have one, %s", container, state->name);
    return 0;
}

static void wait_a_second(struct response *res)
{
    for (int i = 0; i < 10 && !response_stream_is_over(res); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000000L}, NULL);
}

static int follow(struct request *req, struct response *res, struct reconciler_log_request *log, struct error *err)
{
    struct buffer lines;
    bool has_ended = false;
    int rc = -1;
    buffer_init(&lines, 0);
    log->max_bytes = FOLLOW_MAX_BYTES;
    // Before the head goes out, so that an unknown pod is still a 404.
    if (reconciler_read_logs(req->server->reconciler, log, &lines, &log->position, &has_ended, err) < 0 ||
        response_stream_begin(res, "text/plain; charset=utf-8", err) < 0)
        goto done;
    log->tail = -1;
    rc = 0;
    for (;;) {
        bool had_lines = lines.length > 0;
        if (had_lines && response_stream_write(res, lines.data, lines.length) < 0)
            break;
        buffer_clear(&lines);
        if ((has_ended && !had_lines) || response_stream_is_over(res))
            break;
        if (!had_lines)
            wait_a_second(res);
        if (reconciler_read_logs(req->server->reconciler, log, &lines, &log->position, &has_ended, err) < 0) {
            rc = -1;
            break;
        }
    }
done:
    buffer_done(&lines);
    return rc;
}

int op_get_workload_logs(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    int64_t since_ms;
    bool is_attached = request_query_boolean(req, "attach"); // writes an event: not for who may only read
    if (workload_of_path(req, &KIND_ANY, is_attached ? ACTION_UPDATE : ACTION_READ, &state, err) < 0 ||
        check_container(req, &state, err) < 0 || read_since(req, &since_ms, err) < 0)
        return -1;
    int64_t limit = request_query_integer(req, "limitBytes", LOG_MAX_BYTES);
    struct reconciler_log_request log = {
        .workload_id = state.id,
        .pod_name = request_query(req, "pod"),
        .previous = request_query_boolean(req, "previous"),
        .since_ms = since_ms,
        .tail = request_query_integer(req, "tail", -1),
        .timestamps = request_query_boolean(req, "timestamps"),
        .max_bytes = limit < LOG_MAX_BYTES ? (size_t)limit : LOG_MAX_BYTES,
    };
    if (is_attached &&
        workload_record(req, &state, "Attached",
                        arena_printf(req->arena, "%s follows %s", req->caller->name, state.name), err) < 0)
        return -1;
    if (request_query_boolean(req, "follow") && !req->is_head)
        return follow(req, res, &log, err);
    bool has_ended;
    int64_t position;
    res->content_type = "text/plain; charset=utf-8";
    return reconciler_read_logs(req->server->reconciler, &log, res->body, &position, &has_ended, err);
}
