// One connection of a browser, from its head to its last byte. The loop's thread alone.
#pragma once
#include "apps/entry.h"
#include "apps/side.h"
#include <netinet/in.h>

struct error;
struct workers;
struct places;

enum link_state {
    LINK_HEAD,    // is read
    LINK_OPENING, // a worker has it
    LINK_RELAY,
    LINK_ANSWER, // a page of ours, or the rest of the pod's answer, is written
    LINK_LINGER, // all is written; what the browser still sends is thrown away, so that it reads our last bytes
    LINK_OVER
};

// What all links share.
struct link_house {
    struct entry_desk desk;
    struct workers *workers;
    struct places *places;
    int epoll_fd;
    char *scratch;    // SIDE_READ_MAX
    struct head head; // that is read now; large for a stack
};

struct link {
    struct link_house *house;
    enum link_state state;
    struct side client, pod;
    struct buffer head;
    int64_t body_left;  // of the request, that may still pass
    bool is_websocket;  // asked for
    bool is_gone;       // the browser, while a worker has the link
    char status[13];    // the first bytes of the pod's answer
    size_t status_size; // of them
    int pass, place;    // -1: none
    int64_t moved_us;   // when a byte moved, or the state changed
    char address[INET_ADDRSTRLEN];
    struct link *next, *previous;
};

// Takes fd over. NULL where epoll refuses it; then it is closed.
struct link *link_create(struct link_house *house, int fd, const char *address, int64_t now_us);
// Not while a worker has it.
void link_destroy(struct link *link);
// Something happened at a side; LINK_OVER afterwards: it is to be destroyed.
void link_handle(struct link *link, struct side *side, uint32_t events, int64_t now_us);
// The port that a worker has opened (fd is taken over), or why not.
void link_opened(struct link *link, int fd, const struct error *err, int64_t now_us);
// Ends what takes too long, and what has lost its right.
void link_look(struct link *link, int64_t now_us);
