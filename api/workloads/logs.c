// GET /workloads/{id}/logs: what a pod printed. Following polls the reconciler each second. It goes on with the pod
// that takes the place of one that has ended, until the workload is over. To who asks for frames each piece of the log
// says its place, POD.POSITION, from which a further request goes on; to others an answer that breaks off says so in a
// last line, and is not whole as HTTP has it.
#include "api/access/authenticate.h"
#include "api/access/response_stream.h"
#include "api/http/request.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/frames.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "model/phase.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LOG_MAX_BYTES = 8 * 1024 * 1024,
    FOLLOW_MAX_BYTES = 256 * 1024, // of one look
    PLACE_SIZE = UUID_SIZE + 24
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

struct following {
    struct request *req;
    struct response *res;
    struct reconciler_log_request *log;
    struct reconciler_log_pod pod; // whose log it is at present
    struct arena arena;            // of a look
    struct buffer lines, piece;
    int64_t written_us;
    bool is_framed;
    bool ends_with_pod;
    bool has_ended; // the log of the pod
    bool in_line;
};

static void make_frame(struct following *following, char kind, const char *place, const char *data, size_t length)
{
    struct buffer *piece = &following->piece;
    char head[FRAME_HEAD];
    frame_write_head(kind, strlen(place) + length, head);
    buffer_clear(piece);
    buffer_append(piece, head, FRAME_HEAD);
    buffer_text(piece, place);
    buffer_append(piece, data, length);
}

static bool send_piece(struct following *following, char kind, bool has_place, const char *data, size_t length)
{
    const struct buffer *piece = &following->piece;
    char place[PLACE_SIZE] = "";
    if (!following->is_framed)
        return response_stream_write(following->res, data, length) == 0;
    following->written_us = timestamp_monotonic_us();
    if (has_place)
        snprintf(place, sizeof(place), "%s.%" PRId64 "\n", following->pod.uuid, following->log->position);
    make_frame(following, kind, place, data, length);
    return response_stream_write(following->res, piece->data, piece->length) == 0;
}

static bool send_lines(struct following *following)
{
    struct buffer *lines = &following->lines;
    if (lines->length > 0)
        following->in_line = lines->data[lines->length - 1] != '\n';
    return send_piece(following, 'l', true, lines->data, lines->length);
}

// The log goes on, the answer does not.
static void break_off(struct following *following, const char *why)
{
    buffer_clear(&following->piece);
    if (following->is_framed) {
        make_frame(following, '2', "", why, strlen(why));
    } else {
        buffer_printf(&following->piece, "%s[the log goes on, this answer breaks off: %s]\n",
                      following->in_line ? "\n" : "", why);
    }
    response_stream_write_last(following->res, following->piece.data, following->piece.length);
}

static void end(struct following *following)
{
    static const char WELL[] = "0 ";
    if (!following->is_framed || send_piece(following, 'x', false, WELL, strlen(WELL)))
        response_stream_end(following->res);
}

static bool wait_a_second(struct following *following)
{
    for (int i = 0; i < 10 && !response_stream_is_over(following->res); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000000L}, NULL);
    if (!following->is_framed || timestamp_monotonic_us() - following->written_us < FRAME_HEARTBEAT_MS * 1000LL)
        return true;
    return send_piece(following, ' ', false, NULL, 0);
}

static bool is_workload_over(struct following *following)
{
    struct workload_state state;
    struct db *db = following->req->server->db;
    struct db_conn *conn = db_acquire(db);
    int rc = db_find_workload(conn, request_path(following->req, "workloadId"), NULL, &following->arena, &state, NULL);
    db_give_back(db, conn);
    return rc < 0 || state.deleted_ms || phase_is_final(state.phase) || state.phase == PHASE_STOPPED;
}

// To the pod, from the beginning of its log.
static void turn_to(struct following *following, const struct reconciler_log_pod *pod)
{
    following->pod = *pod;
    following->log->pod_uuid = following->pod.uuid;
    following->log->position = 0;
    following->has_ended = false;
}

static bool tell_next(struct following *following, const char *before, const char *reason)
{
    const struct reconciler_log_pod *pod = &following->pod;
    const char *frame = following->is_framed ? "" : "[", *behind = following->is_framed ? "" : "]\n";
    const char *note = arena_printf(&following->arena, "%s%s%s ended%s%s; attempt %" PRId64 " is %s%s",
                                    following->in_line && !following->is_framed ? "\n" : "", frame, before,
                                    *reason ? ": " : "", reason, pod->attempt + 1, pod->name, behind);
    following->in_line = false;
    return send_piece(following, 'n', true, note, strlen(note));
}

enum next_step {
    NEXT_FAILED,
    NEXT_WAIT,
    NEXT_READ,
    NEXT_END
};

