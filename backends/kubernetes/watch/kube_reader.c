#include "backends/kubernetes/watch/kube_reader.h"

#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/watch/kube_stream.h"
#include "base/arena.h"
#include "base/json_reader.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    ROUND_MS = 1000,
    PAGE_LIMIT_MS = 60000,
    PROBE_LIMIT_MS = 10000,
    PAGE_TRIES = 4
};

struct reader {
    struct kube_watch *watch;
    struct kube_course course;
    char position[KUBE_VERSION_SIZE]; // "": lists take what is newest
    bool was_silent, wants_fresh;
    struct kube_answer answer, asked; // of a step, of a question beside a watch
};

static uint32_t chance(void)
{
    uint32_t number = 0;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        return (uint32_t)timestamp_monotonic_us();
    return number;
}

static bool is_ending(const struct kube_watch *watch)
{
    return atomic_load(&watch->stopping);
}

static int64_t ms_since(int64_t time_us)
{
    return (timestamp_monotonic_us() - time_us) / 1000;
}

static void begin_query(const struct kube_watch *watch, struct buffer *query)
{
    buffer_init(query, 0);
    kube_query(query, "labelSelector", watch->label_selector);
    kube_query(query, "fieldSelector", watch->field_selector);
}

static void add_number(struct buffer *query, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, number);
    kube_query(query, name, text);
}

static void heard(struct kube_watch *watch, bool is_good)
{
    pthread_mutex_lock(&watch->lock);
    watch->state.heard_ms = timestamp_now_ms();
    watch->state.is_connected = is_good;
    if (is_good)
        watch->state.problem[0] = '\0';
    pthread_mutex_unlock(&watch->lock);
}

// A watch is open, and may have nothing to tell for a minute.
static void note_begun(void *context)
{
    struct kube_watch *watch = ((struct reader *)context)->watch;
    pthread_mutex_lock(&watch->lock);
    watch->state.is_connected = true;
    pthread_mutex_unlock(&watch->lock);
}

static int push_item(void *context, const char *text, size_t length)
{
    return kube_queue_push(((struct reader *)context)->watch->queue, KUBE_RECORD_ITEM, text, length);
}

static int push_event(void *context, const char *text, size_t length)
{
    struct kube_watch *watch = ((struct reader *)context)->watch;
    heard(watch, true);
    return kube_queue_push(watch->queue, KUBE_RECORD_EVENT, text, length);
}

static int push_nothing(void *context, const char *text, size_t length)
{
    (void)context;
    (void)text;
    (void)length;
    return 0;
}

// Moves bytes until the stream has ended, all must end, or silence has lasted this long (0: any).
static void drive(const struct reader *reader, struct kube_stream *stream, int64_t silence_ms)
{
    CURLM *multi = reader->watch->multi;
    while (!stream->is_done && !is_ending(reader->watch)) {
        int running;
        int64_t left_ms = silence_ms ? silence_ms - ms_since(stream->heard_us) : ROUND_MS;
        curl_multi_perform(multi, &running);
        kube_stream_take_ended(multi, reader->watch->access);
        if (stream->is_done || left_ms <= 0)
            return;
        curl_multi_poll(multi, NULL, 0, (int)(left_ms < ROUND_MS ? left_ms : ROUND_MS), NULL);
    }
}

// Whether the server knows the version that was seen. The answer's outcome says how it went.
static void ask(const struct reader *reader, struct kube_answer *out_answer)
{
    const struct kube_watch *watch = reader->watch;
    struct kube_stream stream;
    struct buffer query;
    begin_query(watch, &query);
    kube_query(&query, "limit", "1");
    kube_query(&query, "resourceVersion", reader->position);
    kube_query(&query, "resourceVersionMatch", "NotOlderThan");
    struct kube_stream_request request = {.path = watch->path,
                                          .query = query.data,
                                          .form = KUBE_LINES_LIST,
                                          .timeout_ms = PROBE_LIMIT_MS,
                                          .line_max = (size_t)watch->times.line_max_bytes,
                                          .take = push_nothing,
                                          .answer = out_answer};
    kube_stream_begin(&stream, watch->access, watch->multi, &request, &watch->stopping);
    drive(reader, &stream, 0);
    kube_stream_end(&stream, watch->multi);
    kube_stream_done(&stream);
    buffer_done(&query);
}

