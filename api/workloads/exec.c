// Shells in pods: POST /workloads/{id}/exec opens one, GET .../exec/{session} streams what it says, POST .../input
// brings what it is told, DELETE hangs up. What is streamed are frames. A connection to a port of a pod
// (port_forward.c) goes on as a session does.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/response_stream.h"
#include "api/http/exec_sessions.h"
#include "api/http/request.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/frames.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/places.h"
#include "base/timestamp.h"
#include "reconciler/reconciler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FRAME_MAX = 16384,
    LOOK_MS = 500,
    INPUT_MS = 10000,
    WORDS_MAX = 256,
    ROWS_DEFAULT = 24,
    COLUMNS_DEFAULT = 80
};

static uint16_t size_of(const json_t *body, const char *key, uint16_t fallback)
{
    json_int_t value = json_integer_value(json_object_get(body, key));
    return value > 0 ? (uint16_t)value : fallback;
}

// On disk before anything is started: nobody enters a pod unseen.
static int record(struct request *req, const struct workload_state *workload, const char *pod, const char *word,
                  struct error *err)
{
    const char *where = pod ? pod : arena_printf(req->arena, "a pod of %s", workload->name);
    log_write(LOG_INFO, "api", "exec workload=%s user=\"%s\"", workload->uuid, req->caller->name);
    return workload_record(req, workload, "Exec",
                           arena_printf(req->arena, "%s runs %.80s in %s", req->caller->name, word, where), err);
}

int op_create_exec_session(struct request *req, struct response *res, struct error *err)
{
    struct workload_state workload;
    struct reconciler_session opened;
    const json_t *command = json_object_get(req->body, "command");
    const char *words[WORDS_MAX + 1] = {NULL};
    for (size_t i = 0; i < json_array_size(command) && i < WORDS_MAX; i++)
        words[i] = json_string_value(json_array_get(command, i));
    if (!words[0] || !words[0][0])
        return error_set(err, ERROR_INVALID, "command: at least one word");
    if (workload_of_path(req, &KIND_ANY, ACTION_UPDATE, &workload, err) < 0)
        return -1;
    struct reconciler_caller caller;
    if (workload_check_person(req, &workload, &caller, err) < 0)
        return -1;
    struct reconciler_session_request request = {
        .workload_id = workload.id,
        .pod_name = json_string_value(json_object_get(req->body, "pod")),
        .words = words,
        .has_terminal = json_is_true(json_object_get(req->body, "terminal")),
        .rows = size_of(req->body, "rows", ROWS_DEFAULT),
        .columns = size_of(req->body, "columns", COLUMNS_DEFAULT),
        .caller = caller,
    };
    struct exec_sessions *sessions = req->server->exec_sessions;
    struct place_claim claim = access_place_claim(req->caller, -1);
    int place;
    if (exec_sessions_take(sessions, PLACE_SHELLS, &claim, &place, err) < 0)
        return -1;
    if (record(req, &workload, request.pod_name, words[0], err) < 0 ||
        reconciler_open_session(req->server->reconciler, &request, req->arena, &opened, err) < 0) {
        exec_sessions_leave(sessions, PLACE_SHELLS, place);
        return -1;
    }
    struct exec_session session = {.workload_id = workload.id,
                                   .kind = PLACE_SHELLS,
                                   .place = place,
                                   .has_terminal = request.has_terminal,
                                   .input_fd = opened.input_fd,
                                   .output_fd = opened.output_fd,
                                   .error_fd = opened.error_fd,
                                   .control_fd = opened.control_fd};
    char id[UUID_SIZE];
    snprintf(session.owner, sizeof(session.owner), "%s", req->caller->subject_uuid);
    fcntl(session.input_fd, F_SETFL, O_NONBLOCK);
    exec_sessions_add(sessions, &session, id);
    return response_json(res, json_pack("{s:s, s:s}", "sessionId", id, "pod", opened.pod_name));
}

