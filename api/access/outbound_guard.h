// What holds every call of libcurl that somebody's settings aim: where it may connect to, no proxy but the one that is
// set, bounds in time, and an end when the server stops.
#pragma once
#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>

struct network_rules;

struct outbound_guard {
    const struct network_rules *rules;
    const char *proxy;   // NULL: none. The proxy's own address is whoever set it's to answer for.
    const char *ca_file; // certificates to trust instead of the system's; NULL: the system's
    long connect_ms, total_ms;
    const atomic_bool *is_stopping; // NULL: nothing ends it
    bool has_refused;               // result: an address was not let through
};

// Where it may connect to, and nothing else of the guard: a proxy of the environment stays. The guard outlives the
// call.
void outbound_guard_set_sockets(CURL *curl, struct outbound_guard *guard);
// All of it.
void outbound_guard_set(CURL *curl, struct outbound_guard *guard, bool by_proxy);
// What to say of a call that failed.
const char *outbound_guard_reason(const struct outbound_guard *guard, CURLcode code);
