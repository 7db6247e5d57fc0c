// Who connects to an inference, as far as the machine can say: the address, or for a process of this machine its user.
// All of loopback is such a process's to come from, so an address would tell nothing.
#pragma once

enum {
    CALLER_SIZE = 32
};

// `192.0.2.1`, or `user 1000`; `this machine` where the kernel does not tell whose the socket is (sock_diag(7)).
void caller_of(int fd, char out[CALLER_SIZE]);
