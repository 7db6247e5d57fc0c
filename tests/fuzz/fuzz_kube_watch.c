// What an API server sends to a watch: any bytes, in pieces of any size. The first byte says whether a list or a watch
// comes and how large the pieces are. Whatever is told fits together.
#include "backends/kubernetes/watch/kube_lines.h"
#include "backends/kubernetes/watch/kube_picture.h"
#include "backends/kubernetes/watch/kube_trim.h"
#include "base/arena.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
    struct kube_picture picture;
    enum kube_record_kind kind;
    int64_t known; // by what was told
};

static void *keep(void *context, const json_t *object)
{
    (void)context;
    assert(json_is_object(object));
    return memory_alloc(1);
}

static void release(void *context, void *kept)
{
    (void)context;
    free(kept);
}

static void count(void *context, const struct kube_event *event)
{
    struct reading *reading = context;
    reading->known += (event->kind == KUBE_ADDED) - (event->kind == KUBE_GONE);
    assert(event->kind == KUBE_SYNCED || (event->kept && *event->name && *event->uid));
    assert((event->kind == KUBE_CHANGED) == (event->before != NULL));
}

// Where a text was JSON it still is, and differs in that array alone. One that was not may be, without the array.
static size_t trim(char *text, size_t length)
{
    json_t *before = json_loadb(text, length, 0, NULL);
    length = kube_trim_array(text, length, "managedFields");
    json_t *after = json_loadb(text, length, 0, NULL);
    assert(text[length] == '\0' && (!before || after));
    assert(!before || json_object_size(before) == json_object_size(after));
    json_decref(before);
    json_decref(after);
    return length;
}

static int take(void *context, const char *text, size_t length)
{
    struct reading *reading = context;
    char *exact = memory_alloc(length + 1); // of its exact size, as a record is
    memcpy(exact, text, length);
    exact[length] = '\0';
    kube_picture_take(&reading->picture, reading->kind, exact, trim(exact, length));
    free(exact);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kube_watch_ops ops = {.keep = keep, .release = release, .tell = count};
    struct reading reading = {0};
    struct kube_lines lines;
    bool is_list = size && data[0] & 1;
    size_t step = size ? (data[0] >> 1) + 1 : 1;
    reading.kind = is_list ? KUBE_RECORD_ITEM : KUBE_RECORD_EVENT;
    kube_picture_init(&reading.picture, "Pod", &ops, &reading);
    kube_picture_take(&reading.picture, KUBE_RECORD_LIST, "", 0);
    kube_lines_init(&lines, is_list ? KUBE_LINES_LIST : KUBE_LINES_WATCH, 4096, take, &reading);
    for (size_t at = 1; at < size; at += step)
        if (kube_lines_feed(&lines, (const char *)data + at, at + step < size ? step : size - at) < 0)
            break;
    assert(reading.known == (int64_t)reading.picture.store.count);
    kube_picture_take(&reading.picture, KUBE_RECORD_LIST, "", 0);
    kube_picture_take(&reading.picture, KUBE_RECORD_LISTED, "1", 1);
    assert(reading.known == 0 && reading.picture.store.count == 0);
    kube_lines_done(&lines);
    kube_picture_done(&reading.picture);
    return 0;
}
