#include "backends/local/serving/relay.h"

#include "backends/local/serving/relay_state.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 128,
    EVENTS = 64,
    CHOSEN_MS = 60 * 1000
};

int64_t relay_now_ms(void)
{
    return timestamp_monotonic_us() / 1000;
}

void relay_watch(struct relay *relay, struct end *end, uint32_t events)
{
    if (end->events == events)
        return;
    struct epoll_event event = {.events = events, .data.ptr = end};
    int verb = end->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    if (epoll_ctl(relay->epoll_fd, verb, end->fd, &event) == 0)
        end->events = events;
}

static int parse_range(const char *range, struct relay *out, struct error *err)
{
    char host[RELAY_HOST_SIZE];
    unsigned first, last;
    char rest;
    if (sscanf(range, "%63[0-9.]:%u-%u%c", host, &first, &last, &rest) != 3 ||
        inet_pton(AF_INET, host, &out->host.sin_addr) != 1 || first < 1 || last > 65535 || first > last)
        return error_set(err, ERROR_INVALID,
                         "local-inference-address: an address and its ports as 127.0.0.1:32001-32700, got %.80s",
                         range);
    out->host.sin_family = AF_INET;
    out->first = (uint16_t)first;
    out->last = (uint16_t)last;
    return 0;
}

static bool parse_address(const char *address, struct sockaddr_in *out)
{
    char host[RELAY_HOST_SIZE];
    unsigned port;
    char rest;
    *out = (struct sockaddr_in){.sin_family = AF_INET};
    if (sscanf(address, "%63[0-9.]:%u%c", host, &port, &rest) != 2 || port < 1 || port > 65535 ||
        inet_pton(AF_INET, host, &out->sin_addr) != 1)
        return false;
    out->sin_port = htons((uint16_t)port);
    return true;
}

static int listen_at(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)); // connections of a server before linger
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
}

static struct held_service *find(const struct relay *relay, const char *uuid)
{
    for (struct held_service *at = relay->services; at; at = at->next)
        if (!at->is_gone && strcmp(at->uuid, uuid) == 0)
            return at;
    return NULL;
}

static struct held_service *add(struct relay *relay, const char *uuid, const struct sockaddr_in *address, int fd)
{
    struct held_service *service = memory_array(1, sizeof(*service));
    service->listener = (struct end){.kind = END_LISTENER, .fd = fd, .owner = service};
    snprintf(service->uuid, sizeof(service->uuid), "%s", uuid);
    service->address = *address;
    service->quiet_since_ms = relay_now_ms();
    service->next = relay->services;
    relay->services = service;
    return service;
}

// By the thread alone, between its events: one of them may still name it.
static void drop(struct relay *relay, struct held_service *service)
{
    connections_end_all(relay, service);
    (void)connections_tick(relay); // none of them names it any more
    for (struct held_service **at = &relay->services; *at; at = &(*at)->next)
        if (*at == service) {
            *at = service->next;
            break;
        }
    if (service->listener.fd >= 0) {
        relay_watch(relay, &service->listener, 0);
        close(service->listener.fd);
    }
    free(service);
}

// Its port, where it can be had; said once where it cannot.
static void hold(struct relay *relay, struct held_service *service)
{
    if (service->listener.fd < 0) {
        service->listener.fd = listen_at(&service->address);
        if (service->listener.fd < 0 && !service->is_told)
            log_write(LOG_WARN, "backends", "port %u of inference %s cannot be had and is tried again: %s",
                      (unsigned)ntohs(service->address.sin_port), service->uuid, strerror(errno));
        service->is_told = service->listener.fd < 0;
    }
    if (service->listener.fd >= 0 && !service->chosen_until_ms)
        relay_watch(relay, &service->listener, EPOLLIN);
}

static void nudge(const struct relay *relay)
{
    uint64_t one = 1;
    if (write(relay->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
        log_write(LOG_WARN, "backends", "the relay of inferences cannot be woken: %s", strerror(errno));
}

int inference_relay_choose(struct relay *relay, const char *uuid, char *out_address, size_t size, struct error *err)
{
    uint32_t hash = UINT32_C(2166136261), count = (uint32_t)(relay->last - relay->first) + 1; // FNV-1a
    for (const char *at = uuid; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
    struct sockaddr_in address = relay->host;
    char host[INET_ADDRSTRLEN];
    int fd = -1;
    pthread_mutex_lock(&relay->lock);
    const struct held_service *held = find(relay, uuid);
    if (held)
        address = held->address; // pods of it are adopted
    for (uint32_t i = 0; i < count && fd < 0 && !held; i++) {
        address.sin_port = htons((uint16_t)(relay->first + (hash + i) % count));
        fd = listen_at(&address);
    }
    if (fd >= 0)
        add(relay, uuid, &address, fd)->chosen_until_ms = relay_now_ms() + CHOSEN_MS;
    pthread_mutex_unlock(&relay->lock);
    if (!held && fd < 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "all %u ports for inferences are taken: name more (--local-inference-address)", count);
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host));
    snprintf(out_address, size, "%s:%u", host, (unsigned)ntohs(address.sin_port));
    return 0;
}

static bool is_named(const struct held_service *held, const struct relay_service *services, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(held->uuid, services[i].uuid) == 0)
            return true;
    return false;
}

