#include "tests/fakekube/server.h"
#include "base/timestamp.h"
#include "tests/fakekube/connection.h"
#include "tests/fakekube/control.h"
#include "tests/fakekube/exec.h"
#include "tests/fakekube/faults.h"
#include "tests/fakekube/logs.h"
#include "tests/fakekube/pods.h"
#include "tests/fakekube/reads.h"
#include "tests/fakekube/rights.h"
#include "tests/fakekube/shapes.h"
#include "tests/fakekube/watches.h"
#include "tests/fakekube/writes.h"
#include <civetweb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BODY_MAX = 8 << 20,
    REQUESTS_MAX = 5000,
    EXEC_NEEDS_CREATE_SINCE = 35 // minor version
};

static void sleep_ms(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void read_body(struct call *call)
{
    struct buffer body;
    char part[2048];
    int count;
    buffer_init(&body, BODY_MAX);
    while ((count = mg_read(call->connection, part, sizeof(part))) > 0)
        buffer_append(&body, part, (size_t)count);
    call->body_length = body.length;
    if (body.length)
        call->body_text = arena_strndup(&call->arena, body.data, body.length);
    call->body = body.length ? json_loadb(body.data, body.length, JSON_DECODE_ANY, NULL) : NULL;
    buffer_done(&body);
}

// What no handler knows is answered in plain text, but for resources that the first group lacks.
static int fail_unknown_path(struct call *call)
{
    if (strncmp(call->path, "/api/v1/", 8) == 0)
        return call_fail(call, 404, "NotFound", "the server could not find the requested resource");
    call->code = 404;
    call->text_type = "text/plain; charset=utf-8";
    buffer_text(&call->text, "404 page not found\n");
    return -1;
}

static int answer_path(struct call *call)
{
    if (strcmp(call->path, "/version") == 0) {
        char minor[8];
        snprintf(minor, sizeof(minor), "%d", call->kube->traits.minor);
        return call_answer(call, 200,
                           json_pack("{s:s,s:s,s:o,s:s}", "major", "1", "minor", minor, "gitVersion",
                                     json_sprintf("v%s", call->kube->version), "platform", "linux/amd64"));
    }
    if (strcmp(call->path, "/readyz") == 0 || strcmp(call->path, "/healthz") == 0 ||
        strcmp(call->path, "/livez") == 0) {
        call->code = 200;
        call->text_type = "text/plain";
        buffer_text(&call->text, "ok");
        return 0;
    }
    if (strcmp(call->path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") == 0)
        return rights_review(call);
    return page_answer(call) == 0 ? 0 : fail_unknown_path(call);
}

static int answer_subresource(struct call *call)
{
    const char *part = call->subresource;
    bool is_pod = call->resource == RESOURCE_PODS;
    if (strcmp(part, "status") == 0 && call_resource(call)->has_status) {
        if (strcmp(call->verb, "update") == 0)
            return update_object(call);
        return strcmp(call->verb, "patch") == 0 ? patch_object(call) : get_object(call);
    }
    if (is_pod && strcmp(call->verb, "bind") == 0)
        return pod_bind(call);
    if (is_pod && strcmp(call->verb, "evict") == 0)
        return pod_evict(call);
    if (is_pod && strcmp(call->verb, "log") == 0)
        return log_answer(call);
    if (call->resource == RESOURCE_NAMESPACES && strcmp(part, "finalize") == 0 && strcmp(call->verb, "update") == 0)
        return finalize_namespace(call);
    return fail_unknown_path(call);
}

static int answer_object(struct call *call)
{
    if (*call->subresource)
        return answer_subresource(call);
    if (strcmp(call->verb, "get") == 0)
        return get_object(call);
    if (strcmp(call->verb, "list") == 0)
        return list_objects(call);
    if (strcmp(call->verb, "create") == 0)
        return create_object(call);
    if (strcmp(call->verb, "update") == 0)
        return update_object(call);
    if (strcmp(call->verb, "patch") == 0 && *call->name)
        return patch_object(call);
    if (strcmp(call->verb, "delete") == 0)
        return delete_object(call, call->body);
    if (strcmp(call->verb, "deletecollection") == 0 && strcmp(call->method, "DELETE") == 0)
        return delete_collection(call);
    return call_fail(call, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

// Bodies that are no patches have the types that their kinds have.
static int check_shape(struct call *call)
{
    const char *wrong = NULL;
    if (json_is_object(call->body) && strcmp(call->method, "PATCH") != 0)
        wrong = shape_find_wrong(call->body);
    return wrong ? call_fail(call, 400, "BadRequest", "the body cannot be handled: json: cannot unmarshal %s", wrong)
                 : 0;
}

static void answer(struct call *call)
{
    store_lock(&call->kube->store);
    if (rights_check(call) == 0 && check_shape(call) == 0) {
        if (call->resource < 0)
            answer_path(call);
        else
            answer_object(call);
    }
    store_unlock(&call->kube->store);
}

// Waits until the test lets go of it.
static void hang(struct call *call)
{
    struct kube *kube = call->kube;
    store_lock(&kube->store);
    int serial = kube->hang_serial;
    while (kube->hang_serial == serial && !kube->stops)
        pthread_cond_wait(&kube->store.changed, &kube->store.lock);
    store_unlock(&kube->store);
    connection_reset(call);
}

// Shows what the answer would be, and does the work when the client may already count on it.
static void answer_before_work(struct call *call)
{
    const char *name = call->name;
    json_t *dry = json_object_get(call->query, "dryRun");
    json_incref(dry);
    json_object_set_new(call->query, "dryRun", json_string("All"));
    answer(call);
    connection_send(call, -1);
    sleep_ms(fault_number(call, "answerFirst"));
    json_object_del(call->query, "dryRun");
    if (dry)
        json_object_set_new(call->query, "dryRun", dry);
    buffer_clear(&call->text);
    call->name = name;
    answer(call);
}

static bool is_stream(const struct call *call)
{
    return strcmp(call->verb, "watch") == 0 || exec_is(call) ||
           (strcmp(call->verb, "log") == 0 && call_query_is(call, "follow"));
}

// A WebSocket is opened by GET; newer servers ask for the right to create too.
static int authorize_stream(struct call *call)
{
    if (rights_check(call) < 0)
        return -1;
    if (!exec_is(call) || call->kube->traits.minor < EXEC_NEEDS_CREATE_SINCE)
        return 0;
    const char *verb = call->verb;
    call->verb = "create";
    int rc = rights_check(call);
    call->verb = verb;
    return rc;
}

static void serve_stream(struct call *call)
{
    store_lock(&call->kube->store);
    int rc = authorize_stream(call);
    store_unlock(&call->kube->store);
    if (rc < 0)
        return;
    if (exec_is(call))
        exec_serve(call);
    else if (strcmp(call->verb, "watch") == 0)
        watch_serve(call);
    else
        log_follow(call);
}

static void serve_object(struct call *call)
{
    if (fault_number(call, "delayMs") > 0)
        sleep_ms(fault_number(call, "delayMs"));
    if (fault_is(call, "compact")) {
        store_lock(&call->kube->store);
        store_compact(&call->kube->store);
        store_unlock(&call->kube->store);
    }
    if (fault_is(call, "hang"))
        hang(call);
    else if (fault_is(call, "reset"))
        connection_reset(call);
    else if (fault_number(call, "answerFirst") >= 0)
        answer_before_work(call);
    else if (fault_action(call, "status"))
        fault_answer(call, fault_action(call, "status"));
    else if (is_stream(call))
        serve_stream(call);
    else
        answer(call);
    if (fault_is(call, "dropAnswer") && !call->is_sent)
        connection_reset(call);
}

static void note_request(struct call *call)
{
    struct kube *kube = call->kube;
    const char *agent = mg_get_header(call->connection, "User-Agent");
    const char *query = mg_get_request_info(call->connection)->query_string;
    kube->request_count++;
    json_array_append_new(kube->requests,
                          json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:s}", "verb", call->verb, "method", call->method, "path",
                                    call->path, "query", query ? query : "", "agent", agent ? agent : "", "at_ms",
                                    (json_int_t)timestamp_now_ms(), "body",
                                    call->body_length < 4096 ? call->body_text : "..."));
    if (json_array_size(kube->requests) > REQUESTS_MAX)
        json_array_remove(kube->requests, 0);
}

static int on_request(struct mg_connection *connection)
{
    const struct mg_request_info *info = mg_get_request_info(connection);
    struct call call;
    call_init(&call, mg_get_user_data(mg_get_context(connection)));
    call.connection = connection;
    call_read(&call, info->request_method, info->local_uri, info->query_string);
    const char *type = mg_get_header(connection, "Content-Type");
    call.content_type = type ? type : "";
    read_body(&call);
    if (strncmp(call.path, "/fakekube/", 10) == 0) {
        control_answer(&call);
    } else {
        store_lock(&call.kube->store);
        note_request(&call);
        call.fault = faults_strike(call.kube, &call);
        store_unlock(&call.kube->store);
        serve_object(&call);
    }
    if (!call.is_sent)
        connection_send(&call, fault_number(&call, "cutAfterBytes"));
    int code = call.code ? call.code : 200;
    call_done(&call);
    return code;
}

struct mg_context *server_start(struct kube *kube, int port, int *out_port)
{
    char ports[48];
    snprintf(ports, sizeof(ports), "127.0.0.1:%d", port);
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             "256",
                             "enable_keep_alive",
                             "yes",
                             "keep_alive_timeout_ms",
                             "90000",
                             "request_timeout_ms",
                             "120000",
                             "tcp_nodelay",
                             "1",
                             "decode_url",
                             "no",
                             "connection_queue",
                             "128",
                             "listen_backlog",
                             "1024",
                             "max_request_size",
                             "65536",
                             NULL};
    struct mg_callbacks callbacks = {.begin_request = on_request};
    mg_init_library(0);
    struct mg_context *context = mg_start(&callbacks, kube, options);
    struct mg_server_port opened;
    if (!context || mg_get_server_ports(context, 1, &opened) < 1)
        return NULL;
    *out_port = opened.port;
    return context;
}