// The list's rest: where it goes on, and its version. False: not such a list.
static bool read_rest(const struct kube_watch *watch, const struct kube_stream *stream, char **out_continue,
                      char out_version[KUBE_VERSION_SIZE])
{
    json_t *rest = NULL;
    if (!kube_lines_is_whole(&stream->lines) ||
        json_reader_parse(stream->lines.rest.data, stream->lines.rest.length, &rest, NULL) < 0)
        return false;
    const json_t *meta = json_object_get(rest, "metadata");
    const char *kind = json_string_value(json_object_get(rest, "kind"));
    const char *version = json_string_value(json_object_get(meta, "resourceVersion"));
    const char *more = json_string_value(json_object_get(meta, "continue"));
    bool is_good =
        kind && strcmp(kind, watch->list_kind) == 0 && version && *version && strlen(version) < KUBE_VERSION_SIZE;
    free(*out_continue);
    *out_continue = NULL;
    if (is_good) {
        snprintf(out_version, KUBE_VERSION_SIZE, "%s", version);
        *out_continue = more && *more ? memory_strdup(more) : NULL;
    }
    json_decref(rest);
    return is_good;
}

// One page. *more is where it begins, NULL: at the start; then where the next one does.
static void read_page(struct reader *reader, char **more, char version[KUBE_VERSION_SIZE],
                      struct kube_answer *out_answer)
{
    struct kube_watch *watch = reader->watch;
    struct kube_stream stream;
    struct buffer query;
    begin_query(watch, &query);
    add_number(&query, "limit", watch->times.chunk);
    kube_query(&query, "continue", *more);
    if (!*more && *reader->position) {
        kube_query(&query, "resourceVersion", reader->position);
        kube_query(&query, "resourceVersionMatch", "NotOlderThan");
    }
    struct kube_stream_request request = {.path = watch->path,
                                          .query = query.data,
                                          .form = KUBE_LINES_LIST,
                                          .timeout_ms = PAGE_LIMIT_MS,
                                          .line_max = (size_t)watch->times.line_max_bytes,
                                          .take = push_item,
                                          .context = reader,
                                          .answer = out_answer};
    kube_stream_begin(&stream, watch->access, watch->multi, &request, &watch->stopping);
    drive(reader, &stream, 0);
    kube_stream_end(&stream, watch->multi);
    bool is_good = out_answer->outcome == KUBE_ANSWERED && out_answer->status.code == 200;
    if (is_good && !read_rest(watch, &stream, more, version)) {
        out_answer->outcome = KUBE_BAD_ANSWER;
        snprintf(out_answer->status.message, KUBE_MESSAGE_SIZE, "not a %s", watch->list_kind);
    }
    kube_stream_done(&stream);
    buffer_done(&query);
    heard(watch, is_good);
}

static void wait_ms(const struct reader *reader, int64_t wait)
{
    int64_t from_us = timestamp_monotonic_us();
    for (int64_t left; !is_ending(reader->watch) && (left = wait - ms_since(from_us)) > 0;)
        curl_multi_poll(reader->watch->multi, NULL, 0, (int)(left < ROUND_MS ? left : ROUND_MS), NULL);
}

// Whether a page that failed is asked for again by itself: what it had already is known, and does no harm.
static bool is_page_again(const struct kube_answer *answer, int tries)
{
    bool may_pass = answer->outcome == KUBE_NO_ANSWER || answer->outcome == KUBE_NOT_SENT ||
                    (answer->outcome == KUBE_ANSWERED && (answer->status.code == 429 || answer->status.code >= 500));
    return may_pass && tries < PAGE_TRIES;
}

