#include "api/dispatch.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/assets.h"
#include "api/audit/before.h"
#include "api/audit/recorder.h"
#include "api/http/answer.h"
#include "api/http/body.h"
#include "api/http/idempotency.h"
#include "api/http/listen.h"
#include "api/http/parameters.h"
#include "api/http/path.h"
#include "api/http/peers.h"
#include "api/http/router.h"
#include "api/probes.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/timestamp.h"
#include <arpa/inet.h>
#include <civetweb.h>
#include <inttypes.h>
#include <string.h>

enum {
    ANSWER_MAX_BYTES = 64 << 20
};

// Behind a configured proxy the client is the last address of X-Forwarded-For, the one that the proxy itself added.
static const char *client_address(struct exchange *exchange)
{
    const char *list = connections_is_proxy(&exchange->server->core->connections, exchange->ends.remote_address)
                           ? mg_get_header(exchange->connection, "X-Forwarded-For")
                           : NULL;
    struct in_addr address;
    if (exchange->request.peer)
        return exchange->request.peer->address;
    if (list) {
        const char *last = strrchr(list, ',');
        last = last ? last + 1 : list;
        last += strspn(last, " \t");
        if (inet_pton(AF_INET, last, &address) == 1)
            return last;
    }
    return exchange->info->remote_addr;
}

static void exchange_init(struct exchange *exchange, struct server *server, struct mg_connection *connection)
{
    struct server_core *core = server->core;
    memset(exchange, 0, sizeof(*exchange));
    exchange->server = server;
    exchange->connection = connection;
    exchange->info = mg_get_request_info(connection);
    exchange->started_us = timestamp_monotonic_us();
    exchange->worker = mg_get_thread_pointer(connection);
    connection_ends_of(exchange->info, &exchange->ends);
    arena_init(&exchange->arena);
    buffer_init(&exchange->body, ANSWER_MAX_BYTES);
    buffer_init(&exchange->headers, 0);
    unsigned long long number = atomic_fetch_add(&core->request_count, 1) + 1;
    exchange->request = (struct request){.server = server,
                                         .arena = &exchange->arena,
                                         .id = arena_printf(&exchange->arena, "%08x-%llx", core->id_seed, number),
                                         .received_ms = timestamp_now_ms(),
                                         .connection = connection,
                                         .peer = mg_get_user_connection_data(connection),
                                         .exchange = exchange};
    exchange->request.remote_address = client_address(exchange);
    exchange->response = (struct response){.status = 200,
                                           .body = &exchange->body,
                                           .headers = &exchange->headers,
                                           .content_type = "application/json",
                                           .request = &exchange->request};
    exchange->page = HTTP_PAGE_REFUSED;
    uint32_t client = exchange->ends.remote_address;
    address_parse(exchange->request.remote_address, &client, NULL);
    worker_know(exchange->worker, &exchange->ends, client);
    worker_enter(exchange->worker, WORKER_REQUEST);
}

static void exchange_done(struct exchange *exchange)
{
    struct server_core *core = exchange->server->core;
    if (exchange->holds_stream)
        places_give_back(&core->streams, exchange->stream_place);
    if (exchange->share)
        shares_end(core->shares, exchange->share, exchange->share_bytes);
    shares_give_body(core->shares, &exchange->held_body);
    json_decref(exchange->request.body);
    buffer_done(&exchange->body);
    buffer_done(&exchange->headers);
    arena_done(&exchange->arena);
    worker_enter(exchange->worker, WORKER_IDLE);
}

static void log_request(const struct exchange *exchange)
{
    const struct request *req = &exchange->request;
    const struct mg_request_info *info = exchange->info;
    char path[LOG_TEXT_SIZE], caller[LOG_TEXT_SIZE];
    int64_t duration_us = timestamp_monotonic_us() - exchange->started_us;
    http_metrics_count(exchange->server->core->metrics, req->operation, exchange->page, exchange->status, duration_us);
    if (!log_is_enabled(LOG_INFO))
        return;
    log_write(LOG_INFO, "api",
              "request operation=%s method=%s path=%s status=%d bytes=%zu duration_us=%" PRId64
              " remote=%s caller=%s request=%s",
              req->operation ? req->operation->id : "none", info->request_method ? info->request_method : "-",
              log_text(info->request_uri ? info->request_uri : "", path), exchange->status, exchange->sent_bytes,
              duration_us, req->remote_address,
              log_text(req->caller && req->caller->name ? req->caller->name : "", caller), req->id);
}

