#include "api/api_server.h"
#include "api/dispatch.h"
#include "api/http/change_feed.h"
#include "api/http/exchange.h"
#include "api/http/exec_sessions.h"
#include "api/http/listen.h"
#include "api/http/peers.h"
#include "api/http/sockets.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include <arpa/inet.h>
#include <civetweb.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEFAULT_THREADS = 256,
    MAX_THREADS = 1024,
    DEFAULT_BODY_BYTES = 1 << 20,
    POLL_MS = 5,
    KEPT_BEYOND_S = 5, // what was told, for a request on its way
    MANY_TICK_MS = 250,
    SCARCE_TICK_MS = 25,
    WORKER_THREAD = 1 // civetweb's number
};

static struct server *server_of(const struct mg_connection *connection)
{
    return mg_get_request_info(connection)->user_data;
}

// The first request of a connection to the relay's port, which gets no answer. Others than the relay are shown out.
static void greet(struct server *server, struct mg_connection *connection)
{
    struct peer *peer = peers_greet(server->peers, connection);
    mg_set_user_connection_data(connection, peer);
    if (!peer)
        dispatch_refusal(server, connection, 404, "no such path");
}

static int on_begin_request(struct mg_connection *connection)
{
    struct server *server = server_of(connection);
    const struct mg_request_info *info = mg_get_request_info(connection);
    int relay_port = atomic_load(&server->core->relay_port);
    if (relay_port && info->server_port == relay_port && !mg_get_user_connection_data(connection))
        greet(server, connection);
    else
        dispatch_request(server, connection);
    return 1; // answered: never civetweb's own file logic
}

static int on_http_error(struct mg_connection *connection, int status, const char *why)
{
    dispatch_refusal(server_of(connection), connection, status, why);
    return 0;
}

static int on_log_message(const struct mg_connection *connection, const char *message)
{
    (void)connection;
    char quoted[LOG_TEXT_SIZE];
    log_write(LOG_DEBUG, "api", "civetweb message=%s", log_text(message, quoted));
    return 1;
}

static void *on_init_thread(const struct mg_context *context, int thread_type)
{
    struct server *server = mg_get_user_data(context);
    return thread_type == WORKER_THREAD ? connections_add_worker(&server->core->connections) : NULL;
}

// Runs before anything of the connection is known to us; mg_get_request_info is NULL here.
static int on_init_connection(const struct mg_connection *connection, void **data)
{
    struct server *server = mg_get_user_data(mg_get_context(connection));
    struct server_core *core = server->core;
    *data = NULL;
    connections_open(&core->connections, mg_get_thread_pointer(connection));
    if (connections_are_scarce(&core->connections))
        deadlines_wake(core->deadlines, 0);
    else if (connections_are_many(&core->connections))
        deadlines_wake(core->deadlines, MANY_TICK_MS);
    return 0;
}

// Where the header says that it is the last chance to free it, civetweb 1.15 has forgotten it already.
static void on_connection_close(const struct mg_connection *connection)
{
    free(mg_get_user_connection_data(connection));
}

static void on_connection_closed(const struct mg_connection *connection)
{
    struct server *server = mg_get_user_data(mg_get_context(connection));
    connections_close(&server->core->connections, mg_get_thread_pointer(connection));
}

static int64_t look_after_connections(void *context)
{
    struct server_core *core = context;
    size_t counts[CUT_REASON_COUNT] = {0}, count = 0;
    char address[INET_ADDRSTRLEN] = "";
    connection_cuts_pass(&core->cuts, &core->connections, counts);
    for (int reason = 0; reason < CUT_REASON_COUNT; reason++)
        http_metrics_connections_cut(core->metrics, (enum cut_reason)reason, counts[reason]);
    for (int reason = 0; reason < CUT_REASON_COUNT; reason++)
        count += counts[reason];
    inet_ntop(AF_INET, &core->cuts.cut_address, address, sizeof(address));
    place_book_set(core->places, PLACE_CONNECTIONS, core->connections.worker_count,
                   atomic_load(&core->connections.held_count));
    place_book_refuse(core->places, PLACE_CONNECTIONS, address, count);
    if (connections_are_scarce(&core->connections))
        return SCARCE_TICK_MS;
    return connections_are_many(&core->connections) ? MANY_TICK_MS : 0;
}

static int configure(struct server *server, struct server_core *core, char *ports, size_t ports_size, struct error *err)
{
    const struct server_config *config = &server->config;
    size_t used = 0;
    core->threads = config->threads ? config->threads : DEFAULT_THREADS;
    core->body_max_bytes = config->body_max_bytes ? config->body_max_bytes : DEFAULT_BODY_BYTES;
    if (core->threads < 4 || core->threads > MAX_THREADS)
        return error_set(err, ERROR_INVALID, "http.threads: from 4 to %d, got %d", MAX_THREADS, core->threads);
    int listen_max = SERVER_LISTEN_MAX - (server->peers != NULL);
    if (config->listen_count == 0 || config->listen_count > (size_t)listen_max)
        return error_set(err, ERROR_INVALID, "listen: from 1 to %d addresses", listen_max);
    for (size_t i = 0; i < config->proxy_count; i++) {
        if (address_parse(config->proxies[i], &core->connections.proxies[core->connections.proxy_count++], err) < 0)
            return error_prefix(err, "proxies: ");
    }
    for (size_t i = 0; i < config->listen_count; i++) {
        struct listen_address address;
        if (listen_parse(config->listen[i], &address, err) < 0 || listen_try(config->listen[i], &address, err) < 0)
            return -1;
        struct in_addr host = {address.address};
        char text[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &host, text, sizeof(text));
        used += (size_t)snprintf(ports + used, ports_size - used, "%s%s:%u", i ? "," : "", text, address.port);
    }
    if (server->peers)
        snprintf(ports + used, ports_size - used, ",127.0.0.1:0");
    return 0;
}

