// The HTTP side of prorata: civetweb below, one handler, our own router, and the operations of openapi/openapi.yaml.
// One `struct server` is made by daemon/ and passed to every handler; api/ has no globals.
#pragma once
#include "base/places.h"
#include "db/workloads.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct apps;      // apps/apps.h
struct audit;     // api/audit/audit.h
struct audit_key; // db/audit/chain.h
struct auth;      // api/access/auth.h
struct buffer;
struct change_feed;
struct db;
struct exec_sessions;
struct openid; // api/access/openid.h
struct error;
struct notifications; // api/notifications/notifications.h
struct peers;
struct reconciler;
struct socket_access;
struct server_core; // api/server.c: civetweb's context, deadlines, connection counts

#define SERVER_LISTEN_MAX 16
#define SERVER_PROXY_MAX 16

struct server_config {
    const char *data;                      // the data folder: backups lie in it
    const char *listen[SERVER_LISTEN_MAX]; // "127.0.0.1:8080"
    size_t listen_count;
    const char
        *proxies[SERVER_PROXY_MAX]; // addresses whose X-Forwarded-For is believed and that no connection cap holds
    size_t proxy_count;
    int threads;                // 0: 256
    int64_t body_max_bytes;     // 0: 1 MiB
    int64_t workload_max_bytes; // of a specification; 0: any
    struct workload_bounds workload_bounds;
    bool is_metrics_open; // /metrics without a token
};

struct server {
    struct server_config config;
    struct place_book places; // figures of all places, those of other rooms too
    struct db *db;
    struct reconciler *reconciler;
    struct auth *auth;
    struct audit *audit;               // NULL: no records are made
    const struct audit_key *audit_key; // of audit
    struct openid *openid;
    struct notifications *notifications;
    struct apps *apps;                   // workloads' ports by URL; NULL: there are none
    struct exec_sessions *exec_sessions; // api/http/exec_sessions.h; made at the start
    struct change_feed *changes;         // api/http/change_feed.h; made before the reconciler starts

    struct peers *peers; // api/http/peers.h; set before the start where there is a Unix socket, else NULL
    struct socket_access *socket_access; // api/access/socket_access.h; where there are peers

    // /readyz answers 503 with the message until it returns 0. Called from workers. NULL: always ready.
    int (*check_ready)(void *context, struct error *err);
    // Appends the other rooms' metrics to /metrics. Called from workers.
    void (*write_metrics)(void *context, struct buffer *out);
    void *context;       // of both
    int64_t started_ms;  // when the start was done; set then
    const char *warning; // a line for /readyz beside its ok; NULL: none. Set before the start is done

    // Set before api_server_start by who opens the database later: until it is false only probes are answered, all else
    // is 503 with check_ready's message, and what handlers use need not be there.
    atomic_bool is_starting;
    atomic_bool is_stopping; // drain: no new request, streams end
    struct server_core *core;
};
