// Addresses of inferences on this machine: a thread holds a port for each of them, and hands each connection on to the
// replica with the fewest. Bytes pass through as they are. While no replica answers, connections wait, up to the
// service's own bound, and the owner is woken so that one is started. Who ends their sending meanwhile has left.
// Connections are shared between callers and between inferences; where they are scarce the longest idle one goes.
// Who listens at a replica's port in its place gets no connection, where he is another user of the machine.
// A connection that is handed on ends with the server; the ports themselves are taken up again at its next start.
#pragma once
#include "backends/local/serving/relay_target.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct place_book; // base/places.h
struct relay;

struct relay_service {
    const char *uuid;    // of its workload
    const char *address; // HOST:PORT to hold
    const struct relay_target *targets;
    size_t target_count;
    int64_t wait_ms; // the longest that a connection waits for a replica
};

struct relay_state {
    int64_t open, waiting, quiet_ms;
};

typedef void (*relay_wake_fn)(void *context);

// range: HOST:FIRST-LAST, an address of this machine in numbers. ERROR_INVALID: it is none. The range is copied.
// Connections are places of the kind PLACE_INFERENCES. book: NULL, or it outlives the relay.
int inference_relay_create(const char *range, struct place_book *book, relay_wake_fn wake, void *context,
                           struct relay **out_relay, struct error *err);
void inference_relay_destroy(struct relay *relay);
// From here on the thread runs.
int inference_relay_start(struct relay *relay, struct error *err);
void inference_relay_stop(struct relay *relay);
// A port of the range that nobody has; held for a minute, until inference_relay_set names it. What has one keeps it.
// ERROR_UNAVAILABLE: all are taken. Any thread, like the two below.
int inference_relay_choose(struct relay *relay, const char *uuid, char *out_address, size_t size, struct error *err);
// These services and no others; what was handed on to a service that is gone ends.
void inference_relay_set(struct relay *relay, const struct relay_service *services, size_t count);
// False: it is none of them.
bool inference_relay_read(struct relay *relay, const char *uuid, struct relay_state *out);