static int hold(struct request *req, struct exec_session **out_session, struct error *err)
{
    struct workload_state workload;
    if (workload_of_path(req, &KIND_ANY, ACTION_UPDATE, &workload, err) < 0)
        return -1;
    return exec_sessions_hold(req->server->exec_sessions, request_path(req, "sessionId"), req->caller->subject_uuid,
                              workload.id, out_session, err);
}

struct reading {
    struct response *res;
    struct exec_session *session;
    char *frame; // FRAME_HEAD + FRAME_MAX
    int64_t written_us;
    bool is_gone; // the client
};

static void send_frame(struct reading *reading, char kind, size_t length)
{
    frame_write_head(kind, length, reading->frame);
    reading->written_us = timestamp_monotonic_us();
    if (response_stream_write(reading->res, reading->frame, FRAME_HEAD + length) < 0)
        reading->is_gone = true;
}

// False when nothing more will come. A terminal whose last process is gone answers with an error.
static bool pass_on(struct reading *reading, int fd, char kind)
{
    ssize_t length = read(fd, reading->frame + FRAME_HEAD, FRAME_MAX);
    if (length > 0)
        send_frame(reading, kind, (size_t)length);
    return length > 0 || (length < 0 && (errno == EINTR || errno == EAGAIN));
}

// What is still there when the process is over; what it left behind may hold the other end, and is not waited for.
static void drain(struct reading *reading, int fd, char kind)
{
    struct pollfd rest = {.fd = fd, .events = POLLIN};
    while (fd >= 0 && !reading->is_gone && poll(&rest, 1, 0) == 1 && (rest.revents & POLLIN) &&
           pass_on(reading, fd, kind)) {
    }
}

static void finish(struct reading *reading, int output_fd, int error_fd)
{
    drain(reading, output_fd, '1');
    drain(reading, error_fd, '2');
    ssize_t length = recv(reading->session->control_fd, reading->frame + FRAME_HEAD, FRAME_MAX, MSG_DONTWAIT);
    if (length <= 0)
        length = snprintf(reading->frame + FRAME_HEAD, FRAME_MAX, "137 the pod is over");
    send_frame(reading, 'x', (size_t)length);
}

// True when the session is over.
static bool stream(struct reading *reading)
{
    const struct exec_session *session = reading->session;
    struct pollfd fds[] = {{.fd = session->output_fd, .events = POLLIN},
                           {.fd = session->error_fd, .events = POLLIN},
                           {.fd = session->control_fd, .events = POLLIN}};
    while (!reading->is_gone && !response_stream_is_over(reading->res)) {
        if (poll(fds, 3, LOOK_MS) < 0)
            continue;
        if (fds[0].revents && !pass_on(reading, fds[0].fd, '1'))
            fds[0].fd = -1;
        if (session->kind == PLACE_FORWARDS && fds[0].fd < 0) {
            static const char END[] = "0 ";
            memcpy(reading->frame + FRAME_HEAD, END, strlen(END));
            send_frame(reading, 'x', strlen(END));
            return true;
        }
        if (fds[1].revents && !pass_on(reading, fds[1].fd, '2'))
            fds[1].fd = -1;
        if (fds[2].revents) {
            finish(reading, fds[0].fd, fds[1].fd);
            return true;
        }
        if (timestamp_monotonic_us() - reading->written_us > FRAME_HEARTBEAT_MS * 1000LL)
            send_frame(reading, ' ', 0);
    }
    return reading->is_gone || response_stream_is_gone(reading->res);
}

// Whether the stream ended because the caller may no longer do this.
static bool has_lost_it(struct request *req)
{
    struct workload_state workload;
    return workload_of_path(req, &KIND_ANY, ACTION_UPDATE, &workload, NULL) < 0;
}

