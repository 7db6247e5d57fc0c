#include "journal/journal.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "form/plan_writer.h"
#include "journal/changes.h"
#include "journal/digest.h"
#include "journal/folder.h"
#include "journal/segment.h"
#include "scheduler/plan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    QUEUE_LENGTH = 8,
    WAIT_S = 1,
    TRY_AGAIN_MS = 60 * 1000,
    RECORDS_MAXIMUM = 10000, // of a segment
    SEGMENT_MS = 6 * 60 * 60 * 1000,
    CHANGES_MINIMUM = 1 << 20, // bytes of changes before a new segment is thought of
    CHANGES_PER_SNAPSHOT = 4,  // times a whole snapshot's bytes
    SEGMENTS_OF_BOUND = 8      // a segment is at most so small a part of the bound
};

struct journal {
    struct journal_options options;
    char *folder;
    int64_t last_cycle_before;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came, went;
    struct journal_cycle queue[QUEUE_LENGTH];
    size_t queued; // the first of them is being written
    bool is_closing, is_behind;
    struct journal_stats stats;

    // The thread's.
    struct changes changes;
    struct segment_writer segment;
    struct plan_digests digests; // of the record before
    int64_t segment_ms;          // time of its first record
    int64_t snapshot_bytes;      // its first record's
    int64_t try_again_us;
};

static void end_segment(struct journal *journal)
{
    segment_close(&journal->segment);
    changes_done(&journal->changes);
    journal->digests = (struct plan_digests){0};
}

// Keeps folder and figures within what is asked. The present segment stays.
static void trim(struct journal *journal, int64_t before_ms)
{
    struct folder_size size;
    folder_trim(journal->folder, before_ms, journal->options.bound_bytes, &size);
    pthread_mutex_lock(&journal->lock);
    journal->stats.kept_bytes = size.bytes;
    journal->stats.segments = size.segments;
    pthread_mutex_unlock(&journal->lock);
}

static bool is_full(const struct journal *journal, int64_t now_ms)
{
    const struct segment_writer *segment = &journal->segment;
    int64_t changes = segment->length - journal->snapshot_bytes;
    if (segment->record_count >= RECORDS_MAXIMUM || now_ms - journal->segment_ms >= SEGMENT_MS ||
        now_ms < journal->segment_ms)
        return true;
    if (changes < journal->snapshot_bytes)
        return false;
    return segment->length > journal->options.bound_bytes / SEGMENTS_OF_BOUND ||
           (changes > CHANGES_MINIMUM && changes > CHANGES_PER_SNAPSHOT * journal->snapshot_bytes);
}

static void write_payload(struct journal *journal, const struct journal_cycle *cycle, struct buffer *out)
{
    struct json_writer json;
    struct plan_digests digests;
    digest_plan(cycle->snapshot, cycle->plan, &digests);
    json_writer_init(&json, out, false);
    json_begin_object(&json);
    changes_write(&journal->changes, cycle->snapshot, cycle->world, &json);
    if (strcmp(digests.decided, journal->digests.decided) != 0)
        json_text(&json, "decided", digests.decided);
    if (strcmp(digests.words, journal->digests.words) != 0)
        json_text(&json, "words", digests.words);
    json_end_object(&json);
    buffer_char(out, '\n');
    json_writer_init(&json, out, false);
    plan_write_decisions(&json, cycle->snapshot, cycle->plan);
    journal->digests = digests;
}

static int write_record(struct journal *journal, const struct journal_cycle *cycle, struct error *err)
{
    int64_t now_ms = cycle->snapshot->now_ms;
    bool is_first = journal->segment.fd < 0 || is_full(journal, now_ms);
    if (is_first) {
        char path[FOLDER_PATH_SIZE];
        end_segment(journal);
        folder_path(journal->folder, cycle->cycle, path);
        if (segment_create(&journal->segment, path, err) < 0)
            return -1;
        journal->segment_ms = now_ms;
    }
    struct buffer payload;
    buffer_init(&payload, 0);
    write_payload(journal, cycle, &payload);
    struct record record = {.cycle = cycle->cycle,
                            .time_ms = now_ms,
                            .plan_us = cycle->plan_us,
                            .decision_count = (uint32_t)cycle->plan->decision_count};
    int64_t before = journal->segment.length;
    int rc = segment_append(&journal->segment, &record, payload.data, payload.length, err);
    buffer_done(&payload);
    if (rc < 0 && is_first)
        folder_remove(journal->folder, cycle->cycle);
    if (is_first)
        journal->snapshot_bytes = journal->segment.length;
    pthread_mutex_lock(&journal->lock);
    journal->stats.written_bytes += journal->segment.length - before;
    journal->stats.kept_bytes += journal->segment.length - before;
    bool is_too_large = journal->stats.kept_bytes > journal->options.bound_bytes;
    pthread_mutex_unlock(&journal->lock);
    if (is_first || is_too_large)
        trim(journal, is_first ? now_ms - journal->options.keep_ms : INT64_MIN);
    return rc;
}

