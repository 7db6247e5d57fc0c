#include "api/http/answer.h"
#include "api/http/packing.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/log.h"
#include <civetweb.h>
#include <string.h>
#include <time.h>

enum {
    RESPONSE_DEADLINE_MS = 30000, // of a part
    PART_BYTES = 4 << 20,         // a slow line has a deadline for each
    LARGE_BYTES = 256 << 10,      // is not copied behind its head
};

static const char *const POLICIES[] = {
    [ANSWER_POLICY_DATA] = "default-src 'none'; frame-ancestors 'none'",
    [ANSWER_POLICY_PAGE] =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    // Swagger UI sets style attributes and shows its icons from data: addresses.
    [ANSWER_POLICY_DOCS] =
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'",
};

const char *answer_reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 201:
        return "Created";
    case 202:
        return "Accepted";
    case 204:
        return "No Content";
    case 207:
        return "Multi-Status";
    case 304:
        return "Not Modified";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 411:
        return "Length Required";
    case 412:
        return "Precondition Failed";
    case 413:
        return "Content Too Large";
    case 415:
        return "Unsupported Media Type";
    case 422:
        return "Unprocessable Content";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return status < 500 ? "Other" : "Internal Server Error";
    }
}

static void append_date(struct buffer *out)
{
    char text[40];
    struct tm parts;
    time_t now = time(NULL);
    gmtime_r(&now, &parts);
    strftime(text, sizeof(text), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    buffer_text(out, text);
}

static bool has_header(const struct exchange *exchange, const char *name)
{
    return exchange->headers.data && strcasestr(exchange->headers.data, name);
}

static void append_head(struct exchange *exchange, int status, const char *content_type, enum answer_policy policy,
                        struct buffer *out)
{
    buffer_printf(out, "HTTP/1.1 %d %s\r\n", status, answer_reason(status));
    append_date(out);
    if (content_type)
        buffer_printf(out, "Content-Type: %s\r\n", content_type);
    if (!has_header(exchange, "Cache-Control:"))
        buffer_text(out, "Cache-Control: no-store\r\n");
    buffer_printf(out,
                  "Content-Security-Policy: %s\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                  "Referrer-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                  "Cross-Origin-Opener-Policy: same-origin\r\n",
                  POLICIES[policy]);
    if ((status == 503 || status == 429) && !has_header(exchange, "Retry-After:"))
        buffer_text(out, "Retry-After: 1\r\n");
    buffer_append(out, exchange->headers.data, exchange->headers.length);
    if (exchange->must_close)
        buffer_text(out, "Connection: close\r\n");
    else
        buffer_printf(out, "Connection: keep-alive\r\nKeep-Alive: timeout=%d\r\n", CONNECTION_KEPT_S);
}

// Every answer before the body was read in full closes: civetweb would wait for the rest of it.
static void settle_connection(struct exchange *exchange)
{
    if (exchange->framing.has_body && !exchange->body_was_read)
        exchange->must_close = true;
    if (!exchange->framing.keeps_alive)
        exchange->must_close = true;
    if (exchange->must_close)
        mg_disable_keep_alive(exchange->connection);
}

int answer_write(struct exchange *exchange, const void *data, size_t size)
{
    struct server_core *core = exchange->server->core;
    size_t slot = deadlines_begin(core->deadlines, &exchange->ends, RESPONSE_DEADLINE_MS, DEADLINE_ENDS_ALL);
    enum worker_state before = exchange->holds_stream ? WORKER_STREAM : worker_enter(exchange->worker, WORKER_ANSWER);
    int written = mg_write(exchange->connection, data, size);
    worker_enter(exchange->worker, before);
    if (deadlines_end(core->deadlines, slot))
        http_metrics_deadline_passed(core->metrics);
    if (written < 0 || (size_t)written != size) {
        exchange->must_close = true;
        mg_disable_keep_alive(exchange->connection);
        return -1;
    }
    exchange->sent_bytes += size;
    return 0;
}

void answer_send(struct exchange *exchange, enum answer_policy policy)
{
    struct response *res = &exchange->response;
    if (exchange->body.overflow) {
        log_write(LOG_ERROR, "api", "answer too large request=%s", exchange->request.id);
        buffer_clear(&exchange->body);
        struct error err = {0};
        error_set(&err, ERROR_INTERNAL, "the answer is too large");
        answer_error(exchange, &err);
        return;
    }
    struct buffer out;
    buffer_init(&out, 0);
    settle_connection(exchange);
    if (packing_suits(exchange)) {
        response_header(res, "Vary", "Accept-Encoding");
        packing_apply(exchange);
    }
    bool has_no_body = res->status == 204 || res->status == 304;
    const void *body = exchange->lasting.data ? exchange->lasting.data : exchange->body.data;
    size_t length = exchange->lasting.data ? exchange->lasting.length : exchange->body.length;
    append_head(exchange, res->status, length > 0 && !has_no_body ? res->content_type : NULL, policy, &out);
    if (!has_no_body)
        buffer_printf(&out, "Content-Length: %zu\r\n", length);
    buffer_text(&out, "\r\n");
    bool has_body = !exchange->request.is_head && !has_no_body;
    bool is_large = has_body && length >= LARGE_BYTES;
    if (has_body && !is_large)
        buffer_append(&out, body, length);
    exchange->status = res->status;
    int rc = answer_write(exchange, out.data, out.length);
    for (size_t at = 0; rc == 0 && is_large && at < length; at += PART_BYTES)
        rc = answer_write(exchange, (const char *)body + at, length - at < PART_BYTES ? length - at : PART_BYTES);
    buffer_done(&out);
}

void answer_error(struct exchange *exchange, const struct error *err)
{
    struct response *res = &exchange->response;
    struct json_writer json;
    int status = error_status(err->code);
    buffer_clear(&exchange->body);
    exchange->lasting = (struct lasting_body){0};
    json_writer_init(&json, &exchange->body, false);
    json_begin_object(&json);
    json_int(&json, "code", status);
    if (status == 500) {
        json_text(&json, "message", "internal error");
        json_text(&json, "details", exchange->request.id);
        log_write(LOG_ERROR, "api", "%s request=%s", err->message, exchange->request.id);
    } else {
        json_text(&json, "message", err->message);
        if (err->details[0])
            json_text(&json, "details", err->details);
        if (status == 400 && exchange->request.compliance_json)
            json_raw(&json, "complianceIssues", exchange->request.compliance_json);
    }
    json_end_object(&json);
    res->status = status;
    res->content_type = "application/json";
    if (status == 401)
        response_header(res, "WWW-Authenticate", "Bearer");
    answer_send(exchange, ANSWER_POLICY_DATA);
}

int answer_stream_head(struct exchange *exchange, const char *content_type)
{
    struct buffer out;
    buffer_init(&out, 0);
    exchange->must_close = true;
    settle_connection(exchange);
    append_head(exchange, 200, content_type, ANSWER_POLICY_DATA, &out);
    buffer_text(&out, "X-Accel-Buffering: no\r\n\r\n"); // a proxy in front passes each piece on
    exchange->status = 200;
    int rc = answer_write(exchange, out.data, out.length);
    buffer_done(&out);
    return rc;
}
