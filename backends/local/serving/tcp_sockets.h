// TCP sockets of this machine, as the kernel's list has them (sock_diag(7)): who listens at a port, and what is at the
// other end of a connection that stays on this machine. A socket's number tells which processes have it open.
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum {
    TCP_LISTENING_MAX = 4096 // at one port
};

struct tcp_socket {
    uint32_t number; // its inode; 0: no process has it open (yet, or any more)
    unsigned user;
    int state;               // TCP_LISTEN, TCP_ESTABLISHED, ...
    int family;              // AF_INET also of one of IPv6 that is bound to an address of IPv4
    struct in6_addr address; // its own; of AF_INET the first four bytes
    bool is_v6_only;         // of one of IPv6 that listens: takes no connection of IPv4
    bool is_held;            // the caller's
};

// At all addresses of the machine, in the arena. False: the kernel does not say, or there are too many.
bool tcp_sockets_list(uint16_t port, struct arena *arena, struct tcp_socket **out_sockets, size_t *out_count);

enum tcp_other_end {
    TCP_OTHER_END_UNKNOWN, // the kernel does not say
    TCP_OTHER_END_GONE,    // there is no such socket on this machine
    TCP_OTHER_END_FOUND
};

// fd is connected.
enum tcp_other_end tcp_sockets_find_other_end(int fd, struct tcp_socket *out_socket);
