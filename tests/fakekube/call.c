#include "tests/fakekube/call.h"
#include <stdlib.h>
#include <string.h>

void call_init(struct call *call, struct kube *kube)
{
    *call = (struct call){.kube = kube, .resource = -1, .namespace = "", .name = "", .subresource = "", .verb = ""};
    call->content_type = call->user = call->body_text = "";
    call->query = json_object();
    call->warnings = json_array();
    arena_init(&call->arena);
    buffer_init(&call->text, 0);
    buffer_init(&call->headers, 0);
}

void call_done(struct call *call)
{
    json_decref(call->query);
    json_decref(call->body);
    json_decref(call->fault);
    json_decref(call->value);
    json_decref(call->warnings);
    buffer_done(&call->text);
    buffer_done(&call->headers);
    arena_done(&call->arena);
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | 0x20) : NULL;
    return found ? (int)(found - digits) : -1;
}

static char *decode(struct call *call, const char *text, size_t length, bool is_query)
{
    char *out = arena_alloc(&call->arena, length + 1);
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && i + 2 < length && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
            out[at++] = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            out[at++] = is_query && text[i] == '+' ? ' ' : text[i];
        }
    }
    out[at] = '\0';
    return out;
}

static void read_query(struct call *call, const char *query)
{
    while (query && *query) {
        size_t length = strcspn(query, "&");
        size_t key = strcspn(query, "=&");
        const char *name = decode(call, query, key, true);
        const char *value = key < length ? decode(call, query + key + 1, length - key - 1, true) : "";
        json_object_set_new(call->query, name, json_string(value));
        query += length + (query[length] == '&');
    }
}

enum {
    PARTS_MAX = 10
};

// /api/v1/... or /apis/group/version/...; the rest: [namespaces/ns/]plural[/name[/subresource]]
static void read_place(struct call *call, const char *group, const char *version, const char **parts, int count)
{
    if (count >= 3 && strcmp(parts[0], "namespaces") == 0 && strcmp(parts[2], "status") != 0 &&
        strcmp(parts[2], "finalize") != 0) {
        call->namespace = parts[1];
        parts += 2;
        count -= 2;
    }
    if (count < 1 || count > 3)
        return;
    bool is_eviction_group = strcmp(group, "policy") == 0 && strcmp(parts[0], "pods") == 0;
    call->resource = resource_find(is_eviction_group ? "" : group, is_eviction_group ? "v1" : version, parts[0]);
    call->name = count > 1 ? parts[1] : "";
    call->subresource = count > 2 ? parts[2] : "";
    if (call->resource >= 0 && *call->name && RESOURCES[call->resource].is_namespaced != (*call->namespace != '\0'))
        call->resource = -1;
}

static const char *object_verb(const struct call *call)
{
    bool is_whole = *call->name == '\0';
    if (strcmp(call->method, "GET") == 0 && strcmp(call->subresource, "log") == 0)
        return "log";
    if (strcmp(call->method, "GET") == 0 && call_query_is(call, "watch"))
        return "watch";
    if (strcmp(call->method, "GET") == 0)
        return is_whole ? "list" : "get";
    if (strcmp(call->method, "POST") == 0 && strcmp(call->subresource, "binding") == 0)
        return "bind";
    if (strcmp(call->method, "POST") == 0 && strcmp(call->subresource, "eviction") == 0)
        return "evict";
    if (strcmp(call->method, "POST") == 0)
        return "create";
    if (strcmp(call->method, "PUT") == 0)
        return "update";
    if (strcmp(call->method, "PATCH") == 0)
        return "patch";
    return is_whole ? "deletecollection" : "delete";
}

void call_read(struct call *call, const char *method, const char *path, const char *query)
{
    call->method = arena_strdup(&call->arena, method);
    call->path = arena_strdup(&call->arena, path);
    read_query(call, query);
    const char *parts[PARTS_MAX];
    int count = 0;
    for (const char *at = path; *at && count < PARTS_MAX;) {
        at += *at == '/';
        size_t length = strcspn(at, "/");
        if (length)
            parts[count++] = decode(call, at, length, false);
        at += length;
    }
    if (count >= 3 && strcmp(parts[0], "api") == 0 && strcmp(parts[1], "v1") == 0)
        read_place(call, "", "v1", parts + 2, count - 2);
    else if (count >= 4 && strcmp(parts[0], "apis") == 0)
        read_place(call, parts[1], parts[2], parts + 3, count - 3);
    call->verb = call->resource >= 0 ? object_verb(call) : "";
}

const char *call_query(const struct call *call, const char *name)
{
    const char *value = json_string_value(json_object_get(call->query, name));
    return value ? value : "";
}

bool call_query_is(const struct call *call, const char *name)
{
    const char *value = call_query(call, name);
    return strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
}

