// One request and its answer, as api's core handles them. Handlers see struct request and struct response only.
#pragma once
#include "api/http/connection_cuts.h"
#include "api/http/connections.h"
#include "api/http/deadlines.h"
#include "api/http/framing.h"
#include "api/http/http_metrics.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/http/shares.h"
#include "api/http/sockets.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/places.h"
#include <stdatomic.h>

struct mg_connection;
struct mg_request_info;

// The body of an answer where it outlives the answer.
struct lasting_body {
    const void *data; // NULL: the exchange's own
    size_t length;
};

// What the server holds besides struct server.
struct server_core {
    struct mg_context *context;
    struct deadlines *deadlines;
    struct connections connections;
    struct connection_cuts cuts;
    struct http_metrics *metrics;
    struct shares *shares;
    int threads;
    int64_t body_max_bytes;
    atomic_uint_fast64_t request_count;
    atomic_int relay_port;     // of connections that peers.h greets; 0: none
    atomic_int running;        // requests between head and answer
    struct place_book *places; // the server's
    struct places streams;
    uint32_t id_seed;
};

struct exchange {
    struct server *server;
    struct mg_connection *connection;
    const struct mg_request_info *info;
    struct connection_ends ends;
    struct worker *worker; // that runs it; may be NULL
    struct framing framing;
    struct arena arena;
    struct buffer body; // of the answer
    struct lasting_body lasting;
    struct buffer headers; // of the answer
    struct request request;
    struct response response;
    enum http_page page; // where request.operation is NULL
    bool must_close;
    bool body_was_read;
    bool holds_stream;
    int stream_place;    // where it does
    struct share *share; // of the caller, where the request reads
    bool is_reading;
    size_t share_bytes;
    struct held_body held_body;
    int64_t started_us;
    int64_t caller_checked_us; // when a stream last looked at its caller's rights
    bool is_revoked;           // they are no longer those that it began with
    size_t sent_bytes;
    int status; // sent
};

// The handler has read what it needs; what it made of it counts until the answer is sent.
void exchange_end_reading(struct exchange *exchange);

// Security headers differ by what is answered.
enum answer_policy {
    ANSWER_POLICY_DATA,
    ANSWER_POLICY_PAGE,
    ANSWER_POLICY_DOCS
};
