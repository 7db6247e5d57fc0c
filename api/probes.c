#include "api/probes.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/server.h"
#include "base/error.h"
#include "reconciler/reconciler.h"
#include <string.h>

// /metrics is no operation of the document; who may read the cluster may read it.
static const struct operation METRICS = {.id = "metrics",
                                         .method = HTTP_METHOD_GET,
                                         .path = "/metrics",
                                         .access = OPERATION_ACCESS_PERMISSION,
                                         .resource = "cluster",
                                         .action = "read",
                                         .success_status = 200};

void probe_health(struct exchange *exchange)
{
    response_text(&exchange->response, "text/plain; charset=utf-8", "ok\n", 3);
}

int probe_readiness(struct exchange *exchange, struct error *err)
{
    struct server *server = exchange->server;
    if (atomic_load(&server->is_stopping))
        return error_set(err, ERROR_UNAVAILABLE, "stopping");
    if (server->check_ready && server->check_ready(server->context, err) < 0)
        return -1;
    buffer_text(&exchange->body, "ok\n");
    if (!atomic_load(&server->is_starting) && server->warning)
        buffer_printf(&exchange->body, "%s\n", server->warning);
    if (!atomic_load(&server->is_starting) && server->reconciler)
        reconciler_write_health(server->reconciler, &exchange->body);
    exchange->response.content_type = "text/plain; charset=utf-8";
    return 0;
}

int probe_starting(struct exchange *exchange, struct error *err)
{
    struct server *server = exchange->server;
    if (!atomic_load(&server->is_starting))
        return 0;
    exchange->must_close = true;
    if (!server->check_ready || server->check_ready(server->context, err) == 0)
        error_set(err, ERROR_UNAVAILABLE, "in a moment");
    return error_prefix(err, "the server is starting: ");
}

int probe_metrics(struct exchange *exchange, struct error *err)
{
    struct server *server = exchange->server;
    struct server_core *core = server->core;
    if (!server->config.is_metrics_open) {
        exchange->request.operation = &METRICS;
        int rc = authenticate(&exchange->request, err) < 0 || authorize(&exchange->request, err) < 0 ? -1 : 0;
        exchange->request.operation = NULL;
        if (rc < 0)
            return -1;
    }
    struct http_gauges gauges = {.connections = atomic_load(&core->connections.held_count),
                                 .threads = (size_t)core->threads,
                                 .streams = (size_t)atomic_load(&server->places.of[PLACE_STREAMS].taken)};
    connections_count(&core->connections, gauges.workers);
    exchange->response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    http_metrics_write(core->metrics, &gauges, &exchange->body);
    size_t answer_bytes, body_bytes;
    shares_read(core->shares, &answer_bytes, &body_bytes);
    place_book_set(&server->places, PLACE_CONNECTIONS, gauges.threads, gauges.connections);
    place_book_set(&server->places, PLACE_ANSWERS, PLACE_BOUND_ANSWERS, answer_bytes >> 20);
    place_book_set(&server->places, PLACE_BODIES, PLACE_BOUND_BODIES, body_bytes >> 20);
    place_book_write(&server->places, &exchange->body);
    if (server->write_metrics)
        server->write_metrics(server->context, &exchange->body);
    return 0;
}