const char *call_key(struct call *call)
{
    if (!RESOURCES[call->resource].is_namespaced)
        return call->name;
    return arena_printf(&call->arena, "%s/%s", call->namespace, call->name);
}

const struct resource *call_resource(const struct call *call)
{
    return &RESOURCES[call->resource];
}

int call_answer(struct call *call, int code, json_t *value)
{
    json_decref(call->value);
    call->value = value;
    call->code = code;
    return 0;
}

int call_answer_revision(struct call *call, int code, const struct revision *revision)
{
    char version[80];
    const struct resource *resource = call_resource(call);
    call->code = code;
    call->text_type = "application/json";
    buffer_printf(&call->text, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", resource->kind,
                  resource_api_version(resource, version));
    buffer_append(&call->text, revision->text + 1, revision->length - 1);
    return 0;
}

json_t *status_value(int code, const char *reason, const char *message)
{
    json_t *status = json_pack("{s:s,s:s,s:{},s:s}", "kind", "Status", "apiVersion", "v1", "metadata", "status",
                               code < 400 ? "Success" : "Failure");
    if (message)
        json_object_set_new(status, "message", json_string(message));
    if (reason && *reason)
        json_object_set_new(status, "reason", json_string(reason));
    json_object_set_new(status, "code", json_integer(code));
    return status;
}

static json_t *details(struct call *call)
{
    return json_object_made(call->value, "details");
}

int call_fail(struct call *call, int code, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    call_answer(call, code, status_value(code, reason, arena_vprintf(&call->arena, format, args)));
    va_end(args);
    if (call->resource < 0)
        return -1;
    if (*call->name)
        call_set_details(call, "name", json_string(call->name));
    if (*call_resource(call)->group)
        call_set_details(call, "group", json_string(call_resource(call)->group));
    call_set_details(call, "kind", json_string(call_resource(call)->plural));
    return -1;
}

void call_set_details(struct call *call, const char *member, json_t *value)
{
    json_object_set_new(details(call), member, value);
}

void call_add_cause(struct call *call, const char *reason, const char *message, const char *field)
{
    json_t *cause = json_object();
    if (reason)
        json_object_set_new(cause, "reason", json_string(reason));
    if (message)
        json_object_set_new(cause, "message", json_string(message));
    if (field)
        json_object_set_new(cause, "field", json_string(field));
    json_t *causes = json_object_get(details(call), "causes");
    if (!causes) {
        causes = json_array();
        json_object_set_new(details(call), "causes", causes);
    }
    json_array_append_new(causes, cause);
}

static const char *long_plural(const struct call *call)
{
    const struct resource *resource = call_resource(call);
    return *resource->group ? arena_printf((struct arena *)&call->arena, "%s.%s", resource->plural, resource->group)
                            : resource->plural;
}

int call_fail_not_found(struct call *call)
{
    return call_fail(call, 404, "NotFound", "%s \"%s\" not found", long_plural(call), call->name);
}

int call_fail_conflict(struct call *call, const char *why)
{
    return call_fail(call, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s", long_plural(call),
                     call->name, why);
}

int call_fail_invalid(struct call *call, json_t *causes)
{
    size_t count = json_array_size(causes);
    if (count == 0) {
        json_decref(causes);
        return 0;
    }
    struct buffer list;
    buffer_init(&list, 0);
    size_t index;
    json_t *cause;
    json_array_foreach(causes, index, cause)
        buffer_printf(&list, "%s%s: %s", index ? ", " : "", json_text_at(cause, "field"),
                      json_text_at(cause, "message"));
    const struct resource *resource = call_resource(call);
    call_fail(call, 422, "Invalid", count > 1 ? "%s%s%s \"%s\" is invalid: [%s]" : "%s%s%s \"%s\" is invalid: %s",
              resource->kind, *resource->group ? "." : "", resource->group, call->name, list.data);
    call_set_details(call, "kind", json_string(resource->kind));
    call_set_details(call, "causes", causes);
    buffer_done(&list);
    return -1;
}

int call_succeed(struct call *call, int code, const json_t *object)
{
    json_t *status = status_value(code, NULL, NULL);
    json_object_del(status, "code");
    if (object) {
        json_t *about =
            json_pack("{s:s*,s:s}", "name", json_text_at(object, "metadata.name"), "kind", call_resource(call)->plural);
        if (*call_resource(call)->group)
            json_object_set_new(about, "group", json_string(call_resource(call)->group));
        if (json_text_at(object, "metadata.uid"))
            json_object_set_new(about, "uid", json_string(json_text_at(object, "metadata.uid")));
        json_object_set_new(status, "details", about);
    } else {
        json_object_set_new(status, "code", json_integer(code));
    }
    return call_answer(call, code, status);
}
