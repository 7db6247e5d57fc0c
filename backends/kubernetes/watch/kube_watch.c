#include "backends/kubernetes/watch/kube_watch.h"

#include "backends/kubernetes/watch/kube_reader.h"
#include "backends/kubernetes/watch/kube_trim.h"
#include "base/arena.h"
#include "base/error.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_BYTES = 1 << 20
};

static const struct kube_watch_times USUAL = {
    .chunk = 500,
    .life_min_ms = 300000,
    .life_max_ms = 600000,
    .probe_after_ms = 90000,
    .cut_after_ms = 150000,
    .backoff_ms = 800,
    .backoff_max_ms = 30000,
    .too_new_wait_ms = 1000,
    .queue_bytes = 16 << 20,
    .line_max_bytes = 8 << 20,
};

static int64_t or_usual(int64_t value, int64_t usual)
{
    return value > 0 ? value : usual;
}

static struct kube_watch_times times_of(const struct kube_watch_times *asked)
{
    struct kube_watch_times times = {
        .chunk = or_usual(asked->chunk, USUAL.chunk),
        .life_min_ms = or_usual(asked->life_min_ms, USUAL.life_min_ms),
        .life_max_ms = or_usual(asked->life_max_ms, USUAL.life_max_ms),
        .probe_after_ms = or_usual(asked->probe_after_ms, USUAL.probe_after_ms),
        .cut_after_ms = or_usual(asked->cut_after_ms, USUAL.cut_after_ms),
        .backoff_ms = or_usual(asked->backoff_ms, USUAL.backoff_ms),
        .backoff_max_ms = or_usual(asked->backoff_max_ms, USUAL.backoff_max_ms),
        .too_new_wait_ms = or_usual(asked->too_new_wait_ms, USUAL.too_new_wait_ms),
        .queue_bytes = or_usual(asked->queue_bytes, USUAL.queue_bytes),
        .line_max_bytes = or_usual(asked->line_max_bytes, USUAL.line_max_bytes),
    };
    return times;
}

// What the parser knows, for who asks.
static void publish(struct kube_watch *watch, bool is_synced)
{
    const struct kube_picture *picture = &watch->picture;
    pthread_mutex_lock(&watch->lock);
    struct kube_watch_counts *counts = &watch->state.counts;
    counts->objects = (int64_t)picture->store.count;
    counts->events = picture->events;
    counts->bookmarks = picture->bookmarks;
    counts->ignored = picture->ignored;
    watch->state.is_synced = is_synced;
    memcpy(watch->state.resource_version, picture->position, sizeof(picture->position));
    pthread_mutex_unlock(&watch->lock);
}

static void take_record(struct kube_watch *watch, struct kube_record *record)
{
    size_t length = record->length;
    if (record->kind == KUBE_RECORD_ITEM || record->kind == KUBE_RECORD_EVENT) {
        length = kube_trim_array(record->text, length, "managedFields");
        if (watch->unread_array)
            length = kube_trim_array(record->text, length, watch->unread_array);
    }
    kube_picture_take(&watch->picture, record->kind, record->text, length);
}

// Pages of a list leave much behind. One thread at a time: where another allocator stands before glibc's, as with a
// sanitizer, the first call sets glibc's up, and two of them at once read what is half made.
static void give_back_memory(void)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    malloc_trim(0);
    pthread_mutex_unlock(&one);
}

static void *parse(void *context)
{
    struct kube_watch *watch = context;
    for (struct kube_record *record; (record = kube_queue_pop(watch->queue));) {
        bool is_listed = record->kind == KUBE_RECORD_LISTED;
        take_record(watch, record);
        publish(watch, watch->picture.has_synced);
        free(record);
        if (is_listed)
            give_back_memory();
    }
    return NULL;
}

static char *copy_or_null(const char *text)
{
    return text && *text ? memory_strdup(text) : NULL;
}

static void free_all(struct kube_watch *watch)
{
    curl_multi_cleanup(watch->multi);
    kube_queue_destroy(watch->queue);
    kube_picture_done(&watch->picture);
    pthread_mutex_destroy(&watch->lock);
    free(watch->name);
    free(watch->path);
    free(watch->label_selector);
    free(watch->field_selector);
    free(watch->unread_array);
    free(watch->kind);
    free(watch->list_kind);
    free(watch);
}

static int start(struct kube_watch *watch)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = watch->multi ? pthread_create(&watch->parser, &attributes, parse, watch) : -1;
    if (rc == 0 && (rc = pthread_create(&watch->reader, &attributes, kube_reader_run, watch)) != 0) {
        kube_queue_close(watch->queue);
        pthread_join(watch->parser, NULL);
    }
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : -1;
}

int kube_watch_create(struct kube_access *access, const struct kube_watch_setup *setup, struct kube_watch **out_watch,
                      struct error *err)
{
    struct kube_watch *watch = memory_array(1, sizeof(*watch));
    watch->access = access;
    watch->name = memory_strdup(setup->name);
    watch->path = memory_strdup(setup->path);
    watch->label_selector = copy_or_null(setup->label_selector);
    watch->field_selector = copy_or_null(setup->field_selector);
    watch->unread_array = copy_or_null(setup->unread_array);
    watch->kind = memory_strdup(setup->kind);
    watch->list_kind = memory_alloc(strlen(setup->kind) + sizeof("List"));
    sprintf(watch->list_kind, "%sList", setup->kind);
    watch->times = times_of(&setup->times);
    watch->queue = kube_queue_create((size_t)watch->times.queue_bytes);
    watch->multi = curl_multi_init();
    pthread_mutex_init(&watch->lock, NULL);
    kube_picture_init(&watch->picture, watch->kind, &setup->ops, setup->context);
    if (start(watch) < 0) {
        free_all(watch);
        return error_set(err, ERROR_UNAVAILABLE, "no threads for the watch of %s", setup->name);
    }
    *out_watch = watch;
    return 0;
}

void kube_watch_destroy(struct kube_watch *watch)
{
    if (!watch)
        return;
    atomic_store(&watch->stopping, true);
    kube_queue_close(watch->queue);
    curl_multi_wakeup(watch->multi);
    pthread_join(watch->reader, NULL);
    pthread_join(watch->parser, NULL);
    free_all(watch);
}

void kube_watch_read_state(struct kube_watch *watch, struct kube_watch_state *out_state)
{
    pthread_mutex_lock(&watch->lock);
    *out_state = watch->state;
    pthread_mutex_unlock(&watch->lock);
    out_state->counts.queue_bytes = (int64_t)kube_queue_bytes(watch->queue);
}