static void set_targets(struct held_service *held, const struct relay_service *service)
{
    held->target_count = service->target_count < RELAY_TARGETS_MAX ? service->target_count : RELAY_TARGETS_MAX;
    if (held->target_count)
        memcpy(held->targets, service->targets, held->target_count * sizeof(*held->targets));
    held->wait_ms = service->wait_ms;
    held->chosen_until_ms = 0;
}

void inference_relay_set(struct relay *relay, const struct relay_service *services, size_t count)
{
    struct sockaddr_in address;
    pthread_mutex_lock(&relay->lock);
    int64_t now_ms = relay_now_ms();
    for (struct held_service *at = relay->services; at; at = at->next)
        at->is_gone |= !is_named(at, services, count) && at->chosen_until_ms <= now_ms;
    for (size_t i = 0; i < count; i++) {
        struct held_service *held = find(relay, services[i].uuid);
        if (!held && parse_address(services[i].address, &address))
            held = add(relay, services[i].uuid, &address, -1);
        if (!held)
            continue;
        set_targets(held, &services[i]);
        hold(relay, held);
    }
    pthread_mutex_unlock(&relay->lock);
    nudge(relay);
}

bool inference_relay_read(struct relay *relay, const char *uuid, struct relay_state *out)
{
    pthread_mutex_lock(&relay->lock);
    const struct held_service *held = find(relay, uuid);
    if (held)
        *out = (struct relay_state){held->open, held->waiting,
                                    held->open + held->waiting ? 0 : relay_now_ms() - held->quiet_since_ms};
    pthread_mutex_unlock(&relay->lock);
    return held != NULL;
}

static void take_events(struct relay *relay, const struct epoll_event *events, int count)
{
    uint64_t ignored;
    for (int i = 0; i < count; i++) {
        struct end *end = events[i].data.ptr;
        if (!end) {
            while (read(relay->wake_fd, &ignored, sizeof(ignored)) > 0)
                ;
            continue;
        }
        if (end->kind == END_LISTENER && !((const struct held_service *)end->owner)->is_gone)
            connections_accept(relay, end->owner);
        else if (end->kind == END_LISTENER)
            relay_watch(relay, end, 0);
        else
            connections_event(relay, end, events[i].events);
    }
}

static void *run(void *context)
{
    struct relay *relay = context;
    struct epoll_event events[EVENTS];
    bool waits = false;
    for (;;) {
        int count = epoll_wait(relay->epoll_fd, events, EVENTS, waits ? RELAY_TICK_MS : 1000);
        pthread_mutex_lock(&relay->lock);
        if (relay->stopping)
            break;
        take_events(relay, events, count);
        waits = connections_tick(relay);
        for (struct held_service *at = relay->services, *next; at; at = next) {
            next = at->next;
            if (at->is_gone)
                drop(relay, at);
            else if (!at->chosen_until_ms)
                hold(relay, at);
        }
        pthread_mutex_unlock(&relay->lock);
    }
    connections_end_all(relay, NULL);
    (void)connections_tick(relay);
    pthread_mutex_unlock(&relay->lock);
    return NULL;
}

int inference_relay_create(const char *range, struct place_book *book, relay_wake_fn wake, void *context,
                           struct relay **out_relay, struct error *err)
{
    struct relay *relay = memory_array(1, sizeof(*relay));
    relay->wake = wake;
    relay->context = context;
    relay->epoll_fd = relay->wake_fd = -1;
    pthread_mutex_init(&relay->lock, NULL);
    places_init(&relay->places, PLACE_INFERENCES, 0, book);
    relay->holders = memory_array((size_t)relay->places.count, sizeof(struct connection *));
    int rc = parse_range(range, relay, err);
    if (rc == 0) {
        struct epoll_event event = {.events = EPOLLIN};
        relay->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        relay->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (relay->epoll_fd < 0 || relay->wake_fd < 0 ||
            epoll_ctl(relay->epoll_fd, EPOLL_CTL_ADD, relay->wake_fd, &event) < 0)
            rc = error_set(err, ERROR_INTERNAL, "the relay of inferences: %s", strerror(errno));
    }
    if (rc == 0)
        *out_relay = relay;
    else
        inference_relay_destroy(relay);
    return rc;
}

int inference_relay_start(struct relay *relay, struct error *err)
{
    int cause = pthread_create(&relay->thread, NULL, run, relay);
    relay->has_thread = cause == 0;
    return cause ? error_set(err, ERROR_INTERNAL, "the relay of inferences: %s", strerror(cause)) : 0;
}

void inference_relay_stop(struct relay *relay)
{
    if (!relay || !relay->has_thread)
        return;
    pthread_mutex_lock(&relay->lock);
    relay->stopping = true;
    pthread_mutex_unlock(&relay->lock);
    nudge(relay);
    pthread_join(relay->thread, NULL);
    relay->has_thread = false;
}

void inference_relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    inference_relay_stop(relay);
    while (relay->services)
        drop(relay, relay->services);
    if (relay->epoll_fd >= 0)
        close(relay->epoll_fd);
    if (relay->wake_fd >= 0)
        close(relay->wake_fd);
    places_done(&relay->places);
    free(relay->holders);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}
