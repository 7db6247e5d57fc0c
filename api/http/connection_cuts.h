// Which connections give way, so that a slow or greedy client keeps nobody waiting but himself.
// An address holds a quarter of the workers at most. Where more than three quarters of all are held, those whose
// workers only wait for the client (for a head, a further request, a body, an answer to be read) keep half of the
// workers together with the requests that run, and a quarter at least; beyond that the address that holds most loses
// first, and of it what is idle, then what is oldest. So an honest client, who sends a request whole and holds a few
// connections, is reached last. A configured proxy speaks for many: it has no share, and its connections count for the
// clients that it names, each for itself where none is known.
// civetweb doesn't say whose a new connection is. The sockets are looked up among /proc/self/fd; one that no worker
// names is in its first head, or still waits for a worker. It is cut for reading alone, so that a request which has
// arrived is answered all the same.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct connections;

enum cut_reason {
    CUT_SHARE, // its address held more than a quarter of the workers
    CUT_HEAD,
    CUT_IDLE,
    CUT_BODY,
    CUT_ANSWER,
    CUT_REASON_COUNT
};

// What is remembered of sockets between two passes, by descriptor.
struct seen_socket {
    uint64_t ends; // packed
    int64_t since_us;
    int64_t cut_us; // 0: not cut
};

struct connection_cuts {
    struct seen_socket *seen;
    size_t seen_count;
    uint32_t cut_address; // whose connection went last; network order
};

void connection_cuts_done(struct connection_cuts *cuts);
// One pass; adds what it cut to out_counts. The housekeeping thread's alone. O(sockets * log sockets).
void connection_cuts_pass(struct connection_cuts *cuts, struct connections *connections,
                          size_t out_counts[CUT_REASON_COUNT]);
