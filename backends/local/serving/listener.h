// Whose a listening port of this machine is, as the kernel's list of sockets says.
#pragma once
#include <stdint.h>

enum listener_owner {
    LISTENER_NONE, // nobody listens there, or the list cannot be read
    LISTENER_OWN,  // the user does, or root, or anybody may
    LISTENER_FOREIGN
};

// user -1: anybody may. Looks at all addresses of the machine. Reads as much of the list as there are listening ports.
enum listener_owner listener_owner_of(uint16_t port, int64_t user);
