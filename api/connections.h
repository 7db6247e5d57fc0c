// How many connections are open, and that no address holds more than its share: a connection holds a worker from accept
// to close, so one address gets at most a quarter of the workers; a configured proxy, which speaks for many, gets what
// there is. civetweb does not say whose a new connection is, so they are counted on the sockets themselves
// (/proc/self/fd), by the housekeeping thread, and only while there are so many that an address could hold too many.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONNECTION_LIST_MAX = 16
};

struct connections {
    atomic_size_t open_count;
    size_t max_per_address;
    uint32_t proxies[CONNECTION_LIST_MAX]; // network order
    size_t proxy_count;
    uint16_t ports[CONNECTION_LIST_MAX]; // of our listening sockets
    atomic_size_t port_count; // grows once a port stands: the first connections come while the others are told
};

bool connections_are_many(const struct connections *connections);
bool connections_is_proxy(const struct connections *connections, uint32_t address);
// Cuts what addresses hold beyond their share; returns how many.
size_t connections_cut_excess(const struct connections *connections);