// Only reading takes long, or makes a long answer. Who is not known has nothing to read.
static int begin_reading(struct exchange *exchange, struct error *err)
{
    const struct request *req = &exchange->request;
    if (!req->caller || req->operation->method != HTTP_METHOD_GET)
        return 0;
    if (shares_begin(exchange->server->core->shares, (int)req->caller->type, req->caller->subject_id, &exchange->share,
                     err) < 0) {
        place_book_refuse(&exchange->server->places, PLACE_ANSWERS, req->caller->subject_uuid, 1);
        return -1;
    }
    exchange->is_reading = true;
    return 0;
}

void exchange_end_reading(struct exchange *exchange)
{
    if (!exchange->is_reading)
        return;
    exchange->is_reading = false;
    exchange->share_bytes = exchange->body.capacity + exchange->arena.used_bytes;
    shares_end_reading(exchange->server->core->shares, exchange->share, exchange->share_bytes);
}

// What was made under this Idempotency-Key. Its record was left then.
static int answer_again(struct exchange *exchange, const struct path *path, enum idempotency known, const char *thing,
                        struct error *err)
{
    struct request *req = &exchange->request;
    if (known == IDEMPOTENCY_REFUSED)
        return -1;
    req->audit = NULL;
    if (known == IDEMPOTENCY_KNOWN)
        return 0;
    json_t *made = before_read_made(req, path, thing);
    if (made)
        return response_json(&exchange->response, made);
    return error_set(err, ERROR_CONFLICT,
                     "Idempotency-Key: the request was carried out, and its answer is not kept%s%s",
                     *thing ? ": it made " : "", thing);
}

static int run_operation(struct exchange *exchange, const struct route *route, const struct path *path,
                         struct error *err)
{
    struct request *req = &exchange->request;
    const struct operation *operation = req->operation;
    recorder_begin(exchange, route, path);
    exchange->response.status = operation->success_status;
    if (operation->access != OPERATION_ACCESS_OPEN && (authenticate(req, err) < 0 || authorize(req, err) < 0))
        return -1;
    if (parameters_read(req, path, exchange->info->query_string, err) < 0 || body_read(exchange, err) < 0)
        return -1;
    if (begin_reading(exchange, err) < 0)
        return -1;
    const char *thing;
    enum idempotency known = idempotency_begin(req, &exchange->response, &thing, err);
    if (known != IDEMPOTENCY_NEW)
        return answer_again(exchange, path, known, thing, err);
    recorder_before(exchange);
    int rc = operation->handler(req, &exchange->response, err);
    exchange_end_reading(exchange);
    if (rc < 0 && err->code == ERROR_CONFLICT && !operation->has_conflict)
        err->code = ERROR_INVALID;
    idempotency_end(req, &exchange->response, rc, err);
    return rc;
}

// `curl --data ''`, as documents have it to read a list: a POST of nothing to a path that can only be read.
static bool is_empty_post(const struct exchange *exchange, const struct route *route)
{
    return strcmp(exchange->info->request_method, "POST") == 0 && !exchange->framing.has_body &&
           !router_operation(route, HTTP_METHOD_POST) && router_operation(route, HTTP_METHOD_GET);
}

// A command that broke before its body is a GET: people look for the mistake in the path otherwise.
static bool is_get_of_a_post(const struct exchange *exchange, const struct route *route)
{
    return strcmp(exchange->info->request_method, "GET") == 0 && !exchange->framing.has_body &&
           router_operation(route, HTTP_METHOD_POST);
}

// "; below it ... have POST": where the method is that the path lacks; "" where no literal segment leads to it.
static const char *suggest_below(struct exchange *exchange, const struct route *route, enum http_method method)
{
    const char *names = "";
    for (size_t i = 0; method < HTTP_METHOD_COUNT && i < route->child_count; i++) {
        const struct route *child = &ROUTES[route->first_child + i];
        if (router_operation(child, method))
            names = arena_printf(&exchange->arena, "%s%s%s", names, *names ? ", " : "", child->literal);
    }
    return *names
               ? arena_printf(&exchange->arena, "; below it these have %s: %s", exchange->info->request_method, names)
               : "";
}

