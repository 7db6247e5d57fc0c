#include "backends/kubernetes/watch/kube_lines.h"

#include <string.h>

void kube_lines_init(struct kube_lines *lines, enum kube_lines_form form, size_t line_max, kube_line_fn take,
                     void *context)
{
    *lines = (struct kube_lines){.form = form, .take = take, .context = context, .line_max = line_max};
    buffer_init(&lines->part, line_max);
    buffer_init(&lines->rest, line_max);
}

void kube_lines_done(struct kube_lines *lines)
{
    buffer_done(&lines->part);
    buffer_done(&lines->rest);
}

// What has been put together is whole.
static int give(struct kube_lines *lines)
{
    int rc = lines->part.overflow ? -1 : 0;
    if (rc == 0 && lines->part.length)
        rc = lines->take(lines->context, lines->part.data, lines->part.length);
    buffer_clear(&lines->part);
    return rc;
}

static int feed_watch(struct kube_lines *lines, const char *data, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *end = memchr(data + at, '\n', length - at);
        size_t count = end ? (size_t)(end - data) - at : length - at;
        if (end && lines->part.length == 0) { // a whole line needs no copy
            if (count > lines->line_max || (count && lines->take(lines->context, data + at, count) < 0))
                return -1;
        } else {
            buffer_append(&lines->part, data + at, count);
            if (lines->part.overflow || (end && give(lines) < 0))
                return -1;
        }
        at += count + (end != NULL);
    }
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Whether the bracket that comes now is the value of the list's key "items".
static bool opens_items(const struct buffer *rest)
{
    static const char KEY[] = "\"items\"";
    size_t at = rest->length, length = sizeof(KEY) - 1;
    while (at > 0 && is_blank(rest->data[at - 1]))
        at--;
    if (at == 0 || rest->data[--at] != ':')
        return false;
    while (at > 0 && is_blank(rest->data[at - 1]))
        at--;
    return at >= length && memcmp(rest->data + at - length, KEY, length) == 0;
}

// A byte inside of a string; true where it goes on.
static bool pass_string(struct kube_lines *lines, char c)
{
    if (lines->is_escaped)
        lines->is_escaped = false;
    else if (c == '\\')
        lines->is_escaped = true;
    else if (c == '"')
        lines->in_string = false;
    return true;
}

static void flush(struct kube_lines *lines, bool is_item, const char *from, const char *to)
{
    if (to > from)
        buffer_append(is_item ? &lines->part : &lines->rest, from, (size_t)(to - from));
}

// Where strings end at the soonest: what lies before holds nothing of interest.
static const char *skip_string(const char *at, const char *end)
{
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

static int feed_list(struct kube_lines *lines, const char *data, size_t length)
{
    const char *from = data, *end = data + length;
    for (const char *at = data; at < end; at++) {
        bool is_item = lines->in_items && lines->depth > 2;
        if (lines->in_string && !lines->is_escaped && (at = skip_string(at, end)) == end)
            break;
        if (lines->in_string) {
            pass_string(lines, *at);
        } else if (*at == '"') {
            lines->in_string = true;
        } else if (*at == '{' || *at == '[') {
            if (lines->in_items && lines->depth == 2)
                from = at; // an item begins; what lay between items goes
            if (lines->depth == 1 && *at == '[') {
                flush(lines, false, from, at);
                from = at;
                lines->in_items = opens_items(&lines->rest);
            }
            lines->depth++;
            if (lines->in_items && lines->depth == 2) {
                flush(lines, false, from, at + 1);
                from = at + 1;
            }
        } else if (*at == '}' || *at == ']') {
            lines->depth--;
            if (is_item && lines->depth == 2) {
                flush(lines, true, from, at + 1);
                from = at + 1;
                if (give(lines) < 0)
                    return -1;
            } else if (lines->in_items && lines->depth == 1) {
                from = at;
                lines->in_items = false;
            }
        }
        if (lines->depth < 0)
            return -1;
    }
    bool is_between = lines->in_items && lines->depth == 2;
    if (!is_between)
        flush(lines, lines->in_items, from, end);
    return lines->part.overflow || lines->rest.overflow ? -1 : 0;
}

int kube_lines_feed(struct kube_lines *lines, const char *data, size_t length)
{
    return lines->form == KUBE_LINES_WATCH ? feed_watch(lines, data, length) : feed_list(lines, data, length);
}

bool kube_lines_is_whole(const struct kube_lines *lines)
{
    return lines->depth == 0 && lines->rest.length > 0;
}
