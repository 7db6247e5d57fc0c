// What a server says on a WebSocket: any bytes as frames, as the answer to an upgrade, and as the end of a command.
// However frames are cut on their way, the same messages come of them, and none is larger than its bound.
#include "backends/kubernetes/streams/kube_channels.h"
#include "backends/kubernetes/streams/kube_frames.h"
#include "backends/kubernetes/streams/kube_upgrade.h"
#include "base/arena.h"
#include "base/error.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int note(void *context, enum kube_frame kind, const char *data, size_t length, struct error *err)
{
    assert(length <= (kind >= KUBE_FRAME_CLOSE ? KUBE_CONTROL_MAX : KUBE_MESSAGE_MAX));
    buffer_printf(context, "%d %zu ", (int)kind, length);
    buffer_append(context, data, length);
    return length == 77 ? error_set(err, ERROR_INVALID, "a taker may refuse") : 0;
}

static int read_frames(const char *data, size_t size, size_t piece, struct buffer *told)
{
    struct kube_frames frames;
    struct error err = {0};
    int rc = 0;
    kube_frames_init(&frames);
    for (size_t at = 0; at < size && rc == 0; at += piece)
        rc = kube_frames_feed(&frames, data + at, size - at < piece ? size - at : piece, note, told, &err);
    assert(rc == 0 || err.message[0]);
    kube_frames_done(&frames);
    return rc;
}

static void check_upgrade(const char *data, size_t size, bool is_over)
{
    struct kube_upgrade upgrade = {.key = "dGhlIHNhbXBsZSBub25jZQ=="};
    struct kube_status status;
    size_t used = 0;
    enum kube_upgrade_outcome outcome = kube_upgrade_read(&upgrade, data, size, is_over, &used, &status);
    assert(used <= size);
    assert((outcome == KUBE_UPGRADED) == (upgrade.version != 0));
    assert(!is_over || outcome != KUBE_UPGRADE_WAITS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = memory_alloc(size + !size), end[KUBE_END_SIZE];
    struct buffer whole, parts;
    memcpy(exact, data, size);
    buffer_init(&whole, 0);
    buffer_init(&parts, 0);
    int rc = read_frames(exact, size, size + 1, &whole), same = read_frames(exact, size, 3, &parts);
    assert(rc == same && whole.length == parts.length);
    assert(whole.length == 0 || memcmp(whole.data, parts.data, whole.length) == 0);
    check_upgrade(exact, size, false);
    check_upgrade(exact, size, true);
    assert(strlen(kube_channel_read_end(exact, size, end)) < KUBE_END_SIZE);
    buffer_done(&whole);
    buffer_done(&parts);
    free(exact);
    return 0;
}
