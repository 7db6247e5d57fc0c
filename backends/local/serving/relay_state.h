// The relay's inside, for its own files: relay.c (services), connections.c (what is handed on). All under the lock.
#pragma once
#include "backends/local/serving/relay_target.h"
#include "base/places.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELAY_HOST_SIZE = 64,
    RELAY_TARGETS_MAX = 1000,
    RELAY_UUID_SIZE = 37,
    RELAY_PIPE_SIZE = 16384,
    RELAY_TICK_MS = 100, // how soon a replica that did not answer is tried again
};

enum end_kind {
    END_LISTENER,
    END_CLIENT,
    END_REPLICA
};

// What epoll knows.
struct end {
    enum end_kind kind;
    int fd; // -1: none
    uint32_t events;
    void *owner;
};

struct held_service {
    struct end listener;
    char uuid[RELAY_UUID_SIZE];
    struct sockaddr_in address;
    struct relay_target targets[RELAY_TARGETS_MAX];
    size_t target_count, next_target;
    int64_t wait_ms;
    int64_t open, waiting;
    int64_t quiet_since_ms;
    int64_t chosen_until_ms; // kept until then though it was not named; 0: it was
    bool is_gone;            // the thread drops it
    bool is_told;            // that its port cannot be had
    bool is_foreign_told;    // that somebody else listens at a replica's
    struct held_service *next;
};

struct pipe_buffer {
    char bytes[RELAY_PIPE_SIZE];
    size_t begin, end;
    bool is_ended, is_shut; // the source; the sink
};

struct connection {
    struct held_service *service;
    struct end client, replica;
    int place;
    bool is_open;   // handed on
    bool has_ended; // the client's sending, while it waits
    bool is_dead;
    int64_t moved_ms; // when a byte went last
    int64_t until_ms; // it waits
    size_t tries;     // of targets, in the present round
    struct relay_target target;
    struct pipe_buffer *up, *down;
    struct connection *next;
};

struct relay {
    struct sockaddr_in host; // of the range, without a port
    uint16_t first, last;
    void (*wake)(void *context);
    void *context;
    pthread_mutex_t lock; // of all below
    pthread_t thread;
    bool has_thread, stopping;
    int epoll_fd, wake_fd;
    struct held_service *services;
    struct connection *connections;
    struct places places;
    struct connection **holders; // of places
};

int64_t relay_now_ms(void);
// What is waited for of an end.
void relay_watch(struct relay *relay, struct end *end, uint32_t events);
void connections_accept(struct relay *relay, struct held_service *service);
void connections_event(struct relay *relay, struct end *end, uint32_t events);
// Those that wait are tried again; those that are over go. True: some wait.
bool connections_tick(struct relay *relay);
void connections_end_all(struct relay *relay, const struct held_service *service); // NULL: of all
