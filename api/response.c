#include "api/response.h"
#include "api/answer.h"
#include "api/authenticate.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include <assert.h>
#include <string.h>

enum {
    STREAM_LIFE_MS = 300000,
    CALLER_CHECK_MS = 500
};

static int append_json(const char *text, size_t size, void *body)
{
    buffer_append(body, text, size);
    return 0;
}

int response_json(struct response *res, json_t *stolen_value)
{
    buffer_clear(res->body);
    res->content_type = "application/json";
    int failed = json_dump_callback(stolen_value, append_json, res->body,
                                    JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    assert(!failed); // text in jansson's values is UTF-8
    json_decref(stolen_value);
    return 0;
}

int response_text(struct response *res, const char *content_type, const char *text, size_t size)
{
    buffer_clear(res->body);
    res->content_type = content_type;
    buffer_append(res->body, text, size);
    return 0;
}

int response_message(struct response *res, int status, const char *message)
{
    struct json_writer json;
    buffer_clear(res->body);
    res->status = status;
    res->content_type = "application/json";
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_int(&json, "code", status);
    json_text(&json, "message", message);
    json_end_object(&json);
    return 0;
}

int response_empty(struct response *res, int status)
{
    buffer_clear(res->body);
    res->status = status;
    return 0;
}

void response_header(struct response *res, const char *name, const char *value)
{
    assert(!strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
    buffer_printf(res->headers, "%s: %s\r\n", name, value);
}

int response_error_json(struct response *res, int status, json_t *stolen_value)
{
    res->status = status;
    return response_json(res, stolen_value);
}

int response_stream_begin(struct response *res, const char *content_type, struct error *err)
{
    struct exchange *exchange = res->request->exchange;
    struct stream_places *places = &exchange->server->core->streams;
    if (stream_places_take(places, exchange->request.caller, &exchange->stream_place, err) < 0)
        return -1;
    exchange->holds_stream = true;
    worker_enter(exchange->worker, WORKER_STREAM);
    exchange_end_reading(exchange);
    exchange->caller_checked_us = timestamp_monotonic_us();
    exchange->stream_ends_us = exchange->caller_checked_us + STREAM_LIFE_MS * 1000LL;
    res->is_streaming = true;
    answer_stream_head(exchange, content_type);
    return 0;
}

int response_stream_write(struct response *res, const char *text, size_t size)
{
    struct exchange *exchange = res->request->exchange;
    if (exchange->request.is_head || exchange->is_revoked || atomic_load(&exchange->server->is_stopping))
        return -1;
    return size == 0 ? 0 : answer_write(exchange, text, size);
}

bool response_stream_is_revoked(struct response *res)
{
    struct exchange *exchange = res->request->exchange;
    if (!exchange->is_revoked) {
        exchange->caller_checked_us = timestamp_monotonic_us();
        exchange->is_revoked = !authenticate_again(&exchange->request);
    }
    return exchange->is_revoked;
}

bool response_stream_is_over(struct response *res)
{
    const struct exchange *exchange = res->request->exchange;
    int64_t now_us = timestamp_monotonic_us();
    if (atomic_load(&exchange->server->is_stopping) || now_us >= exchange->stream_ends_us)
        return true;
    if (now_us - exchange->caller_checked_us < CALLER_CHECK_MS * 1000LL)
        return exchange->is_revoked;
    return response_stream_is_revoked(res);
}
