// Connections of the machine's own users, which come by a Unix socket (daemon/socket.h). civetweb 1.15 speaks TCP
// alone, so each is handed on over loopback, to a listening port of its own. What says whose it is is neither its
// address nor its port, which somebody else may have had before, but a secret of 32 random bytes: the relay sends it as
// the connection's first request, it is good once, and only for the port that the relay is bound to. It never leaves
// this process, and a connection that does not begin with one is shut.
#pragma once
#include "base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection_ends;
struct mg_connection;
struct peers;

enum {
    PEER_GREETING_SIZE = 192,
    PEER_ADDRESS_SIZE = 32
};

// Who is at the other end. Its connection's worker alone has it.
struct peer {
    int64_t uid;                     // as the kernel said when it connected
    char address[PEER_ADDRESS_SIZE]; // "unix:1001": where others have their IP address
    char session[UUID_SIZE];         // that it has signed in with; "": none yet
};

// max: connections at a time.
struct peers *peers_create(size_t max);
void peers_destroy(struct peers *peers);

// For the relay, before it connects from the loopback port. The greeting is what it must send first. Returns the
// number of the entry, or -1 where all are taken.
int peers_expect(struct peers *peers, uint16_t port, int64_t uid, char out_greeting[PEER_GREETING_SIZE]);
// When the relay has closed its end.
void peers_forget(struct peers *peers, int number);

// For the server: the first request of a connection to the relay's port. NULL: no relay sent it. What is returned is
// the caller's, to be freed.
struct peer *peers_greet(struct peers *peers, struct mg_connection *connection);
// Whether a relay of ours is at the other end, also of a connection that has said nothing yet.
bool peers_is_relay(struct peers *peers, const struct connection_ends *ends);
