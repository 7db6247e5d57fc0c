#include "daemon/socket_pipe.h"

#include "base/arena.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    PIPE_SIZE = 32768,
    HEAD_MAX = 16384 + 1 // the server takes 16 KiB, and answers what is longer
};

void pipe_init(struct pipe *pipe)
{
    *pipe = (struct pipe){.data = memory_alloc(PIPE_SIZE), .begin = PIPE_FRONT, .end = PIPE_FRONT};
}

void pipe_done(struct pipe *pipe)
{
    free(pipe->data);
    *pipe = (struct pipe){0};
}

bool pipe_is_empty(const struct pipe *pipe)
{
    return pipe->begin == pipe->end;
}

bool pipe_wants_more(const struct pipe *pipe)
{
    return !pipe->is_ended && pipe->end < PIPE_SIZE;
}

static bool can_wait(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOTCONN;
}

bool pipe_fill(struct pipe *pipe, int source)
{
    if (source < 0 || !pipe_wants_more(pipe))
        return false;
    ssize_t got = recv(source, pipe->data + pipe->end, PIPE_SIZE - pipe->end, 0);
    if (got > 0)
        pipe->end += (size_t)got;
    else if (got == 0)
        pipe->is_ended = true;
    else if (!can_wait())
        pipe->is_ended = pipe->is_source_gone = true;
    return got >= 0;
}

bool pipe_drain(struct pipe *pipe, int target)
{
    bool has_moved = false;
    if (target < 0)
        return false;
    while (!pipe_is_empty(pipe)) {
        ssize_t sent = send(target, pipe->data + pipe->begin, pipe->end - pipe->begin, MSG_NOSIGNAL);
        if (sent < 0 && !can_wait()) { // what it has said before may still be read
            pipe->is_ended = pipe->is_shut = pipe->is_target_gone = true;
            pipe_forget(pipe);
        }
        if (sent <= 0)
            return has_moved;
        pipe->begin += (size_t)sent;
        has_moved = true;
    }
    pipe->begin = pipe->end = PIPE_FRONT;
    if (pipe->is_ended && !pipe->is_shut) {
        pipe->is_shut = true;
        shutdown(target, SHUT_WR);
    }
    return has_moved;
}

bool pipe_has_head(const struct pipe *pipe)
{
    size_t held = pipe->end - pipe->begin;
    return held >= HEAD_MAX || memmem(pipe->data + pipe->begin, held, "\r\n\r\n", 4) != NULL;
}

void pipe_put(struct pipe *pipe, const char *bytes, size_t length)
{
    size_t room = PIPE_SIZE - pipe->end;
    if (length > room)
        length = room;
    memcpy(pipe->data + pipe->end, bytes, length);
    pipe->end += length;
}

void pipe_put_first(struct pipe *pipe, const char *bytes, size_t length)
{
    assert(length <= pipe->begin);
    pipe->begin -= length;
    memcpy(pipe->data + pipe->begin, bytes, length);
}

void pipe_forget(struct pipe *pipe)
{
    pipe->begin = pipe->end = PIPE_FRONT;
}
