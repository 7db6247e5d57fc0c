// Hands the connections of the Unix socket on to the server, over loopback: api/http/peers.h says how the server knows
// them. One thread moves the bytes. A connection reaches the server when its first head is whole, so one that sends
// nothing, or slowly, holds none of the server's workers.
//
// Bounds: max connections at a time, of which a user has a quarter, and all that are refused an eighth. Where none is
// free for a newcomer, the user who holds most gives one of his, if he holds more: one without a whole head, the oldest
// first, else the oldest. A head must be whole in 5 s; then the server's own limits count.
#pragma once
#include "daemon/socket_peer.h"
#include <stddef.h>
#include <stdint.h>

struct audit;
struct place_book; // base/places.h
struct error;
struct peers;
struct relay;

struct relay_options {
    int listen_fd;       // the caller's, open as long as the relay
    struct peers *peers; // room for max
    uint16_t port;       // the server's for relays
    size_t max;
    struct pod_marks marks;
    struct place_book *places;
    struct audit *audit; // hears of whom it refuses; NULL: nobody does
};

int relay_start(const struct relay_options *options, struct relay **out_relay, struct error *err);
// Ends all connections.
void relay_stop(struct relay *relay);
