#include "api/http/response.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include <assert.h>
#include <string.h>

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
