// Bytes on their way from one socket to another, neither of which blocks.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct pipe {
    char *data;
    size_t begin, end;                   // what is held
    bool is_ended;                       // the source will send no more
    bool is_shut;                        // and the target has been told
    bool is_source_gone, is_target_gone; // without a word
};

void pipe_init(struct pipe *pipe);
void pipe_done(struct pipe *pipe);

// Takes in what the source has; puts out what the target takes. True where bytes moved, or the end was told.
bool pipe_fill(struct pipe *pipe, int source);
bool pipe_drain(struct pipe *pipe, int target);

bool pipe_is_empty(const struct pipe *pipe);
bool pipe_wants_more(const struct pipe *pipe);
// A request's head is whole, or longer than any that the server would take.
bool pipe_has_head(const struct pipe *pipe);
// Behind what is held, and cut where there is no room; in front of it, once, for PIPE_FRONT bytes.
void pipe_put(struct pipe *pipe, const char *bytes, size_t length);
void pipe_put_first(struct pipe *pipe, const char *bytes, size_t length);
void pipe_forget(struct pipe *pipe);

enum {
    PIPE_FRONT = 256
};
