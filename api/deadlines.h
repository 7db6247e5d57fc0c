// Time limits that civetweb does not have: a body that dribbles in, an answer that is not read. A worker registers its
// connection before it reads or writes; when the deadline passes, the housekeeping thread finds the connection's socket
// among /proc/self/fd by both its ends and shuts it down, so that the worker's read or write returns
// (docs/architecture.md, "Time").
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadlines;
struct error;
struct mg_request_info;

// The two ends of a connection.
struct connection_ends {
    uint32_t remote_address; // network order
    uint16_t remote_port;
    uint16_t local_port;
};

enum deadline_effect {
    DEADLINE_ENDS_READING, // the worker can still answer
    DEADLINE_ENDS_ALL,
};

// Further work for the housekeeping thread; called outside its lock, each 250 ms for as long as it returns true.
typedef bool (*deadlines_chore)(void *context);

struct deadlines *deadlines_create(size_t capacity, deadlines_chore chore, void *context,
                                   struct error *err); // capacity: workers
void deadlines_destroy(struct deadlines *deadlines);   // NULL is fine; ends the thread

bool connection_ends_of(const struct mg_request_info *info, struct connection_ends *out_ends);

// One at a time for a connection. Returns what deadlines_end wants.
size_t deadlines_begin(struct deadlines *deadlines, const struct connection_ends *ends, int64_t wait_ms,
                       enum deadline_effect effect);
// True when the deadline had passed.
bool deadlines_end(struct deadlines *deadlines, size_t slot);

// There may be work for the chore.
void deadlines_wake(struct deadlines *deadlines);

// Cuts a connection now. False when no socket has these ends.
bool connection_cut(const struct connection_ends *ends, enum deadline_effect effect);
// Ends listening on this local port and cuts every connection to it: a thread that polls either wakes.
void connection_cut_all(uint16_t local_port);