static void core_destroy(struct server_core *core)
{
    if (!core)
        return;
    deadlines_destroy(core->deadlines);
    connection_cuts_done(&core->cuts);
    connections_done(&core->connections);
    places_done(&core->streams);
    http_metrics_destroy(core->metrics);
    shares_destroy(core->shares);
    free(core);
}

static int start_civetweb(struct server *server, struct server_core *core, const char *ports, struct error *err)
{
    char threads[16], kept_ms[16];
    snprintf(threads, sizeof(threads), "%d", core->threads);
    snprintf(kept_ms, sizeof(kept_ms), "%d", (CONNECTION_KEPT_S + KEPT_BEYOND_S) * 1000);
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             threads,
                             "connection_queue",
                             "128",
                             "listen_backlog",
                             "1024",
                             "enable_keep_alive",
                             "yes",
                             "keep_alive_timeout_ms",
                             kept_ms,
                             "request_timeout_ms",
                             "10000",
                             "max_request_size",
                             "16384",
                             "tcp_nodelay",
                             "1",
                             "decode_url",
                             "no",
                             "access_control_allow_origin",
                             "",
                             "access_control_allow_methods",
                             "",
                             "access_control_allow_headers",
                             "",
                             NULL};
    struct mg_callbacks callbacks = {.begin_request = on_begin_request,
                                     .http_error = on_http_error,
                                     .log_message = on_log_message,
                                     .init_thread = on_init_thread,
                                     .init_connection = on_init_connection,
                                     .connection_close = on_connection_close,
                                     .connection_closed = on_connection_closed};
    mg_init_library(0);
    core->context = mg_start(&callbacks, server, options);
    if (!core->context)
        return error_set(err, ERROR_INVALID, "listen %s: cannot be opened", ports);
    struct mg_server_port opened[SERVER_LISTEN_MAX];
    int count = mg_get_server_ports(core->context, SERVER_LISTEN_MAX, opened);
    for (int i = 0; i < count; i++) {
        core->connections.ports[i] = (uint16_t)opened[i].port;
        atomic_store(&core->connections.port_count, (size_t)i + 1);
    }
    if (server->peers)
        atomic_store(&core->relay_port, opened[count - 1].port);
    return 0;
}

static void wake_streams(void *context)
{
    const struct server *server = context;
    change_feed_wake(server->changes);
}

int api_server_start(struct server *server, struct error *err)
{
    char ports[SERVER_LISTEN_MAX * 24];
    struct server_core *core = memory_array(1, sizeof(*core));
    json_object_seed(0);
    randombytes_buf(&core->id_seed, sizeof(core->id_seed));
    if (configure(server, core, ports, sizeof(ports), err) < 0)
        goto failed;
    core->places = &server->places;
    core->metrics = http_metrics_create();
    core->shares = shares_create((size_t)core->threads);
    connections_init(&core->connections, (size_t)core->threads);
    core->connections.peers = server->peers;
    places_init(&core->streams, PLACE_STREAMS, core->threads / 4, &server->places);
    core->streams.wake = wake_streams;
    core->streams.wake_context = server;
    core->deadlines = deadlines_create((size_t)core->threads, look_after_connections, core, err);
    if (!core->deadlines)
        goto failed;
    server->core = core;
    server->exec_sessions = exec_sessions_create(&server->places);
    if (start_civetweb(server, core, ports, err) < 0)
        goto failed;
    return 0;
failed:
    server->core = NULL;
    exec_sessions_destroy(server->exec_sessions);
    server->exec_sessions = NULL;
    core_destroy(core);
    return -1;
}

int api_server_port(const struct server *server, size_t listen_index)
{
    return listen_index < server->core->connections.port_count ? server->core->connections.ports[listen_index] : 0;
}

int api_server_relay_port(const struct server *server)
{
    return server->core ? atomic_load(&server->core->relay_port) : 0;
}

void api_server_drain(struct server *server)
{
    atomic_store(&server->is_stopping, true);
    if (server->core)
        shares_stop(server->core->shares);
}

void api_server_stop(struct server *server, int64_t wait_ms)
{
    struct server_core *core = server->core;
    if (!core)
        return;
    api_server_drain(server);
    int64_t until_us = timestamp_monotonic_us() + wait_ms * 1000;
    while (atomic_load(&core->running) > 0 && timestamp_monotonic_us() < until_us)
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    for (size_t i = 0; i < core->connections.port_count; i++)
        sockets_cut_all(core->connections.ports[i]); // what polls them would hold mg_stop for 2 s
    mg_stop(core->context);
    mg_exit_library();
    server->core = NULL;
    exec_sessions_destroy(server->exec_sessions);
    server->exec_sessions = NULL;
    core_destroy(core);
}