static int answer_operation(struct exchange *exchange, const struct route *route, const struct path *path,
                            struct error *err)
{
    struct request *req = &exchange->request;
    const char *method_name = exchange->info->request_method;
    char allow[ROUTER_ALLOW_SIZE];
    enum http_method method;
    router_allow(route, allow);
    exchange->page = HTTP_PAGE_UNKNOWN;
    if (strcmp(method_name, "OPTIONS") == 0) {
        response_header(&exchange->response, "Allow", allow);
        return response_empty(&exchange->response, 204);
    }
    req->is_head = strcmp(method_name, "HEAD") == 0;
    if (req->is_head || is_empty_post(exchange, route))
        method = HTTP_METHOD_GET;
    else if (!router_method(method_name, &method))
        method = HTTP_METHOD_COUNT;
    req->operation = method < HTTP_METHOD_COUNT ? router_operation(route, method) : NULL;
    if (!req->operation) {
        response_header(&exchange->response, "Allow", allow);
        return error_set(err, ERROR_METHOD, "%s: this path has %s%s", method_name, allow,
                         is_get_of_a_post(exchange, route) ? "; no body came" : suggest_below(exchange, route, method));
    }
    return run_operation(exchange, route, path, err);
}

// Whether a browser looks for a page here. Below the first segment of an operation's path there is none.
static bool is_page_wanted(const struct exchange *exchange, const struct path *path)
{
    static const char *const PREFIXES[] = {"api", "v1", "auth"};
    for (size_t i = 0; path->count > 0 && i < sizeof(PREFIXES) / sizeof(PREFIXES[0]); i++)
        if (strcmp(path->segments[0], PREFIXES[i]) == 0)
            return false;
    return request_accepts(&exchange->request, "text/html");
}

// "; did you mean PATH": the operation's path that a path without its beginning means; "" where there is none.
static const char *suggest_path(struct exchange *exchange, const struct path *path, const char *uri)
{
    static const char *const MISSING[][2] = {{"api", "v1"}, {"api", "v2"}, {"api"}, {"v1"}};
    for (size_t i = 0; i < sizeof(MISSING) / sizeof(MISSING[0]); i++) {
        struct path whole = {.count = MISSING[i][1] ? 2 : 1};
        if (path->count == 0 || path->count + whole.count > PATH_SEGMENT_MAX)
            continue;
        memcpy(whole.segments, MISSING[i], whole.count * sizeof(MISSING[i][0]));
        memcpy(whole.segments + whole.count, path->segments, path->count * sizeof(path->segments[0]));
        whole.count += path->count;
        if (router_find(&whole))
            return arena_printf(&exchange->arena, "; did you mean /%s%s%s%s", MISSING[i][0], MISSING[i][1] ? "/" : "",
                                MISSING[i][1] ? MISSING[i][1] : "", uri);
    }
    return "";
}

// What is no operation: probes and static files, which take GET and HEAD.
static int answer_page(struct exchange *exchange, const struct path *path, const char *uri, enum answer_policy *policy,
                       struct error *err)
{
    const struct asset *asset = NULL;
    bool is_probe = strcmp(uri, "/healthz") == 0 || strcmp(uri, "/readyz") == 0 || strcmp(uri, "/metrics") == 0;
    exchange->page = HTTP_PAGE_UNKNOWN;
    if (!is_probe) {
        asset = asset_find(uri);
        if (!asset)
            asset = asset_of_page(path);
        if (!asset && !is_page_wanted(exchange, path))
            return error_set(err, ERROR_NOT_FOUND, "no such path%s", suggest_path(exchange, path, uri));
    }
    const char *method = exchange->info->request_method;
    exchange->request.is_head = strcmp(method, "HEAD") == 0;
    if (!exchange->request.is_head && strcmp(method, "GET") != 0) {
        response_header(&exchange->response, "Allow", "GET, HEAD, OPTIONS");
        if (strcmp(method, "OPTIONS") == 0)
            return response_empty(&exchange->response, 204);
        return error_set(err, ERROR_METHOD, "%s: this path has GET, HEAD, OPTIONS%s", method,
                         suggest_path(exchange, path, uri));
    }
    if (!is_probe && !asset) {
        *policy = ANSWER_POLICY_PAGE;
        asset_answer_missing_page(exchange);
        return 0;
    }
    if (asset) {
        exchange->page = HTTP_PAGE_STATIC;
        *policy = strncmp(uri, "/api/docs", 9) == 0 ? ANSWER_POLICY_DOCS : ANSWER_POLICY_PAGE;
        asset_answer(exchange, asset);
        return 0;
    }
    if (strcmp(uri, "/metrics") == 0) {
        exchange->page = HTTP_PAGE_METRICS;
        return probe_metrics(exchange, err);
    }
    exchange->page = HTTP_PAGE_HEALTH;
    if (strcmp(uri, "/readyz") == 0)
        return probe_readiness(exchange, err);
    probe_health(exchange);
    return 0;
}

