#include "cli/frames.h"

#include <string.h>

enum {
    FRAME_HEAD = 5,
    FRAMES_BYTES_MAX = 64 << 20
};

void frames_init(struct frames *frames, frame_fn fn, void *context)
{
    *frames = (struct frames){.fn = fn, .context = context};
    buffer_init(&frames->bytes, FRAMES_BYTES_MAX);
}

void frames_done(struct frames *frames)
{
    buffer_done(&frames->bytes);
}

static size_t length_of(const char *head)
{
    size_t length = 0;
    for (int i = 1; i < FRAME_HEAD; i++)
        length = length << 8 | (unsigned char)head[i];
    return length;
}

size_t frames_take(char *data, size_t size, size_t count, void *context)
{
    struct frames *frames = context;
    struct buffer *bytes = &frames->bytes;
    size_t at = 0;
    buffer_append(bytes, data, size * count);
    if (bytes->overflow)
        return 0;
    while (bytes->length - at >= FRAME_HEAD) {
        const char *frame = bytes->data + at;
        size_t length = length_of(frame);
        if (length > bytes->length - at - FRAME_HEAD)
            break;
        if (!frames->fn(frames->context, frame[0], frame + FRAME_HEAD, length))
            return 0;
        at += FRAME_HEAD + length;
    }
    if (at > 0) {
        bytes->length -= at;
        memmove(bytes->data, bytes->data + at, bytes->length);
    }
    return size * count;
}
