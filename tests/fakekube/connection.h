// The client's connection: answers whole, cut short, or as a stream; a reset as the network gives one.
#pragma once
#include "tests/fakekube/call.h"

enum connection_end {
    CONNECTION_ENDS, // as the protocol has it
    CONNECTION_CUT,  // closed in the middle
    CONNECTION_RESET
};

// Sends the call's answer; with bytes >= 0 only so many of the body, and the connection is closed.
void connection_send(struct call *call, int64_t bytes);
void connection_reset(struct call *call);
// The client's socket, for who speaks another protocol on it; it is closed when the call is done.
int connection_take(struct call *call);
bool connection_is_gone(struct call *call);
void connection_begin_stream(struct call *call, const char *type);
int connection_send_chunk(struct call *call, const char *data, size_t length);
void connection_end_stream(struct call *call, enum connection_end end);