static int answer(struct exchange *exchange, enum answer_policy *policy, struct error *err)
{
    struct server *server = exchange->server;
    const struct mg_request_info *info = exchange->info;
    struct path path;
    if (request_framing_check(info, server->core->body_max_bytes, &exchange->framing, err) < 0 ||
        request_header_lines_check(info, err) < 0) {
        exchange->must_close = true;
        return -1;
    }
    if (connections_are_scarce(&server->core->connections))
        exchange->must_close = true;
    const char *uri = info->request_uri ? info->request_uri : "";
    if (path_split(uri, &exchange->arena, &path, err) < 0)
        return -1;
    const struct route *route = router_find(&path);
    bool is_probe = !route && path.count == 1;
    if (atomic_load(&server->is_stopping) && !is_probe) {
        exchange->must_close = true;
        return error_set(err, ERROR_UNAVAILABLE, "the server is stopping");
    }
    bool needs_start = route || (strcmp(uri, "/healthz") != 0 && strcmp(uri, "/readyz") != 0);
    if (needs_start && probe_starting(exchange, err) < 0)
        return -1;
    if (!route)
        return answer_page(exchange, &path, uri, policy, err);
    if (strcmp(uri, "/api/docs") == 0)
        *policy = ANSWER_POLICY_DOCS;
    return answer_operation(exchange, route, &path, err);
}

void dispatch_request(struct server *server, struct mg_connection *connection)
{
    struct exchange exchange;
    struct error err = {0};
    enum answer_policy policy = ANSWER_POLICY_DATA;
    exchange_init(&exchange, server, connection);
    atomic_fetch_add(&server->core->running, 1);
    int rc = answer(&exchange, &policy, &err);
    recorder_end(&exchange, rc, &err);
    if (exchange.response.is_streaming) {
        if (rc < 0)
            log_write(LOG_WARN, "api", "stream broke off: %s request=%s", err.message, exchange.request.id);
    } else if (rc < 0) {
        answer_error(&exchange, &err);
    } else {
        answer_send(&exchange, policy);
    }
    log_request(&exchange);
    exchange_done(&exchange);
    atomic_fetch_sub(&server->core->running, 1);
}

// civetweb doesn't know TRACE and calls it a bad request; to us it is a method that no path has.
static bool is_unknown_method(struct exchange *exchange, int status)
{
    const struct mg_request_info *info = exchange->info;
    char allow[ROUTER_ALLOW_SIZE] = "GET, HEAD, OPTIONS";
    struct path path;
    if (status != 400 || !info->request_method || strcmp(info->request_method, "TRACE") != 0)
        return false;
    const struct route *route = info->request_uri && path_split(info->request_uri, &exchange->arena, &path, NULL) == 0
                                    ? router_find(&path)
                                    : NULL;
    if (route)
        router_allow(route, allow);
    response_header(&exchange->response, "Allow", allow);
    return true;
}

void dispatch_refusal(struct server *server, struct mg_connection *connection, int status, const char *why)
{
    struct exchange exchange;
    struct json_writer json;
    exchange_init(&exchange, server, connection);
    exchange.must_close = true;
    exchange.framing.keeps_alive = false;
    if (is_unknown_method(&exchange, status)) {
        status = 405;
        why = "TRACE: no path has this method";
    } else if (status == 400 && !exchange.info->request_method && connections_are_scarce(&server->core->connections)) {
        status = 408; // what was cut looks like half a head to civetweb
        why = "the request came too slowly while others waited for a connection";
    }
    exchange.response.status = status;
    json_writer_init(&json, &exchange.body, false);
    json_begin_object(&json);
    json_int(&json, "code", status);
    json_text(&json, "message", why && *why ? why : answer_reason(status));
    json_end_object(&json);
    answer_send(&exchange, ANSWER_POLICY_DATA);
    log_request(&exchange);
    exchange_done(&exchange);
}
