#include "apps/side.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int side_watch(struct side *side, int epoll_fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = side};
    if (side->fd < 0 || events == side->events)
        return 0;
    int what = !side->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (epoll_ctl(epoll_fd, what, side->fd, &event) < 0)
        return -1;
    side->events = events;
    return 0;
}

bool side_is_clear(const struct side *side)
{
    return side->out.length == side->sent;
}

// Bytes that were taken, or -1.
static ssize_t send_some(const struct side *side, const char *data, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t sent = send(side->fd, data + done, length - done, MSG_NOSIGNAL);
        if (sent > 0)
            done += (size_t)sent;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}

int side_flush(struct side *side)
{
    ssize_t sent = send_some(side, side->out.data + side->sent, side->out.length - side->sent);
    if (sent < 0)
        return -1;
    side->sent += (size_t)sent;
    if (side_is_clear(side)) {
        buffer_done(&side->out); // an idle connection has no memory for bytes
        side->sent = 0;
    }
    return 0;
}

int side_write(struct side *side, const char *data, size_t length)
{
    if (!side_is_clear(side)) {
        buffer_append(&side->out, data, length);
        return side_flush(side);
    }
    ssize_t sent = send_some(side, data, length);
    if (sent < 0)
        return -1;
    if ((size_t)sent < length)
        buffer_append(&side->out, data + sent, length - (size_t)sent);
    return 0;
}

long side_read(struct side *side, char *into, size_t most)
{
    for (;;) {
        ssize_t length = recv(side->fd, into, most < SIDE_READ_MAX ? most : SIDE_READ_MAX, 0);
        if (length >= 0)
            return length;
        if (errno == EAGAIN)
            return -1;
        if (errno != EINTR)
            return -2;
    }
}

void side_close(struct side *side)
{
    if (side->fd >= 0)
        close(side->fd);
    side->fd = -1;
    buffer_done(&side->out);
    side->sent = 0;
}
