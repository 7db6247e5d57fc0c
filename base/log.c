#include "base/log.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    enum log_level level;
    bool json;
} settings = {LOG_INFO, false};

enum {
    RING_SIZE = 1 << 20,
    CHUNK_SIZE = 64 << 10
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    char *ring; // NULL: lines are written at once
    size_t start, length;
    int64_t left_out, left_out_told;
    bool stops, is_over;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char *const LEVELS[] = {"error", "warn", "info", "debug"};

void log_configure(enum log_level level, bool json)
{
    settings.level = level;
    settings.json = json;
}

bool log_is_enabled(enum log_level level)
{
    return level <= settings.level;
}

static void format_line(enum log_level level, const char *room, const char *message, struct buffer *line)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(timestamp_now_ms(), time);
    buffer_init(line, 0);
    if (settings.json) {
        struct json_writer json;
        json_writer_init(&json, line, false);
        json_begin_object(&json);
        json_text(&json, "time", time);
        json_text(&json, "level", LEVELS[level]);
        json_text(&json, "room", room);
        json_text(&json, "message", message);
        json_end_object(&json);
    } else {
        buffer_printf(line, "%s %s %s: %s", time, LEVELS[level], room, message);
    }
    buffer_char(line, '\n');
}

// A log that cannot be written has nowhere to say so.
static void write_out(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno != EINTR)
            return;
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

static void keep(const char *line, size_t length)
{
    if (queue.length + length > RING_SIZE || queue.is_over) {
        queue.left_out++;
        return;
    }
    size_t end = (queue.start + queue.length) % RING_SIZE;
    size_t first = length < RING_SIZE - end ? length : RING_SIZE - end;
    memcpy(queue.ring + end, line, first);
    memcpy(queue.ring, line + first, length - first);
    queue.length += length;
    pthread_cond_broadcast(&queue.changed);
}

// Said as soon as there is room again.
static void tell_left_out(void)
{
    char message[96];
    struct buffer line;
    snprintf(message, sizeof(message), "the log was not read: lines are left out lines=%" PRId64,
             (int64_t)(queue.left_out - queue.left_out_told));
    format_line(LOG_WARN, "base", message, &line);
    queue.left_out_told = queue.left_out;
    keep(line.data, line.length);
    buffer_done(&line);
}

static void *write_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue.mutex);
    while (queue.length > 0 || !queue.stops) {
        if (queue.length == 0 && queue.left_out > queue.left_out_told)
            tell_left_out();
        if (queue.length == 0) {
            pthread_cond_wait(&queue.changed, &queue.mutex);
            continue;
        }
        // Nobody writes to what is kept until it is taken off.
        size_t chunk = queue.length < CHUNK_SIZE ? queue.length : CHUNK_SIZE;
        if (chunk > RING_SIZE - queue.start)
            chunk = RING_SIZE - queue.start;
        const char *text = queue.ring + queue.start;
        pthread_mutex_unlock(&queue.mutex);
        write_out(text, chunk);
        pthread_mutex_lock(&queue.mutex);
        queue.start = (queue.start + chunk) % RING_SIZE;
        queue.length -= chunk;
    }
    queue.is_over = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.mutex);
    return NULL;
}

int log_start(struct error *err)
{
    condition_init(&queue.changed);
    queue.stops = queue.is_over = false;
    queue.ring = memory_alloc(RING_SIZE);
    int rc = pthread_create(&queue.thread, NULL, write_all, NULL);
    if (rc == 0)
        return 0;
    free(queue.ring);
    queue.ring = NULL;
    return error_set(err, ERROR_INTERNAL, "cannot start the log's thread: %s", strerror(rc));
}

void log_stop(int64_t timeout_ms)
{
    if (!queue.ring)
        return;
    struct timespec end = condition_after(timeout_ms);
    pthread_mutex_lock(&queue.mutex);
    queue.stops = true;
    pthread_cond_broadcast(&queue.changed);
    int rc = 0;
    while (!queue.is_over && rc == 0)
        rc = pthread_cond_timedwait(&queue.changed, &queue.mutex, &end);
    bool is_over = queue.is_over;
    queue.is_over = true; // further lines are left out
    pthread_mutex_unlock(&queue.mutex);
    if (!is_over) {
        pthread_detach(queue.thread); // it waits for who reads: the ring stays its own
        return;
    }
    pthread_join(queue.thread, NULL);
    free(queue.ring);
    queue.ring = NULL;
}

int64_t log_lines_left_out(void)
{
    pthread_mutex_lock(&queue.mutex);
    int64_t count = queue.left_out;
    pthread_mutex_unlock(&queue.mutex);
    return count;
}

void log_write(enum log_level level, const char *room, const char *format, ...)
{
    if (!log_is_enabled(level))
        return;
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    struct buffer line;
    format_line(level, room, message, &line);
    pthread_mutex_lock(&queue.mutex);
    bool is_queued = queue.ring != NULL;
    if (is_queued)
        keep(line.data, line.length);
    pthread_mutex_unlock(&queue.mutex);
    if (!is_queued)
        write_out(line.data, line.length);
    buffer_done(&line);
}

const char *log_text(const char *text, char out[LOG_TEXT_SIZE])
{
    size_t at = 0;
    out[at++] = '"';
    for (size_t i = 0; text[i] != '\0'; i++) {
        unsigned char c = (unsigned char)text[i];
        if (i == 200) {
            memcpy(out + at, "...", 3);
            at += 3;
            break;
        }
        if (c == '"' || c == '\\') {
            out[at++] = '\\';
            out[at++] = (char)c;
        } else if (c < 0x20 || c == 0x7f) {
            out[at++] = '?';
        } else {
            out[at++] = (char)c;
        }
    }
    out[at++] = '"';
    out[at] = '\0';
    return out;
}
