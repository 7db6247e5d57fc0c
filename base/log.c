#include "base/log.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    enum log_level level;
    bool json;
} settings = {LOG_INFO, false};

static const char *const LEVELS[] = {"error", "warn", "info", "debug"};

void log_configure(enum log_level level, bool json)
{
    settings.level = level;
    settings.json = json;
}

int log_level_parse(const char *text, enum log_level *out_level, struct error *err)
{
    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
        if (strcmp(text, LEVELS[i]) == 0) {
            *out_level = (enum log_level)i;
            return 0;
        }
    }
    return error_set(err, ERROR_INVALID, "%s: error, warn, info or debug", text);
}

bool log_is_enabled(enum log_level level)
{
    return level <= settings.level;
}

void log_write(enum log_level level, const char *room, const char *format, ...)
{
    if (!log_is_enabled(level))
        return;
    char time[TIMESTAMP_SIZE];
    timestamp_format(timestamp_now_ms(), time);
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    struct buffer line;
    buffer_init(&line, 0);
    if (settings.json) {
        struct json_writer json;
        json_writer_init(&json, &line, false);
        json_begin_object(&json);
        json_text(&json, "time", time);
        json_text(&json, "level", LEVELS[level]);
        json_text(&json, "room", room);
        json_text(&json, "message", message);
        json_end_object(&json);
    } else {
        buffer_printf(&line, "%s %s %s: %s", time, LEVELS[level], room, message);
    }
    buffer_char(&line, '\n');
    // A log that cannot be written has nowhere to say so.
    if (write(STDERR_FILENO, line.data, line.length) < 0) {
    }
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
