#include "backends/kubernetes/streams/kube_frames.h"

#include "base/error.h"

#include <string.h>

enum {
    LAST = 0x80,
    RESERVED = 0x70,
    KIND = 0x0f,
    MASKED = 0x80,
    LENGTH = 0x7f,
    LENGTH_16 = 126,
    LENGTH_64 = 127,
    HEAD_MAX = 10,
    CONTROL = 8
};

void kube_frames_init(struct kube_frames *frames)
{
    *frames = (struct kube_frames){0};
    buffer_init(&frames->head, HEAD_MAX);
    buffer_init(&frames->message, KUBE_MESSAGE_MAX);
    buffer_init(&frames->control, KUBE_CONTROL_MAX);
}

void kube_frames_done(struct kube_frames *frames)
{
    buffer_done(&frames->head);
    buffer_done(&frames->message);
    buffer_done(&frames->control);
}

static int refuse(struct error *err, const char *what)
{
    return error_set(err, ERROR_UNAVAILABLE, "the cluster does not keep to WebSocket: %s", what);
}

// How long the head is, as far as its bytes tell.
static size_t head_size(const struct buffer *head)
{
    size_t length = head->length < 2 ? 0 : (unsigned char)head->data[1] & LENGTH;
    return length == LENGTH_16 ? 4 : length == LENGTH_64 ? 10 : 2;
}

static uint64_t number_of(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

static int begin_frame(struct kube_frames *frames, struct error *err)
{
    const unsigned char *head = (const unsigned char *)frames->head.data;
    int kind = head[0] & KIND;
    size_t short_length = head[1] & LENGTH;
    frames->is_last = (head[0] & LAST) != 0;
    frames->frame = (enum kube_frame)kind;
    frames->left = short_length == LENGTH_16   ? number_of(head + 2, 2)
                   : short_length == LENGTH_64 ? number_of(head + 2, 8)
                                               : short_length;
    if (head[0] & RESERVED)
        return refuse(err, "bits that mean nothing");
    if (head[1] & MASKED)
        return refuse(err, "a server's frame is masked");
    if (kind > KUBE_FRAME_PONG || (kind > KUBE_FRAME_BINARY && kind < KUBE_FRAME_CLOSE))
        return refuse(err, "a frame of an unknown kind");
    if ((kind & CONTROL) && (!frames->is_last || frames->left > KUBE_CONTROL_MAX))
        return refuse(err, "a control frame that is cut or long");
    if (kind == KUBE_FRAME_MORE && !frames->is_in_message)
        return refuse(err, "a fragment of no message");
    if (!(kind & CONTROL) && kind != KUBE_FRAME_MORE && frames->is_in_message)
        return refuse(err, "a message inside another");
    if (!(kind & CONTROL) && frames->left > KUBE_MESSAGE_MAX - frames->message.length)
        return refuse(err, "a message that is too long");
    if (!(kind & CONTROL) && kind != KUBE_FRAME_MORE)
        frames->kind = frames->frame;
    frames->is_in_message = frames->is_in_message || !(kind & CONTROL);
    frames->is_in_frame = true;
    return 0;
}

static int end_frame(struct kube_frames *frames, kube_message_fn take, void *context, struct error *err)
{
    bool is_control = (frames->frame & CONTROL) != 0;
    struct buffer *whole = is_control ? &frames->control : &frames->message;
    frames->is_in_frame = false;
    buffer_clear(&frames->head);
    if (!frames->is_last)
        return 0;
    if (!is_control)
        frames->is_in_message = false;
    int rc =
        take(context, is_control ? frames->frame : frames->kind, whole->data ? whole->data : "", whole->length, err);
    buffer_clear(whole);
    return rc;
}

int kube_frames_feed(struct kube_frames *frames, const char *data, size_t length, kube_message_fn take, void *context,
                     struct error *err)
{
    for (;;) {
        if (frames->is_in_frame && frames->left == 0) {
            if (end_frame(frames, take, context, err) < 0)
                return -1;
        } else if (length == 0) {
            return 0;
        } else if (frames->is_in_frame) {
            size_t part = frames->left < length ? (size_t)frames->left : length;
            buffer_append(frames->frame & CONTROL ? &frames->control : &frames->message, data, part);
            frames->left -= part;
            data += part;
            length -= part;
        } else {
            buffer_char(&frames->head, *data++);
            length--;
            if (frames->head.length >= 2 && frames->head.length == head_size(&frames->head) &&
                begin_frame(frames, err) < 0)
                return -1;
        }
    }
}

static void put_masked(struct buffer *out, const char *data, size_t length, const unsigned char mask[4], size_t at)
{
    for (size_t i = 0; i < length; i++)
        buffer_char(out, (char)((unsigned char)data[i] ^ mask[(at + i) % 4]));
}

void kube_frame_write(struct buffer *out, enum kube_frame kind, uint32_t mask, const char *first, size_t first_length,
                      const char *data, size_t length)
{
    uint64_t whole = (uint64_t)first_length + length;
    unsigned char head[HEAD_MAX] = {(unsigned char)(LAST | (int)kind)}, key[4];
    size_t size = whole < LENGTH_16 ? 0 : whole <= UINT16_MAX ? 2 : 8;
    head[1] = (unsigned char)(MASKED | (size == 0 ? (int)whole : size == 2 ? LENGTH_16 : LENGTH_64));
    for (size_t i = 0; i < size; i++)
        head[2 + i] = (unsigned char)(whole >> (8 * (size - 1 - i)));
    memcpy(key, &mask, sizeof(key));
    buffer_append(out, head, 2 + size);
    buffer_append(out, key, sizeof(key));
    put_masked(out, first, first_length, key, 0);
    put_masked(out, data, length, key, first_length);
}