int op_get_exec_output(struct request *req, struct response *res, struct error *err)
{
    struct exec_sessions *sessions = req->server->exec_sessions;
    struct reading reading = {.res = res, .written_us = timestamp_monotonic_us()};
    if (hold(req, &reading.session, err) < 0)
        return -1;
    if (!exec_sessions_read(sessions, reading.session)) {
        exec_sessions_give_back(sessions, reading.session);
        return error_set(err, ERROR_CONFLICT, "the session is read already");
    }
    int rc = response_stream_begin(res, "application/octet-stream", err);
    if (rc == 0) {
        reading.frame = arena_alloc(req->arena, FRAME_HEAD + FRAME_MAX);
        if (stream(&reading) || has_lost_it(req))
            exec_sessions_end(sessions, reading.session);
    }
    exec_sessions_stop_reading(sessions, reading.session);
    exec_sessions_give_back(sessions, reading.session);
    return rc;
}

// *out_taken < length: the command did not read for INPUT_MS.
static int write_input(struct exec_session *session, const unsigned char *data, size_t length, size_t *out_taken,
                       struct error *err)
{
    struct pollfd wanted = {.fd = session->input_fd, .events = POLLOUT};
    size_t done = 0;
    while (done < length) {
        ssize_t written = session->input_fd < 0 ? -1 : write(session->input_fd, data + done, length - done);
        if (written > 0)
            done += (size_t)written;
        else if (session->input_fd < 0 || (errno != EAGAIN && errno != EINTR))
            return error_set(err, ERROR_CONFLICT, "the session takes no more input");
        else if (poll(&wanted, 1, INPUT_MS) == 0)
            break;
    }
    *out_taken = done;
    return 0;
}

// The end of the input: of a terminal as its user would give it; of a connection, whose other direction goes on.
static void close_input(struct exec_session *session)
{
    static const char END_OF_TRANSMISSION = 4;
    if (session->has_terminal) {
        (void)!write(session->input_fd, &END_OF_TRANSMISSION, 1);
    } else if (session->input_fd >= 0) {
        if (session->kind == PLACE_FORWARDS)
            (void)shutdown(session->input_fd, SHUT_WR);
        close(session->input_fd);
        session->input_fd = -1;
    }
}

int op_create_exec_input(struct request *req, struct response *res, struct error *err)
{
    struct exec_session *session;
    size_t length = 0;
    const char *text = json_string_value(json_object_get(req->body, "data"));
    size_t size = text ? strlen(text) : 0;
    unsigned char *data = arena_alloc(req->arena, size + 1);
    if (sodium_base642bin(data, size + 1, text ? text : "", size, NULL, &length, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        return error_set(err, ERROR_INVALID, "data: expected base64");
    if (hold(req, &session, err) < 0)
        return -1;
    pthread_mutex_lock(&session->input_lock);
    struct winsize window = {.ws_row = size_of(req->body, "rows", 0), .ws_col = size_of(req->body, "columns", 0)};
    if (session->has_terminal && window.ws_row && window.ws_col)
        (void)ioctl(session->input_fd, TIOCSWINSZ, &window);
    size_t taken = 0;
    int rc = write_input(session, data, length, &taken, err);
    if (rc == 0 && taken < length && !json_is_true(json_object_get(req->body, "partial")))
        rc = error_set(err, ERROR_UNAVAILABLE, "the command does not read its input: %zu bytes were taken", taken);
    if (rc == 0 && taken == length && json_is_true(json_object_get(req->body, "close")))
        close_input(session);
    pthread_mutex_unlock(&session->input_lock);
    exec_sessions_give_back(req->server->exec_sessions, session);
    if (rc < 0)
        return -1;
    if (taken == length)
        return response_empty(res, 204);
    res->status = 200;
    return response_json(res, json_pack("{s:I}", "taken", (json_int_t)taken));
}

int op_delete_exec_session(struct request *req, struct response *res, struct error *err)
{
    struct exec_session *session;
    if (hold(req, &session, err) < 0)
        return -1;
    exec_sessions_end(req->server->exec_sessions, session);
    exec_sessions_give_back(req->server->exec_sessions, session);
    return response_empty(res, 204);
}
