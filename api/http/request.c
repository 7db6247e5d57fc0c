#include "api/http/request.h"
#include "api/http/path.h"
#include "api/schema.h"
#include "base/arena.h"
#include <assert.h>
#include <civetweb.h>
#include <string.h>
#include <strings.h>

static const struct parameter_value *find_value(const struct request *req, const char *name, bool in_path)
{
    for (size_t i = 0; i < req->value_count; i++) {
        const struct parameter *parameter = req->values[i].parameter;
        if ((parameter->place == PARAMETER_PATH) == in_path && strcmp(parameter->name, name) == 0)
            return &req->values[i];
    }
    return NULL;
}

static const struct parameter_value *path_value(const struct request *req, const char *name)
{
    const struct parameter_value *value = find_value(req, name, true);
    assert(value); // a name that openapi.yaml does not have
    return value;
}

const char *request_path(const struct request *req, const char *name)
{
    return path_value(req, name)->text;
}

int64_t request_path_integer(const struct request *req, const char *name)
{
    return path_value(req, name)->integer;
}

const char *request_query(const struct request *req, const char *name)
{
    const struct parameter_value *value = find_value(req, name, false);
    return value ? value->text : NULL;
}

int64_t request_query_integer(const struct request *req, const char *name, int64_t fallback)
{
    const struct parameter_value *value = find_value(req, name, false);
    return value && value->text ? value->integer : fallback;
}

bool request_query_boolean(const struct request *req, const char *name)
{
    return request_query_integer(req, name, 0) != 0;
}

const char **request_query_list(const struct request *req, const char *name, size_t *out_count)
{
    const struct parameter_value *value = find_value(req, name, false);
    *out_count = value ? value->item_count : 0;
    return value ? value->items : NULL;
}

bool request_has_query(const struct request *req, const char *name)
{
    const struct parameter_value *value = find_value(req, name, false);
    return value && value->text && !value->is_default;
}

const char *request_header(const struct request *req, const char *name)
{
    return req->connection ? mg_get_header(req->connection, name) : NULL;
}

const char *request_cookie(const struct request *req, const char *name)
{
    const char *at = request_header(req, "Cookie");
    size_t name_length = strlen(name);
    while (at && *at) {
        at += strspn(at, " ;");
        size_t length = strcspn(at, ";");
        if (length > name_length && strncmp(at, name, name_length) == 0 && at[name_length] == '=')
            return arena_strndup(req->arena, at + name_length + 1, length - name_length - 1);
        at += length;
    }
    return NULL;
}

const char *request_form(const struct request *req, const char *name)
{
    size_t name_length = strlen(name);
    for (const char *at = req->body_text; at && *at;) {
        size_t length = strcspn(at, "&");
        char *value;
        if (length > name_length && strncmp(at, name, name_length) == 0 && at[name_length] == '=') {
            bool is_good =
                percent_decode(at + name_length + 1, length - name_length - 1, name, req->arena, &value, NULL) == 0;
            return is_good ? value : NULL;
        }
        at += length + (at[length] == '&');
    }
    return NULL;
}

bool request_accepts(const struct request *req, const char *media_type)
{
    const char *accept = request_header(req, "Accept");
    const char *found = accept ? strcasestr(accept, media_type) : NULL;
    const char *json = accept ? strcasestr(accept, "application/json") : NULL;
    return found && (!json || found < json);
}