// What comes after a pod that has ended, and whose log was read.
static enum next_step go_on(struct following *following, struct error *err)
{
    struct reconciler_log_request *log = following->log;
    struct reconciler_log_pod next, last;
    if (following->ends_with_pod)
        return NEXT_END;
    bool is_over = is_workload_over(following);
    int found = reconciler_find_log_pod(following->req->server->reconciler, log, following->pod.uuid, &following->arena,
                                        &next, err);
    if (found < 0)
        return NEXT_FAILED;
    if (found == 0)
        return is_over ? NEXT_END : NEXT_WAIT;
    // Looked up again: how it ended was not known when it was found.
    if (reconciler_find_log_pod(following->req->server->reconciler, log, NULL, &following->arena, &last, err) <= 0)
        return NEXT_FAILED;
    if (log->pod_name && strcmp(log->pod_name, next.name) != 0)
        return NEXT_END;
    turn_to(following, &next);
    return tell_next(following, last.name, last.reason) ? NEXT_READ : NEXT_FAILED;
}

// Another pod may start in place of one that has not: until then it is looked up at each look. One that has started
// since the last look is stayed with: it may have failed meanwhile, and its next attempt may be there. Its log may be
// known before its start is.
static int choose_pod(struct following *following, struct error *err)
{
    struct reconciler_log_request *log = following->log, wanted = *log;
    struct reconciler *reconciler = following->req->server->reconciler;
    struct reconciler_log_pod pod;
    bool is_first = !following->pod.name[0];
    if (following->pod.has_started || (!is_first && log->position > 0))
        return 0;
    int found = reconciler_find_log_pod(reconciler, &wanted, NULL, &following->arena, &pod, err);
    if (!is_first && found >= 0 && !(found > 0 && pod.has_started)) {
        wanted.pod_uuid = NULL;
        found = reconciler_find_log_pod(reconciler, &wanted, NULL, &following->arena, &pod, err);
    }
    if (found < 0)
        return -1;
    if (found == 0)
        return error_set(err, ERROR_NOT_FOUND, "pod: the workload has no such pod");
    int64_t position = log->position;
    turn_to(following, &pod);
    log->position = position;
    return 0;
}

static int look(struct following *following, struct error *err)
{
    struct reconciler_log_request *log = following->log;
    buffer_clear(&following->lines);
    arena_clear(&following->arena);
    if (choose_pod(following, err) < 0)
        return -1;
    return reconciler_read_logs(following->req->server->reconciler, log, &following->lines, &log->position,
                                &following->has_ended, err);
}

// Until there is nothing more to come, or the stream has to break off: -1 then, with why in err; without a message
// where nobody is there to be told.
static int follow_pods(struct following *following, struct error *err)
{
    if (!send_lines(following)) // and the place where they end
        return -1;
    following->log->tail = -1;
    for (;;) {
        bool had_lines = following->lines.length > 0;
        if (response_stream_is_over(following->res))
            return -1;
        enum next_step step = had_lines ? NEXT_READ : NEXT_WAIT;
        if (!had_lines && following->has_ended)
            step = go_on(following, err);
        if (step == NEXT_END)
            return 0;
        if (step == NEXT_FAILED || (step == NEXT_WAIT && !wait_a_second(following)) || look(following, err) < 0)
            return -1;
        if (following->lines.length > 0 && !send_lines(following))
            return -1;
    }
}

static int follow(struct request *req, struct response *res, struct reconciler_log_request *log, bool ends_with_pod,
                  struct error *err)
{
    struct following following = {.req = req,
                                  .res = res,
                                  .log = log,
                                  .is_framed = request_query_boolean(req, "frames"),
                                  .ends_with_pod = ends_with_pod};
    struct error why = {0};
    buffer_init(&following.lines, 0);
    buffer_init(&following.piece, 0);
    arena_init(&following.arena);
    log->max_bytes = FOLLOW_MAX_BYTES;
    res->is_chunked = true;
    // Before the head goes out, so that an unknown pod is still a 404.
    int rc = look(&following, err);
    if (rc == 0)
        rc = response_stream_begin(res, following.is_framed ? "application/octet-stream" : "text/plain; charset=utf-8",
                                   err);
    if (rc == 0 && follow_pods(&following, &why) == 0)
        end(&following);
    else if (rc == 0)
        break_off(&following, why.code == ERROR_INTERNAL ? "an error"
                              : *why.message             ? why.message
                                                         : response_stream_reason(res));
    arena_done(&following.arena);
    buffer_done(&following.piece);
    buffer_done(&following.lines);
    return rc;
}

// "POD.POSITION" of a frame: after it.
static void read_place(struct request *req, struct reconciler_log_request *log)
{
    const char *place = request_query(req, "position");
    if (!place)
        return;
    const char *dot = strchr(place, '.'); // the document's pattern leaves this form
    log->pod_uuid = arena_strndup(req->arena, place, (size_t)(dot - place));
    log->position = strtoll(dot + 1, NULL, 10);
    log->tail = -1;
    log->since_ms = 0;
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
    read_place(req, &log);
    if (is_attached && !log.pod_uuid && // who comes again is known
        workload_record(req, &state, "Attached",
                        arena_printf(req->arena, "%s follows %s", req->caller->name, state.name), err) < 0)
        return -1;
    if (request_query_boolean(req, "follow") && !req->is_head)
        return follow(req, res, &log,
                      log.previous ||
                          (log.pod_name && strcmp(state.type, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED)) != 0),
                      err);
    bool has_ended;
    int64_t position;
    res->content_type = "text/plain; charset=utf-8";
    return reconciler_read_logs(req->server->reconciler, &log, res->body, &position, &has_ended, err);
}
