#include "api/http/body.h"
#include "api/http/validate.h"
#include "api/identity.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/places.h"
#include "base/timestamp.h"
#include <civetweb.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum {
    BODY_DEADLINE_MS = 10000,
    BODY_BYTES_PER_SECOND = 65536,
    PIECE_BYTES = 4096, // that come within PIECE_MS, or the body is too slow
    PIECE_MS = 5000,
    STRANGERS_BODY_BYTES = 16384
};

// Reads up to size bytes, each piece within its time, all before until_us. Returns how many, less where the body ended;
// -1: broken.
static int64_t read_in_time(struct exchange *exchange, char *text, size_t size, int64_t until_us, bool *out_is_late)
{
    struct deadlines *deadlines = exchange->server->core->deadlines;
    size_t length = 0;
    while (length < size) {
        size_t wanted = size - length < PIECE_BYTES ? size - length : PIECE_BYTES;
        int64_t left_ms = (until_us - timestamp_monotonic_us()) / 1000;
        left_ms = left_ms < 1 ? 1 : left_ms < PIECE_MS ? left_ms : PIECE_MS;
        size_t slot = deadlines_begin(deadlines, &exchange->ends, left_ms, DEADLINE_ENDS_READING);
        int got = mg_read(exchange->connection, text + length, wanted);
        *out_is_late = deadlines_end(deadlines, slot);
        if (got < 0)
            return -1;
        length += (size_t)got;
        if ((size_t)got < wanted)
            break;
    }
    return (int64_t)length;
}

static bool has_media_type(const char *content_type, const char *wanted)
{
    size_t length = strlen(wanted);
    return strncasecmp(content_type, wanted, length) == 0 && strchr(" \t;", content_type[length]);
}

static int check_media_type(const struct exchange *exchange, struct error *err)
{
    const char *content_type = request_header(&exchange->request, "Content-Type");
    bool is_form = exchange->request.operation->body == OPERATION_BODY_FORM;
    const char *wanted = is_form ? "application/x-www-form-urlencoded" : "application/json";
    if (!content_type || has_media_type(content_type, wanted))
        return 0;
    return error_set(err, ERROR_MEDIA_TYPE, "Content-Type: expected %s, got %.80s", wanted, content_type);
}

// So many bytes of the body are in memory from now on. Of who is not known little is taken in at all.
static int hold_bytes(struct exchange *exchange, size_t bytes, struct error *err)
{
    const struct identity *caller = exchange->request.caller;
    if (!caller && bytes > STRANGERS_BODY_BYTES)
        return error_set(err, ERROR_TOO_LARGE, "body: at most %d bytes without a token", STRANGERS_BODY_BYTES);
    if (!caller)
        return 0;
    if (shares_hold_body(exchange->server->core->shares, (int)caller->type, caller->subject_id, bytes,
                         &exchange->held_body, err) == 0)
        return 0;
    place_book_refuse(&exchange->server->places, PLACE_BODIES, caller->subject_uuid, 1);
    return -1;
}

// Reads into the arena; a chunked body grows there. *out_length is short when the connection ended early.
static int read_bytes(struct exchange *exchange, int64_t until_us, char **out_text, size_t *out_length,
                      bool *out_is_late, struct error *err)
{
    size_t max = (size_t)exchange->server->core->body_max_bytes;
    size_t wanted = exchange->framing.is_chunked ? PIECE_BYTES : (size_t)exchange->framing.length;
    size_t capacity = 0, length = 0;
    char *text = NULL;
    for (;;) {
        if (hold_bytes(exchange, length + wanted, err) < 0)
            return -1;
        text = arena_grow(&exchange->arena, text, &capacity, length + wanted + 1, 1);
        int64_t got = read_in_time(exchange, text + length, wanted, until_us, out_is_late);
        if (got < 0)
            return error_set(err, ERROR_INVALID, "body: %s",
                             exchange->framing.is_chunked ? "a broken chunk" : "the connection failed");
        length += (size_t)got;
        if (length > max)
            return error_set(err, ERROR_TOO_LARGE, "body: at most %zu bytes", max);
        if (!exchange->framing.is_chunked || got == 0)
            break;
    }
    text[length] = '\0';
    *out_text = text;
    *out_length = length;
    return 0;
}

static int receive(struct exchange *exchange, struct error *err)
{
    static const char GO_ON[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct server_core *core = exchange->server->core;
    int64_t size = exchange->framing.is_chunked ? core->body_max_bytes : exchange->framing.length;
    int64_t wait_ms = BODY_DEADLINE_MS + size * 1000 / BODY_BYTES_PER_SECOND;
    char *text = NULL;
    size_t length = 0;
    bool is_late = false;
    if (!exchange->framing.is_chunked && hold_bytes(exchange, (size_t)size, err) < 0)
        return -1;
    if (exchange->framing.expects_continue)
        mg_write(exchange->connection, GO_ON, sizeof(GO_ON) - 1);
    worker_enter(exchange->worker, WORKER_BODY);
    int rc = read_bytes(exchange, timestamp_monotonic_us() + wait_ms * 1000, &text, &length, &is_late, err);
    bool was_cut = worker_was_cut(exchange->worker);
    worker_enter(exchange->worker, WORKER_REQUEST);
    if (is_late) {
        http_metrics_deadline_passed(core->metrics);
        return error_set(err, ERROR_TIMEOUT, "body: it came too slowly");
    }
    if (was_cut && rc == 0 && (exchange->framing.is_chunked || (int64_t)length < exchange->framing.length))
        return error_set(err, ERROR_TIMEOUT, "body: it came too slowly while others waited for a connection");
    if (rc < 0)
        return -1;
    if (!exchange->framing.is_chunked && (int64_t)length < exchange->framing.length)
        return error_set(err, ERROR_INVALID, "body: ended after %zu of %" PRId64 " bytes", length,
                         exchange->framing.length);
    exchange->body_was_read = true;
    exchange->request.body_text = text;
    exchange->request.body_size = length;
    return 0;
}

static int parse(struct exchange *exchange, struct error *err)
{
    struct request *req = &exchange->request;
    const struct operation *operation = req->operation;
    if (operation->body == OPERATION_BODY_FORM) {
        if (strlen(req->body_text) != req->body_size)
            return error_set(err, ERROR_INVALID, "body: a NUL byte");
        return 0;
    }
    if (json_reader_parse(req->body_text, req->body_size, &req->body, err) < 0)
        return error_prefix(err, "body: ");
    if (operation->body == OPERATION_BODY_JSON && operation->body_schema)
        return validate_body(operation->body_schema, req->body, err);
    return 0;
}

int body_read(struct exchange *exchange, struct error *err)
{
    const struct operation *operation = exchange->request.operation;
    if (operation->body == OPERATION_BODY_NONE)
        return 0;
    if (exchange->framing.has_body && (check_media_type(exchange, err) < 0 || receive(exchange, err) < 0))
        return -1;
    if (exchange->request.body_size == 0)
        return operation->body_required ? error_set(err, ERROR_INVALID, "body: required") : 0;
    return parse(exchange, err);
}