static void list(struct reader *reader, struct kube_answer *out_answer)
{
    struct kube_watch *watch = reader->watch;
    char *more = NULL, version[KUBE_VERSION_SIZE] = "", first[KUBE_VERSION_SIZE] = "";
    int tries = 0;
    kube_queue_push(watch->queue, KUBE_RECORD_LIST, "", 0);
    do {
        read_page(reader, &more, version, out_answer);
        bool is_good = out_answer->outcome == KUBE_ANSWERED && out_answer->status.code == 200;
        if (is_good && !*first)
            memcpy(first, version, sizeof(first));
        if (!is_good && (!more || !is_page_again(out_answer, ++tries)))
            break;
        if (!is_good)
            wait_ms(reader, out_answer->retry_after_ms > 0 ? out_answer->retry_after_ms : watch->times.backoff_ms);
        else if (!more)
            kube_queue_push(watch->queue, KUBE_RECORD_LISTED, first, strlen(first));
    } while (more && !is_ending(watch));
    free(more);
}

// The server was asked because nothing came; true: it is behind what was seen, or gone.
static bool is_lost(struct reader *reader)
{
    for (int tries = 0; tries < 3 && !is_ending(reader->watch); tries++) {
        ask(reader, &reader->asked);
        if (reader->asked.outcome != KUBE_ANSWERED || reader->asked.status.code != 504 ||
            !kube_status_has_cause(&reader->asked.status, "ResourceVersionTooLarge"))
            return false;
        wait_ms(reader, reader->watch->times.too_new_wait_ms);
    }
    reader->wants_fresh = !is_ending(reader->watch);
    return reader->wants_fresh;
}

// Reads a watch until it ends; asks after some silence, and cuts after more.
static void follow(struct reader *reader, struct kube_stream *stream)
{
    const struct kube_watch_times *times = &reader->watch->times;
    while (!stream->is_done && !is_ending(reader->watch)) {
        drive(reader, stream, times->probe_after_ms);
        if (stream->is_done || is_ending(reader->watch))
            return;
        int64_t asked_us = stream->heard_us;
        if (is_lost(reader))
            return;
        if (!stream->is_done && stream->heard_us == asked_us)
            drive(reader, stream, times->cut_after_ms);
        if (!stream->is_done && ms_since(stream->heard_us) >= times->cut_after_ms) {
            reader->was_silent = true;
            return;
        }
    }
}

static void watch_on(struct reader *reader, struct kube_answer *out_answer, int64_t *out_lasted_ms)
{
    struct kube_watch *watch = reader->watch;
    struct kube_stream stream;
    struct buffer query;
    int64_t span_ms = watch->times.life_max_ms - watch->times.life_min_ms;
    int64_t life_ms = watch->times.life_min_ms + (span_ms > 0 ? chance() % (span_ms + 1) : 0);
    begin_query(watch, &query);
    kube_query(&query, "watch", "1");
    kube_query(&query, "resourceVersion", reader->position);
    kube_query(&query, "allowWatchBookmarks", "true");
    add_number(&query, "timeoutSeconds", (life_ms + 999) / 1000);
    struct kube_stream_request request = {.path = watch->path,
                                          .query = query.data,
                                          .form = KUBE_LINES_WATCH,
                                          .line_max = (size_t)watch->times.line_max_bytes,
                                          .take = push_event,
                                          .begin = note_begun,
                                          .context = reader,
                                          .answer = out_answer};
    if (kube_stream_begin(&stream, watch->access, watch->multi, &request, &watch->stopping) == 0)
        follow(reader, &stream);
    kube_stream_end(&stream, watch->multi);
    *out_lasted_ms = ms_since(stream.began_us);
    kube_stream_done(&stream);
    buffer_done(&query);
}

