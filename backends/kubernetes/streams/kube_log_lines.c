#include "backends/kubernetes/streams/kube_log_lines.h"

#include "base/timestamp.h"

#include <ctype.h>
#include <string.h>

enum {
    COUNT_BITS = 11, // of a position: lines of one microsecond
    COUNT_MAX = (1 << COUNT_BITS) - 1,
    STAMP_MAX = 40,
    US_PER_MS = 1000
};

#define TIME_MAX_US (INT64_MAX >> COUNT_BITS) // of a position: in the year 2112

void kube_log_lines_init(struct kube_log_lines *lines, int64_t from, struct buffer *out)
{
    *lines = (struct kube_log_lines){.from = from, .position = from, .out = out, .begin = out->length};
    buffer_init(&lines->line, KUBE_LOG_LINE_MAX);
}

int64_t kube_log_position_ms(int64_t position)
{
    int64_t us = position >> COUNT_BITS;
    return us > 0 ? us / 1000000 * 1000 : 0;
}

// 2006-01-02T15:04:05.123456789Z: up to the microsecond. -1: it is none.
static int64_t read_stamp(const char *text, size_t length)
{
    char stamp[STAMP_MAX];
    int64_t time_ms;
    if (length == 0 || length >= sizeof(stamp))
        return -1;
    memcpy(stamp, text, length);
    stamp[length] = '\0';
    if (timestamp_parse(stamp, &time_ms, NULL) < 0)
        return -1;
    int64_t us = 0, digits = 0;
    const char *fraction = strchr(stamp, '.');
    for (const char *at = fraction ? fraction + 1 : ""; isdigit((unsigned char)*at) && digits < 6; at++, digits++)
        us = us * 10 + (*at - '0');
    for (; digits < 6; digits++)
        us *= 10;
    us = time_ms * US_PER_MS + us % US_PER_MS;
    return us < TIME_MAX_US ? us : TIME_MAX_US;
}

// Gives one line, or skips it. False: there is no room.
static bool take_line(struct kube_log_lines *lines, const char *text, size_t length, bool has_end)
{
    const char *blank = memchr(text, ' ', length < STAMP_MAX ? length : STAMP_MAX);
    size_t head = blank ? (size_t)(blank - text) : 0;
    int64_t us = read_stamp(text, head);
    if (us < 0) { // the kubelet's own words, or the rest of a line
        us = lines->last_us;
    } else {
        text += head + 1;
        length -= head + 1;
    }
    int64_t same_us = us == lines->last_us ? lines->same_us + 1 : 1;
    int64_t place = us << COUNT_BITS | (same_us < COUNT_MAX ? same_us : COUNT_MAX);
    bool is_wanted = place > lines->from && us >= lines->since_us;
    size_t given = lines->out->length - lines->begin;
    if (is_wanted && given > 0 && given + length + TIMESTAMP_SIZE > lines->max_bytes) {
        lines->is_full = true;
        return false;
    }
    lines->last_us = us;
    lines->same_us = same_us;
    if (!is_wanted)
        return true;
    if (lines->has_times) {
        char time[TIMESTAMP_SIZE];
        timestamp_format(us / US_PER_MS, time);
        buffer_printf(lines->out, "%s ", time);
    }
    buffer_append(lines->out, text, length);
    if (has_end)
        buffer_char(lines->out, '\n');
    lines->position = place > lines->position ? place : lines->position;
    return true;
}

bool kube_log_lines_feed(struct kube_log_lines *lines, const char *data, size_t length)
{
    while (length > 0 && !lines->is_full) {
        const char *end = memchr(data, '\n', length);
        size_t part = end ? (size_t)(end - data) : length;
        buffer_append(&lines->line, data, part);
        data += part + (end != NULL);
        length -= part + (end != NULL);
        if (end) {
            take_line(lines, lines->line.data ? lines->line.data : "", lines->line.length, true);
            buffer_clear(&lines->line);
            lines->line.overflow = false;
        }
    }
    return !lines->is_full;
}

void kube_log_lines_finish(struct kube_log_lines *lines, bool is_over)
{
    if (is_over && !lines->is_full && lines->line.length > 0)
        take_line(lines, lines->line.data, lines->line.length, false);
    buffer_done(&lines->line);
}
