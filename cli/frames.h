// Streams of frames: a byte of what it is, four of its length, the highest first, and the bytes. A frame counts once it
// is whole; what a broken stream left of one is dropped.
#pragma once
#include "base/buffer.h"
#include <stdbool.h>
#include <stddef.h>

// False ends the stream.
typedef bool (*frame_fn)(void *context, char kind, const char *data, size_t length);

struct frames {
    struct buffer bytes; // of the frame that is not whole yet
    frame_fn fn;
    void *context;
};

void frames_init(struct frames *frames, frame_fn fn, void *context);
void frames_done(struct frames *frames);
// For client_stream: context is a struct frames.
size_t frames_take(char *data, size_t size, size_t count, void *context);
