// One end of a relay: a socket that epoll watches, and the bytes that it has not taken yet. Bytes are read from one end
// only while the other has taken all before, so that memory is bounded by one reading per end.
#pragma once
#include "base/buffer.h"
#include <stdbool.h>
#include <stdint.h>

struct link;

struct side {
    struct link *link; // NULL: none of a link (the loop's own)
    int fd;            // -1: none
    uint32_t events;   // that epoll watches; 0: it does not, so that a peer's end wakes nobody who can't act on it
    struct buffer out; // what is to be written from `sent` on
    size_t sent;
};

enum {
    SIDE_READ_MAX = 65536
};

// Watches for events, where that changes something. -1: the kernel refuses.
int side_watch(struct side *side, int epoll_fd, uint32_t events);
// Writes what it can and keeps the rest. -1: the peer takes no more.
int side_write(struct side *side, const char *data, size_t length);
int side_flush(struct side *side);
bool side_is_clear(const struct side *side);
// As read(), at most SIDE_READ_MAX: 0 at the end, -1 where there is nothing now, -2 where it is broken.
long side_read(struct side *side, char *into, size_t most);
void side_close(struct side *side);