static void note_outcome(struct journal *journal, int rc, const struct error *cause, int64_t busy_us)
{
    pthread_mutex_lock(&journal->lock);
    struct journal_stats *stats = &journal->stats;
    bool was_stopped = stats->is_stopped;
    stats->busy_us += busy_us;
    stats->is_stopped = rc < 0;
    *(rc < 0 ? &stats->missed_cycles : &stats->cycles) += 1;
    snprintf(stats->cause, sizeof(stats->cause), "%s", rc < 0 ? cause->message : "");
    pthread_mutex_unlock(&journal->lock);
    if (rc < 0 && !was_stopped) {
        char text[LOG_TEXT_SIZE];
        log_write(LOG_WARN, "journal", "cycles are not kept any more; scheduling goes on cause=%s",
                  log_text(cause->message, text));
    }
    if (rc == 0 && was_stopped)
        log_write(LOG_INFO, "journal", "cycles are kept again");
}

static void take_cycle(struct journal *journal, const struct journal_cycle *cycle)
{
    int64_t started_us = timestamp_monotonic_us();
    if (started_us < journal->try_again_us) {
        pthread_mutex_lock(&journal->lock);
        journal->stats.missed_cycles++;
        pthread_mutex_unlock(&journal->lock);
        return;
    }
    struct error err = {0};
    int rc = write_record(journal, cycle, &err);
    if (rc < 0) {
        end_segment(journal);
        journal->try_again_us = started_us + INT64_C(1000) * TRY_AGAIN_MS;
    }
    note_outcome(journal, rc, &err, timestamp_monotonic_us() - started_us);
}

static void *thread_main(void *context)
{
    struct journal *journal = context;
    pthread_mutex_lock(&journal->lock);
    for (;;) {
        while (journal->queued == 0 && !journal->is_closing)
            pthread_cond_wait(&journal->came, &journal->lock);
        if (journal->queued == 0)
            break;
        struct journal_cycle cycle = journal->queue[0];
        pthread_mutex_unlock(&journal->lock);
        take_cycle(journal, &cycle);
        cycle.release(cycle.owner);
        pthread_mutex_lock(&journal->lock);
        memmove(journal->queue, journal->queue + 1, --journal->queued * sizeof(cycle));
        pthread_cond_broadcast(&journal->went);
    }
    pthread_mutex_unlock(&journal->lock);
    return NULL;
}

int journal_open(const struct journal_options *options, int64_t now_ms, struct journal **out_journal, struct error *err)
{
    struct journal *journal = memory_array(1, sizeof(*journal));
    journal->options = *options;
    journal->folder = memory_strdup(options->folder);
    journal->options.folder = journal->folder;
    journal->segment.fd = -1;
    changes_init(&journal->changes);
    pthread_mutex_init(&journal->lock, NULL);
    condition_init(&journal->came);
    condition_init(&journal->went);
    int rc = folder_prepare(journal->folder, &journal->last_cycle_before, err);
    if (rc == 0)
        trim(journal, now_ms - journal->options.keep_ms);
    if (rc == 0 && (rc = pthread_create(&journal->thread, NULL, thread_main, journal)) != 0)
        rc = error_set(err, ERROR_INTERNAL, "cannot start the journal's thread: %s", strerror(rc));
    if (rc == 0) {
        *out_journal = journal;
        return 0;
    }
    free(journal->folder);
    free(journal);
    return -1;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    pthread_mutex_lock(&journal->lock);
    journal->is_closing = true;
    pthread_cond_broadcast(&journal->came);
    pthread_mutex_unlock(&journal->lock);
    pthread_join(journal->thread, NULL);
    end_segment(journal);
    pthread_cond_destroy(&journal->came);
    pthread_cond_destroy(&journal->went);
    pthread_mutex_destroy(&journal->lock);
    free(journal->folder);
    free(journal);
}

const char *journal_folder(const struct journal *journal)
{
    return journal->folder;
}

int64_t journal_last_cycle(const struct journal *journal)
{
    return journal->last_cycle_before;
}

// Waits for room; where it does not come in time, callers do not wait again until it has.
static bool wait_for_room(struct journal *journal)
{
    struct timespec until = condition_after(WAIT_S * 1000);
    int rc = 0;
    while (journal->queued == QUEUE_LENGTH && rc == 0 && !journal->is_behind)
        rc = pthread_cond_timedwait(&journal->went, &journal->lock, &until);
    journal->is_behind = journal->queued == QUEUE_LENGTH;
    return !journal->is_behind;
}

void journal_add(struct journal *journal, const struct journal_cycle *cycle)
{
    pthread_mutex_lock(&journal->lock);
    bool has_room = wait_for_room(journal);
    if (has_room)
        journal->queue[journal->queued++] = *cycle;
    else
        journal->stats.missed_cycles++;
    pthread_cond_signal(&journal->came);
    pthread_mutex_unlock(&journal->lock);
    if (!has_room)
        cycle->release(cycle->owner);
}

void journal_flush(struct journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    while (journal->queued > 0)
        pthread_cond_wait(&journal->went, &journal->lock);
    pthread_mutex_unlock(&journal->lock);
}

void journal_get_stats(struct journal *journal, struct journal_stats *out_stats)
{
    pthread_mutex_lock(&journal->lock);
    *out_stats = journal->stats;
    pthread_mutex_unlock(&journal->lock);
}