static void note_end(struct kube_watch *watch, const struct kube_end *end, enum kube_verdict verdict)
{
    static const char *const STEPS[] = {"list", "list", "question", "watch"};
    char text[KUBE_MESSAGE_SIZE], quoted[LOG_TEXT_SIZE];
    pthread_mutex_lock(&watch->lock);
    struct kube_watch_counts *counts = &watch->state.counts;
    counts->cuts += verdict == KUBE_VERDICT_CUT;
    counts->expired += verdict == KUBE_VERDICT_EXPIRED;
    counts->too_new += verdict == KUBE_VERDICT_TOO_NEW;
    counts->failures += verdict == KUBE_VERDICT_FAILED;
    bool was_well = !*watch->state.problem;
    bool is_bad = verdict == KUBE_VERDICT_FAILED || verdict == KUBE_VERDICT_TOO_NEW;
    if (is_bad) {
        if (end->error)
            snprintf(text, sizeof(text), "%d %s: %.300s", end->error->code, end->error->reason, end->error->message);
        else if (end->answer->outcome == KUBE_ANSWERED && end->answer->status.code == 200)
            snprintf(text, sizeof(text), "ended at once");
        else
            kube_answer_text(end->answer, text, sizeof(text));
        snprintf(watch->state.problem, sizeof(watch->state.problem), "%s: %.200s", STEPS[end->step], text);
        watch->state.is_connected = false;
    }
    pthread_mutex_unlock(&watch->lock);
    if (is_bad && was_well)
        log_write(LOG_WARN, "backends", "a watch of Kubernetes is interrupted, and goes on trying watch=%s problem=%s",
                  watch->name, log_text(watch->state.problem, quoted));
}

static void count_step(struct kube_watch *watch, enum kube_step step)
{
    pthread_mutex_lock(&watch->lock);
    watch->state.counts.lists += step == KUBE_STEP_LIST || step == KUBE_STEP_LIST_FRESH;
    watch->state.counts.watches += step == KUBE_STEP_WATCH;
    pthread_mutex_unlock(&watch->lock);
}

// One step and what follows from it. The parser has done all that came before.
static enum kube_step take_step(struct reader *reader, enum kube_step step)
{
    struct kube_watch *watch = reader->watch;
    int64_t known = watch->picture.events + watch->picture.bookmarks, wait = 0, lasted_ms = 0;
    enum kube_verdict verdict;
    watch->picture.has_error = reader->was_silent = reader->wants_fresh = false;
    snprintf(reader->position, sizeof(reader->position), "%s",
             step == KUBE_STEP_LIST_FRESH ? "" : watch->picture.position);
    count_step(watch, step);
    if (step == KUBE_STEP_WATCH)
        watch_on(reader, &reader->answer, &lasted_ms);
    else if (step == KUBE_STEP_PROBE)
        ask(reader, &reader->answer);
    else
        list(reader, &reader->answer);
    if (kube_queue_wait_done(watch->queue) < 0 || is_ending(watch))
        return KUBE_STEP_LIST;
    struct kube_end end = {.step = step,
                           .answer = &reader->answer,
                           .error = watch->picture.has_error ? &watch->picture.error : NULL,
                           .had_lines = watch->picture.events + watch->picture.bookmarks > known,
                           .was_silent = reader->was_silent,
                           .lasted_ms = lasted_ms};
    if (reader->wants_fresh)
        return KUBE_STEP_LIST_FRESH;
    enum kube_step next = kube_next_step(&reader->course, &end, chance(), &wait, &verdict);
    note_end(watch, &end, verdict);
    wait_ms(reader, wait);
    return next;
}

void *kube_reader_run(void *context)
{
    struct kube_watch *watch = context;
    struct reader *reader = memory_array(1, sizeof(*reader));
    reader->watch = watch;
    reader->course = (struct kube_course){.backoff_ms = watch->times.backoff_ms,
                                          .backoff_max_ms = watch->times.backoff_max_ms,
                                          .too_new_wait_ms = watch->times.too_new_wait_ms};
    enum kube_step step = KUBE_STEP_LIST;
    while (!is_ending(watch))
        step = take_step(reader, step);
    free(reader);
    return NULL;
}
