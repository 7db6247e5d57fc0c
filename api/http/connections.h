// Who holds the workers. A connection holds one from accept to close, so a worker is what a slow client costs the
// others. Each worker says what it does for its connection; /metrics tells, and connection_cuts decides by it who gives
// way.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection_ends; // sockets.h
struct peers;           // peers.h

enum {
    CONNECTION_LIST_MAX = 16,
    CONNECTION_KEPT_S = 60 // an idle one that nobody needs; it is told, so that its client doesn't begin as it ends
};

enum worker_state {
    WORKER_FREE,
    WORKER_HEAD,    // waits for the first request of its connection
    WORKER_IDLE,    // waits for a further one
    WORKER_REQUEST, // carries a request out
    WORKER_BODY,    // waits for a request's body
    WORKER_ANSWER,  // waits until an answer is read
    WORKER_STREAM,  // sends what goes on
    WORKER_STATE_COUNT
};

// Written by its worker, but for was_cut; read by the housekeeping thread.
struct worker {
    atomic_int state;
    atomic_int_fast64_t since_us;
    atomic_uint_fast64_t ends; // packed; 0 until the connection's first request
    atomic_uint client;        // network order: whom a proxy speaks for; else the remote address
    atomic_bool was_cut;       // in this state
};

struct connections {
    struct worker *workers;
    size_t worker_count;
    atomic_size_t worker_next; // given to a thread
    atomic_size_t held_count;  // workers that have a connection
    size_t max_per_address;
    uint32_t proxies[CONNECTION_LIST_MAX]; // network order
    size_t proxy_count;
    uint16_t ports[CONNECTION_LIST_MAX]; // of our listening sockets
    struct peers *peers;                 // NULL: there is no Unix socket
    atomic_size_t port_count; // grows once a port stands: the first connections come while the others are told
};

void connections_init(struct connections *connections, size_t worker_count);
void connections_done(struct connections *connections);

// The calling thread's worker, for as long as it lives. NULL where there are more threads than workers.
struct worker *connections_add_worker(struct connections *connections);
// A connection begins, or has ended. worker NULL is fine here and below.
void connections_open(struct connections *connections, struct worker *worker);
void connections_close(struct connections *connections, struct worker *worker);
// The connection's ends and client are known from its first request on.
void worker_know(struct worker *worker, const struct connection_ends *ends, uint32_t client);
// Returns what it did before.
enum worker_state worker_enter(struct worker *worker, enum worker_state state);
// Whether the housekeeping thread has cut the connection since the state was entered.
bool worker_was_cut(const struct worker *worker);

// So many that one address could hold more than its share.
bool connections_are_many(const struct connections *connections);
// So many that who is slow keeps others waiting: more than three quarters of the workers are held.
bool connections_are_scarce(const struct connections *connections);
bool connections_is_proxy(const struct connections *connections, uint32_t address);
void connections_count(const struct connections *connections, size_t out_counts[WORKER_STATE_COUNT]);
