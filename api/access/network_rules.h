// Which addresses the server may connect to for others: the public internet's, and networks that a setting names.
//
// Without a setting no address of this machine, a private network, a link, a group, or a kind that carries another
// address in it (IPv4 in IPv6, NAT64, 6to4, Teredo) is let through. What is looked at is the address that is connected
// to, after names were resolved: a name that changes its address gains nothing.
//
// Rules of the site are for what its administrators set up: private networks and this machine are meant. Addresses at
// which a machine alone is answered stay closed: link-local ones, in any form, and where clouds tell machines secrets.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct sockaddr;

enum {
    NETWORK_RULES_MAX = 16
};

struct network {
    unsigned char address[16]; // IPv4 as ::ffff:a.b.c.d
    int bits;                  // of the 128
};

struct network_rules {
    struct network allowed[NETWORK_RULES_MAX];
    size_t allowed_count;
    bool are_of_site; // what the site's administrators set up, wherever it is, but link-local addresses
};

// Adds "10.1.0.0/16", "192.168.1.7" or "fd00::/8". ERROR_INVALID.
int network_rules_add(struct network_rules *rules, const char *text, struct error *err);
bool network_rules_allow(const struct network_rules *rules, const struct sockaddr *address);
