#include "apps/apps.h"

#include "apps/link.h"
#include "apps/workers.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/places.h"
#include "base/timestamp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STRANGERS_MAX = 512, // connections that no pass is known of
    EVENTS_MAX = 128,
    BACKLOG = 256,
    LOOK_MS = 1000,
    ASK_AGAIN_US = 2000000
};

struct apps {
    struct link_house house;
    struct places places;
    struct app_domain domain;
    struct side listener, waker;
    struct link *first, *last; // in the order in which they came
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
};

static void append(struct apps *apps, struct link *link)
{
    link->previous = apps->last;
    if (apps->last)
        apps->last->next = link;
    else
        apps->first = link;
    apps->last = link;
}

static void remove_link(struct apps *apps, struct link *link)
{
    if (link->previous)
        link->previous->next = link->next;
    else
        apps->first = link->next;
    if (link->next)
        link->next->previous = link->previous;
    else
        apps->last = link->previous;
    link_destroy(link);
}

// Removes what is over. Only between two waits: a link that is over may still have an event in hand.
static void sweep(struct apps *apps)
{
    for (struct link *link = apps->first, *next; link; link = next) {
        next = link->next;
        if (link->state == LINK_OVER)
            remove_link(apps, link);
    }
}

static bool is_stranger(const struct link *link)
{
    return link->pass < 0 && link->state != LINK_OVER && link->state != LINK_OPENING;
}

// The oldest that has shown nothing makes room. False: there is none.
static bool drop_stranger(struct apps *apps)
{
    for (struct link *link = apps->first; link; link = link->next)
        if (is_stranger(link)) {
            link->state = LINK_OVER;
            side_close(&link->client);
            return true;
        }
    return false;
}

static size_t count_strangers(const struct apps *apps)
{
    size_t count = 0;
    for (const struct link *link = apps->first; link; link = link->next)
        count += is_stranger(link);
    return count;
}

static void take_newcomers(struct apps *apps, int64_t now_us)
{
    size_t strangers = count_strangers(apps);
    for (int i = 0; i < BACKLOG; i++) {
        struct sockaddr_in from;
        socklen_t size = sizeof(from);
        char address[INET_ADDRSTRLEN] = "";
        int fd = accept4(apps->listener.fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            // Without descriptors the rest waits until the next look.
            if ((errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) && !drop_stranger(apps))
                (void)side_watch(&apps->listener, apps->house.epoll_fd, 0);
            return;
        }
        if (strangers >= STRANGERS_MAX && drop_stranger(apps))
            strangers--;
        (void)inet_ntop(AF_INET, &from.sin_addr, address, sizeof(address));
        struct link *link = link_create(&apps->house, fd, address, now_us);
        if (link) {
            append(apps, link);
            strangers++;
        }
    }
}

static void take_done(struct apps *apps, int64_t now_us)
{
    eventfd_t ignored;
    struct job *job;
    (void)eventfd_read(apps->waker.fd, &ignored);
    while ((job = workers_take(apps->house.workers))) {
        enum error_code code = job->err.code;
        if (job->link)
            link_opened(job->link, job->fd, &job->err, now_us);
        else
            passes_answer(apps->house.desk.passes, job->number,
                          code == ERROR_UNAUTHORIZED || code == ERROR_FORBIDDEN || code == ERROR_NOT_FOUND);
        free(job);
    }
}

// Rights and sessions end while bytes pass.
static void ask_again(struct apps *apps, int64_t now_us)
{
    struct job job = {0};
    while ((job.number = passes_next_to_ask(apps->house.desk.passes, now_us, now_us - ASK_AGAIN_US, &job.pass)) >= 0)
        workers_give(apps->house.workers, &job);
}

static void look(struct apps *apps, int64_t now_us)
{
    for (struct link *link = apps->first; link; link = link->next)
        link_look(link, now_us);
    ask_again(apps, now_us);
    (void)side_watch(&apps->listener, apps->house.epoll_fd, EPOLLIN);
}

