// The sockets of this process as /proc/self/fd shows them: civetweb tells neither its descriptors nor, of a new
// connection, the ends.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct mg_request_info;

// The two ends of a connection. A listening socket has no remote one.
struct connection_ends {
    uint32_t remote_address; // network order
    uint16_t remote_port;
    uint16_t local_port;
};

bool connection_ends_of(const struct mg_request_info *info, struct connection_ends *out_ends);
// As one number, which is 0 of no connection; the upper half is the remote address.
uint64_t connection_ends_pack(const struct connection_ends *ends);

// False where the descriptor is no socket of IPv4 that is bound.
bool socket_ends(int fd, struct connection_ends *out_ends);
// Calls visit with each socket of IPv4, listening ones too, until it returns true.
void sockets_visit(bool (*visit)(int fd, const struct connection_ends *ends, void *context), void *context);
// Ends listening on this local port and cuts every connection to it: a thread that polls either wakes.
void sockets_cut_all(uint16_t local_port);
