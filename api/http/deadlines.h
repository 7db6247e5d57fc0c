// Time limits that civetweb does not have: a body that dribbles in, an answer that is not read. A worker registers its
// connection before it reads or writes; when the deadline passes, the housekeeping thread finds the connection's socket
// among /proc/self/fd by both its ends and shuts it down, so that the worker's read or write returns.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadlines;
struct error;
struct connection_ends; // sockets.h

enum deadline_effect {
    DEADLINE_ENDS_READING, // the worker can still answer
    DEADLINE_ENDS_ALL,
};

// Further work for the housekeeping thread; called outside its lock. Returns after how many ms it is due again; 0: when
// it is woken.
typedef int64_t (*deadlines_chore)(void *context);

struct deadlines *deadlines_create(size_t capacity, deadlines_chore chore, void *context,
                                   struct error *err); // capacity: workers
void deadlines_destroy(struct deadlines *deadlines);   // NULL is fine; ends the thread

// One at a time for a connection. Returns what deadlines_end wants.
size_t deadlines_begin(struct deadlines *deadlines, const struct connection_ends *ends, int64_t wait_ms,
                       enum deadline_effect effect);
// True when the deadline had passed.
bool deadlines_end(struct deadlines *deadlines, size_t slot);

// There is work for the chore, to be done in wait_ms at the latest; but it rests for 20 ms after each time.
void deadlines_wake(struct deadlines *deadlines, int64_t wait_ms);
