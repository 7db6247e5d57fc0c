// The addresses the server listens on.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;

struct listen_address {
    uint32_t address; // network order
    uint16_t port;    // 0: a free one
};

// "127.0.0.1:8080", "0.0.0.0:80", ":8080" (every address), "localhost:8080". ERROR_INVALID with a sentence for IPv6 and
// TLS.
int listen_parse(const char *text, struct listen_address *out_address, struct error *err);
// Whether the address can be bound now; the message names what is in the way.
int listen_try(const char *text, const struct listen_address *address, struct error *err);
// A dotted address to network order; ERROR_INVALID.
int address_parse(const char *text, uint32_t *out_address, struct error *err);

// Checks an address of --listen: "ADDR:PORT", IPv4. The sentence says why IPv6 and TLS are not there and what to do
// instead.
int listen_check(const char *text, struct error *err);
