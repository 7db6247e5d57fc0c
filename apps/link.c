#include "apps/link.h"

#include "apps/workers.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD_S = 10,
    ANSWER_S = 30,
    LINGER_S = 2
};

static const char SWITCHED[] = "HTTP/1.1 101";

static int64_t limit_us(const struct link *link)
{
    switch (link->state) {
    case LINK_HEAD:
        return HEAD_S * INT64_C(1000000);
    case LINK_RELAY:
        return PLACE_SECONDS_APPS * INT64_C(1000000);
    case LINK_ANSWER:
        return ANSWER_S * INT64_C(1000000);
    case LINK_LINGER:
        return LINGER_S * INT64_C(1000000);
    default:
        return INT64_MAX;
    }
}

static void enter(struct link *link, enum link_state state, int64_t now_us)
{
    link->state = state;
    link->moved_us = now_us;
}

// Over, or once the worker who has it is done.
static void fail(struct link *link, int64_t now_us)
{
    link->is_gone = true;
    if (link->state != LINK_OPENING)
        enter(link, LINK_OVER, now_us);
}

static bool has_switched(const struct link *link)
{
    return link->is_websocket && link->status_size == strlen(SWITCHED) &&
           memcmp(link->status, SWITCHED, strlen(SWITCHED)) == 0;
}

// How many bytes the browser may send on.
static size_t may_pass(const struct link *link)
{
    return has_switched(link) || link->body_left > SIDE_READ_MAX ? SIDE_READ_MAX : (size_t)link->body_left;
}

static int watch(struct link *link)
{
    uint32_t client = side_is_clear(&link->client) ? 0 : EPOLLOUT, pod = side_is_clear(&link->pod) ? 0 : EPOLLOUT;
    bool reads =
        link->state == LINK_HEAD || link->state == LINK_LINGER || (link->state == LINK_RELAY && may_pass(link) > 0);
    if (!reads)
        client |= link->is_gone ? 0 : EPOLLRDHUP;
    else if (side_is_clear(&link->pod))
        client |= EPOLLIN;
    if (link->state == LINK_RELAY && side_is_clear(&link->client))
        pod |= EPOLLIN;
    return side_watch(&link->client, link->house->epoll_fd, client) < 0 ||
                   side_watch(&link->pod, link->house->epoll_fd, pod) < 0
               ? -1
               : 0;
}

struct link *link_create(struct link_house *house, int fd, const char *address, int64_t now_us)
{
    struct link *link = memory_array(1, sizeof(*link));
    link->house = house;
    link->client = (struct side){.link = link, .fd = fd};
    link->pod = (struct side){.link = link, .fd = -1};
    link->pass = link->place = -1;
    buffer_init(&link->head, HEAD_BYTES_MAX);
    strncpy(link->address, address, sizeof(link->address) - 1);
    enter(link, LINK_HEAD, now_us);
    if (side_watch(&link->client, house->epoll_fd, EPOLLIN) == 0)
        return link;
    link_destroy(link);
    return NULL;
}

static void leave_place(struct link *link)
{
    if (link->place >= 0)
        places_give_back(link->house->places, link->place);
    if (link->pass >= 0)
        passes_let_go(link->house->desk.passes, link->pass);
    link->place = link->pass = -1;
}

void link_destroy(struct link *link)
{
    assert(link->state != LINK_OPENING);
    leave_place(link);
    side_close(&link->client);
    side_close(&link->pod);
    buffer_done(&link->head);
    free(link);
}

// Writes the rest, then waits a little for the browser to have read it.
static void finish(struct link *link, int64_t now_us)
{
    side_close(&link->pod);
    leave_place(link);
    if (link->client.fd >= 0 && !side_is_clear(&link->client)) {
        enter(link, LINK_ANSWER, now_us);
        return;
    }
    if (link->client.fd < 0 || shutdown(link->client.fd, SHUT_WR) < 0)
        enter(link, LINK_OVER, now_us);
    else
        enter(link, LINK_LINGER, now_us);
}

static void answer(struct link *link, struct buffer *page, int64_t now_us)
{
    int rc = side_write(&link->client, page->data, page->length);
    buffer_done(page);
    if (rc < 0)
        enter(link, LINK_OVER, now_us);
    else
        finish(link, now_us);
}

static void answer_error(struct link *link, const struct error *err, bool is_of_port, int64_t now_us)
{
    struct buffer page;
    buffer_init(&page, 0);
    entry_write_error(err, is_of_port, &page);
    answer(link, &page, now_us);
}

// The head is whole: it is decided, and what comes after it belongs to the body.
static void take_head(struct link *link, size_t length, int64_t now_us)
{
    struct error err = {0};
    struct head *head = &link->house->head;
    struct buffer page;
    struct job job = {.link = link};
    if (head_parse(link->head.data, length, head, &err) < 0) {
        answer_error(link, &err, false, now_us);
        return;
    }
    buffer_init(&page, 0);
    if (!entry_decide(&link->house->desk, head, now_us, &job.pass, &link->pass, &page)) {
        answer(link, &page, now_us);
        return;
    }
    struct place_claim claim = {.holder = job.pass.holder.subject, .workload = job.pass.place.workload, .socket = -1};
    if (places_take(link->house->places, &claim, &link->place, &err) < 0) {
        answer_error(link, &err, true, now_us);
        return;
    }
    struct buffer forwarded;
    buffer_init(&forwarded, 0);
    head_write(head,
               &(struct head_forward){job.pass.holder.name, link->address,
                                      link->house->desk.domain.is_https ? "https" : "http"},
               &forwarded);
    size_t rest = link->head.length - length;
    rest = (int64_t)rest < head->body_bytes ? rest : (size_t)head->body_bytes;
    buffer_append(&forwarded, link->head.data + length, rest);
    link->body_left = head->body_bytes - (int64_t)rest;
    link->is_websocket = head->is_websocket;
    buffer_done(&link->head);
    link->pod.out = forwarded;
    enter(link, LINK_OPENING, now_us);
    workers_give(link->house->workers, &job);
}