static void *relay(void *context)
{
    struct apps *apps = context;
    struct epoll_event events[EVENTS_MAX];
    int64_t looked_us = timestamp_monotonic_us();
    while (!atomic_load(&apps->is_stopping)) {
        int count = epoll_wait(apps->house.epoll_fd, events, EVENTS_MAX, LOOK_MS);
        if (count < 0 && errno != EINTR)
            abort(); // our own mistake
        int64_t now_us = timestamp_monotonic_us();
        for (int i = 0; i < count; i++) {
            struct side *side = events[i].data.ptr;
            if (side == &apps->listener)
                take_newcomers(apps, now_us);
            else if (side == &apps->waker)
                take_done(apps, now_us);
            else
                link_handle(side->link, side, events[i].events, now_us);
        }
        if (now_us - looked_us >= LOOK_MS * INT64_C(1000)) {
            looked_us = now_us;
            look(apps, now_us);
        }
        sweep(apps);
    }
    return NULL;
}

static int open_listener(struct apps *apps, const struct apps_options *options, uint16_t *out_port, struct error *err)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(options->port), .sin_addr.s_addr = options->address};
    socklen_t size = sizeof(at);
    apps->listener.fd = fd;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0)
        return error_set(err, ERROR_INVALID, "--apps-listen: cannot listen on %.100s: %s", options->listen,
                         strerror(errno));
    *out_port = ntohs(at.sin_port);
    return 0;
}

static int open_house(struct apps *apps, const struct apps_options *options, struct error *err)
{
    uint16_t port = 0;
    char host[APP_DOMAIN_SIZE];
    const char *colon = strrchr(options->listen, ':');
    if (open_listener(apps, options, &port, err) < 0)
        return -1;
    snprintf(host, sizeof(host), "%.*s:%u", (int)(colon ? colon - options->listen : 0), options->listen, port);
    if (app_domain_parse(options->domain, host, &apps->domain, err) < 0)
        return -1;
    apps->house.desk.domain = apps->domain;
    apps->house.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    apps->waker.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (apps->house.epoll_fd < 0 || apps->waker.fd < 0 ||
        side_watch(&apps->listener, apps->house.epoll_fd, EPOLLIN) < 0 ||
        side_watch(&apps->waker, apps->house.epoll_fd, EPOLLIN) < 0)
        return error_set(err, ERROR_INTERNAL, "cannot watch connections: %s", strerror(errno));
    return 0;
}

int apps_start(const struct apps_options *options, struct apps **out_apps, struct error *err)
{
    struct apps *apps = memory_array(1, sizeof(*apps));
    apps->listener.fd = apps->waker.fd = apps->house.epoll_fd = -1;
    places_init(&apps->places, PLACE_APPS, 0, options->places);
    apps->house.places = &apps->places;
    apps->house.scratch = memory_array(SIDE_READ_MAX, 1);
    apps->house.desk.passes = passes_create();
    int rc = open_house(apps, options, err);
    if (rc == 0)
        rc = workers_start(&options->rights, apps->waker.fd, &apps->house.workers, err);
    if (rc == 0 && (rc = pthread_create(&apps->thread, NULL, relay, apps)) != 0)
        rc = error_set(err, ERROR_INTERNAL, "cannot start a thread: %s", strerror(rc));
    if (rc < 0) {
        apps_stop(apps);
        return -1;
    }
    apps->has_thread = true;
    log_write(LOG_INFO, "apps", "listening address=%s%s domain=%s", apps->domain.is_https ? "https " : "",
              options->listen, apps->domain.scheme_host);
    *out_apps = apps;
    return 0;
}

void apps_stop(struct apps *apps)
{
    if (!apps)
        return;
    atomic_store(&apps->is_stopping, true);
    if (apps->has_thread) {
        if (eventfd_write(apps->waker.fd, 1) < 0)
            abort(); // our own mistake
        pthread_join(apps->thread, NULL);
    }
    workers_stop(apps->house.workers);
    while (apps->first) {
        apps->first->state = LINK_OVER;
        remove_link(apps, apps->first);
    }
    side_close(&apps->listener);
    side_close(&apps->waker);
    if (apps->house.epoll_fd >= 0)
        close(apps->house.epoll_fd);
    passes_destroy(apps->house.desk.passes);
    places_done(&apps->places);
    free(apps->house.scratch);
    free(apps);
}

const struct app_domain *apps_domain(const struct apps *apps)
{
    return &apps->domain;
}

void apps_invite(struct apps *apps, const struct app_pass *pass, char out_address[APP_ADDRESS_SIZE])
{
    char code[PASS_TEXT_SIZE] = "";
    app_sign_in_address(&apps->domain, &pass->place, out_address);
    passes_issue(apps->house.desk.passes, pass, timestamp_monotonic_us(), code);
    size_t length = strlen(out_address);
    snprintf(out_address + length, APP_ADDRESS_SIZE - length, "?code=%s", code);
}
