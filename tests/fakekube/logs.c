#include "tests/fakekube/logs.h"
#include "base/timestamp.h"
#include "tests/fakekube/connection.h"
#include "tests/fakekube/pods.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct call *call, const json_t *pod)
{
    const char *wanted = call_query(call, "container");
    bool is_there = !*wanted;
    size_t index;
    json_t *container;
    json_array_foreach(json_at(pod, "spec.containers"), index, container)
        is_there = is_there || strcmp(json_text_at(container, "name"), wanted) == 0;
    if (*call_query(call, "sinceTime") && *call_query(call, "sinceSeconds")) {
        json_t *causes = json_array();
        cause_add(causes, "FieldValueForbidden", "", NULL,
                  "at most one of `sinceTime` or `sinceSeconds` may be specified");
        return call_fail_invalid(call, causes);
    }
    if (!is_there)
        return call_fail(call, 400, "BadRequest", "container %s is not valid for pod %s", wanted, call->name);
    if (!*wanted && json_array_size(json_at(pod, "spec.containers")) > 1)
        return call_fail(call, 400, "BadRequest", "a container name must be specified for pod %s", call->name);
    return 0;
}

static const char *log_text_of(const json_t *pod)
{
    const char *text = json_string_value(json_object_get(json_at(pod, "metadata.annotations"), "test.prorata.io/log"));
    return text ? text : "";
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n' || text[1] == '\0';
    return lines;
}

static int64_t start_ms(const json_t *pod)
{
    int64_t time_ms = 0;
    const char *text = json_text_at(pod, "status.startTime");
    if (text && timestamp_parse(text, &time_ms, NULL) < 0)
        time_ms = 0;
    return time_ms;
}

// The first line that tailLines and the two since leave.
static size_t first_line(const struct call *call, const json_t *pod)
{
    size_t lines = count_lines(log_text_of(pod)), first = 0;
    const char *tail = call_query(call, "tailLines"), *seconds = call_query(call, "sinceSeconds");
    int64_t since_ms = 0, begin_ms = start_ms(pod);
    if (*seconds)
        since_ms = timestamp_now_ms() - strtoll(seconds, NULL, 10) * 1000;
    else if (timestamp_parse(call_query(call, "sinceTime"), &since_ms, NULL) < 0)
        since_ms = 0;
    while (first < lines && begin_ms + (int64_t)first < since_ms)
        first++;
    size_t wanted = *tail ? (size_t)strtoul(tail, NULL, 10) : lines;
    return lines - first > wanted ? lines - wanted : first;
}

// Writes from the line on; the number of the line that comes next.
static size_t write_lines(const struct call *call, const json_t *pod, size_t first, struct buffer *out)
{
    char time[TIMESTAMP_SIZE];
    size_t line = 0;
    for (const char *text = log_text_of(pod); *text; line++) {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (line >= first && call_query_is(call, "timestamps")) {
            timestamp_format(start_ms(pod) + (int64_t)line, time);
            buffer_printf(out, "%s ", time);
        }
        if (line >= first)
            buffer_append(out, text, length);
        text += length;
    }
    return line;
}

// -1: refused, 0: nothing to show, both answered; 1: the pod has a log.
static int check(struct call *call, const json_t *pod)
{
    const char *node = json_text_at(pod, "spec.nodeName"), *phase = json_text_at(pod, "status.phase");
    if (refuse(call, pod) < 0)
        return -1;
    if (!pod_is_bound(pod)) {
        call->code = 204;
        return 0;
    }
    if (!store_find(&call->kube->store, RESOURCE_NODES, node)) {
        call_fail(call, 404, "NotFound", "pods \"%s\" not found", node);
        call_set_details(call, "name", json_string(node));
        return -1;
    }
    if (phase && strcmp(phase, "Pending") == 0)
        return call_fail(call, 400, "BadRequest", "container in pod %s is waiting to start: ContainerCreating",
                         call->name);
    return 1;
}

static json_t *find_pod(struct call *call)
{
    const struct revision *found = store_find(&call->kube->store, RESOURCE_PODS, call_key(call));
    return found ? revision_value(found) : NULL;
}

int log_answer(struct call *call)
{
    json_t *pod = find_pod(call);
    size_t bytes = (size_t)strtoul(call_query(call, "limitBytes"), NULL, 10);
    call->text_type = "text/plain";
    int rc = pod ? check(call, pod) : call_fail_not_found(call);
    if (rc > 0) {
        call->code = 200;
        write_lines(call, pod, first_line(call, pod), &call->text);
        if (bytes && call->text.length > bytes)
            call->text.length = bytes;
    }
    json_decref(pod);
    return rc < 0 ? -1 : 0;
}

static void wait_for_news(struct store *store)
{
    int64_t until_us = timestamp_monotonic_us() + 500000; // notices a client that has gone
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&store->changed, &store->lock, &until);
}

// The lock is held; it is given back while something is sent.
static void stream(struct call *call, size_t line)
{
    struct store *store = &call->kube->store;
    bool is_over = false;
    while (!is_over && !call->kube->stops) {
        struct buffer out;
        buffer_init(&out, 0);
        json_t *pod = find_pod(call);
        if (pod)
            line = write_lines(call, pod, line, &out);
        is_over = !pod || pod_is_terminal(pod);
        json_decref(pod);
        store_unlock(store);
        if (out.length && connection_send_chunk(call, out.data, out.length) < 0)
            is_over = true;
        bool is_idle = out.length == 0;
        buffer_done(&out);
        is_over = is_over || connection_is_gone(call);
        store_lock(store);
        if (is_idle && !is_over)
            wait_for_news(store);
    }
}

int log_follow(struct call *call)
{
    struct store *store = &call->kube->store;
    store_lock(store);
    json_t *pod = find_pod(call);
    int rc = pod ? check(call, pod) : call_fail_not_found(call);
    if (rc > 0) {
        size_t line = first_line(call, pod);
        store_unlock(store);
        connection_begin_stream(call, "text/plain");
        store_lock(store);
        stream(call, line);
    }
    json_decref(pod);
    store_unlock(store);
    if (call->is_sent)
        connection_end_stream(call, CONNECTION_ENDS);
    return rc < 0 ? -1 : 0;
}

int page_answer(struct call *call)
{
    char namespace[64], name[256];
    if (sscanf(call->path, "/api/v1/namespaces/%63[^/]/pods/%255[^:/]:%*d/proxy/metrics", namespace, name) != 2)
        return -1;
    const char *key = arena_printf(&call->arena, "%s/%s", namespace, name);
    const struct revision *found = store_find(&call->kube->store, RESOURCE_PODS, key);
    json_t *pod = found ? revision_value(found) : NULL;
    const char *page =
        json_string_value(json_object_get(json_at(pod, "metadata.annotations"), "test.prorata.io/metrics"));
    call->code = page ? 200 : 503;
    call->text_type = "text/plain";
    buffer_text(&call->text, page ? page : "no such page");
    json_decref(pod);
    return 0;
}