static void read_head(struct link *link, int64_t now_us)
{
    long length = side_read(&link->client, link->house->scratch, HEAD_BYTES_MAX - link->head.length);
    if (length == -1)
        return;
    if (length <= 0) {
        enter(link, LINK_OVER, now_us);
        return;
    }
    buffer_append(&link->head, link->house->scratch, (size_t)length);
    size_t whole = head_length(link->head.data, link->head.length);
    if (whole > 0)
        take_head(link, whole, now_us);
    else if (link->head.length >= HEAD_BYTES_MAX)
        answer_error(link, &(struct error){ERROR_HEADERS_TOO_LARGE, "The headers are too large.", ""}, false, now_us);
}

static void pass_up(struct link *link, int64_t now_us)
{
    long length = side_read(&link->client, link->house->scratch, may_pass(link));
    if (length == -1)
        return;
    if (length <= 0 || side_write(&link->pod, link->house->scratch, (size_t)length) < 0) {
        enter(link, LINK_OVER, now_us);
        return;
    }
    link->moved_us = now_us;
    if (!has_switched(link))
        link->body_left -= length;
}

// A pod that does not take the upgrade may wait for another request: none comes.
static void note_status(struct link *link, long length)
{
    if (link->status_size == strlen(SWITCHED))
        return;
    for (long i = 0; i < length && link->status_size < strlen(SWITCHED); i++)
        link->status[link->status_size++] = link->house->scratch[i];
    if (link->is_websocket && link->status_size == strlen(SWITCHED) && !has_switched(link))
        (void)shutdown(link->pod.fd, SHUT_WR);
}

static void pass_down(struct link *link, int64_t now_us)
{
    long length = side_read(&link->pod, link->house->scratch, SIDE_READ_MAX);
    if (length == -1)
        return;
    if (length <= 0 && link->status_size == 0) {
        answer_error(link, &(struct error){ERROR_UNAVAILABLE, "It ended the connection without an answer.", ""}, true,
                     now_us);
        return;
    }
    if (length <= 0) {
        finish(link, now_us);
        return;
    }
    note_status(link, length);
    link->moved_us = now_us;
    if (side_write(&link->client, link->house->scratch, (size_t)length) < 0)
        enter(link, LINK_OVER, now_us);
}

static void handle_client(struct link *link, uint32_t events, int64_t now_us)
{
    if ((events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) && !(events & EPOLLIN)) {
        fail(link, now_us);
        return;
    }
    if (events & EPOLLOUT) {
        link->moved_us = now_us;
        if (side_flush(&link->client) < 0)
            enter(link, LINK_OVER, now_us);
        else if (link->state == LINK_ANSWER && side_is_clear(&link->client))
            finish(link, now_us);
    }
    if (!(events & EPOLLIN))
        return;
    if (link->state == LINK_HEAD)
        read_head(link, now_us);
    else if (link->state == LINK_RELAY && may_pass(link) > 0 && side_is_clear(&link->pod))
        pass_up(link, now_us);
    else if (link->state == LINK_LINGER) {
        long length = side_read(&link->client, link->house->scratch, SIDE_READ_MAX);
        if (length == 0 || length == -2)
            enter(link, LINK_OVER, now_us);
    }
}

static void handle_pod(struct link *link, uint32_t events, int64_t now_us)
{
    if (events & EPOLLOUT) {
        link->moved_us = now_us;
        if (side_flush(&link->pod) < 0) { // it may have answered before it had read all
            side_close(&link->pod);
            enter(link, LINK_OVER, now_us);
            return;
        }
    }
    if (link->state == LINK_RELAY && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && side_is_clear(&link->client))
        pass_down(link, now_us);
}

void link_handle(struct link *link, struct side *side, uint32_t events, int64_t now_us)
{
    if (link->state == LINK_OVER || side->fd < 0)
        return;
    if (side == &link->client)
        handle_client(link, events, now_us);
    else
        handle_pod(link, events, now_us);
    if (link->state != LINK_OVER && watch(link) < 0)
        fail(link, now_us);
}

void link_opened(struct link *link, int fd, const struct error *err, int64_t now_us)
{
    enter(link, LINK_RELAY, now_us);
    if (link->is_gone) {
        if (fd >= 0)
            close(fd);
        enter(link, LINK_OVER, now_us);
        return;
    }
    if (fd < 0) {
        buffer_done(&link->pod.out);
        answer_error(link, err, true, now_us);
    } else {
        link->pod.fd = fd;
        if (side_flush(&link->pod) < 0)
            enter(link, LINK_OVER, now_us);
    }
    if (link->state != LINK_OVER && watch(link) < 0)
        enter(link, LINK_OVER, now_us);
}

void link_look(struct link *link, int64_t now_us)
{
    if (link->state == LINK_OPENING || link->state == LINK_OVER)
        return;
    if (now_us - link->moved_us > limit_us(link) ||
        (link->pass >= 0 && passes_is_over(link->house->desk.passes, link->pass)))
        enter(link, LINK_OVER, now_us);
}
