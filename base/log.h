// The log: a line per event on standard error, `TIME LEVEL ROOM: sentence key=value ...`, or the same as JSON.
// Text from outside goes through log_text (quoted, bounded). No secrets. Thread-safe.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
    LOG_ERROR,
    LOG_WARN,
    LOG_INFO,
    LOG_DEBUG
};

struct error;

// Called once before threads start.
void log_configure(enum log_level level, bool json);
// From now on lines are written by a thread of the log's own, so that nobody waits for who reads them: 1 MiB is kept
// for a slow reader, what comes beyond that is left out and counted. Without it each line is written at once.
int log_start(struct error *err);
// Writes what is kept, for so long at most; then the thread is given up.
void log_stop(int64_t timeout_ms);
int64_t log_lines_left_out(void);
bool log_is_enabled(enum log_level level);

// The format holds the sentence and `key=value` pairs.
void log_write(enum log_level level, const char *room, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Text from outside, quoted and escaped for a log line, cut after some 200 bytes. Returns out.
enum {
    LOG_TEXT_SIZE = 512
};
const char *log_text(const char *text, char out[LOG_TEXT_SIZE]);
