#include "api/audit/before.h"

#include "api/http/parameters.h"
#include "api/http/path.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/http/router.h"
#include "base/buffer.h"
#include "base/error.h"

#include <string.h>

enum {
    BEFORE_MAX_BYTES = 1 << 20
};

static json_t *ask(const struct request *req, const struct operation *get, const struct path *path)
{
    struct request question = *req;
    struct buffer body, headers;
    struct error err = {0};
    json_t *found = NULL;
    question.operation = get;
    question.audit = NULL;
    question.body = NULL;
    question.values = NULL;
    question.value_count = 0;
    question.filters = NULL;
    question.filter_count = 0;
    buffer_init(&body, BEFORE_MAX_BYTES);
    buffer_init(&headers, 0);
    struct response answer = {.status = get->success_status,
                              .body = &body,
                              .headers = &headers,
                              .content_type = "application/json",
                              .request = &question};
    if (parameters_read(&question, path, NULL, &err) == 0 && get->handler(&question, &answer, &err) == 0 &&
        answer.status < 400 && !body.overflow && body.length > 0)
        found = json_loadb(body.data, body.length, 0, NULL);
    buffer_done(&body);
    buffer_done(&headers);
    return found;
}

// Of a list the element that the body names.
static json_t *pick(json_t *stolen_list, const json_t *body)
{
    static const char *const KEYS[] = {"key", "id", "name"};
    json_t *found = NULL, *element;
    size_t i;
    json_array_foreach(stolen_list, i, element) {
        for (size_t k = 0; !found && k < sizeof(KEYS) / sizeof(KEYS[0]); k++) {
            const json_t *wanted = json_object_get(body, KEYS[k]);
            if (wanted && json_equal(wanted, json_object_get(element, KEYS[k])))
                found = json_incref(element);
        }
    }
    json_decref(stolen_list);
    return found;
}

// PUT .../projects/7/resources changes a part of .../projects/7.
static json_t *ask_whole(const struct request *req, const struct path *path)
{
    struct path whole = *path;
    const char *part = path->segments[path->count - 1];
    whole.count--;
    const struct route *route = router_find(&whole);
    const struct operation *get = route ? router_operation(route, HTTP_METHOD_GET) : NULL;
    json_t *found = get && strchr(get->path, '{') ? ask(req, get, &whole) : NULL;
    json_t *inner = json_incref(json_object_get(found, part));
    json_decref(found);
    return inner;
}

json_t *before_read(const struct request *req, const struct route *route, const struct path *path)
{
    const struct operation *get = router_operation(route, HTTP_METHOD_GET);
    enum http_method method = req->operation->method;
    if (method == HTTP_METHOD_POST || method == HTTP_METHOD_GET || path->count < 2)
        return NULL;
    if (!get)
        return ask_whole(req, path);
    bool is_one = strchr(get->path, '{'); // else the body says which of a list, and a deletion has none
    if (get->is_stream || (!is_one && method == HTTP_METHOD_DELETE))
        return NULL;
    json_t *found = ask(req, get, path);
    return json_is_array(found) ? pick(found, req->body) : found;
}

json_t *before_read_made(const struct request *req, const struct path *path, const char *id)
{
    struct path made = *path;
    if (!*id || path->count >= PATH_SEGMENT_MAX)
        return NULL;
    made.segments[made.count++] = id;
    const struct route *route = router_find(&made);
    const struct operation *get = route ? router_operation(route, HTTP_METHOD_GET) : NULL;
    return get && !get->is_stream ? ask(req, get, &made) : NULL;
}
