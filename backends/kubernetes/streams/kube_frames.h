// Frames of a WebSocket (RFC 6455), as a client reads and writes them: 7, 16 and 64 bits of length, messages in
// fragments, control frames between them. What comes from a server is not masked, what goes to it is.
#pragma once
#include "base/buffer.h"

#include <stdint.h>

struct error;

enum kube_frame {
    KUBE_FRAME_MORE = 0, // a fragment that goes on
    KUBE_FRAME_TEXT = 1,
    KUBE_FRAME_BINARY = 2,
    KUBE_FRAME_CLOSE = 8,
    KUBE_FRAME_PING = 9,
    KUBE_FRAME_PONG = 10
};

enum {
    KUBE_MESSAGE_MAX = 1 << 20, // all fragments of one
    KUBE_CONTROL_MAX = 125
};

// A whole message, or a control frame. Return -1 with err set to end it all.
typedef int (*kube_message_fn)(void *context, enum kube_frame kind, const char *data, size_t length, struct error *err);

struct kube_frames {
    struct buffer head;    // of the frame that has begun
    struct buffer message; // fragments of a message
    struct buffer control; // what a control frame carries
    uint64_t left;         // bytes of the frame that are to come
    enum kube_frame kind;  // of the message: text or binary
    enum kube_frame frame; // of the frame that has begun
    bool is_last, is_in_frame, is_in_message;
};

void kube_frames_init(struct kube_frames *frames);
void kube_frames_done(struct kube_frames *frames);
// Takes bytes as they come. -1: they are no frames of a server, or take refused: nothing more is to be fed.
int kube_frames_feed(struct kube_frames *frames, const char *data, size_t length, kube_message_fn take, void *context,
                     struct error *err);
// Appends one whole frame with one part in front of the other. mask is random.
void kube_frame_write(struct buffer *out, enum kube_frame kind, uint32_t mask, const char *first, size_t first_length,
                      const char *data, size_t length);
