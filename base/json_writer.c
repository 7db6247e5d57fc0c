#include "base/json_writer.h"

#include "base/timestamp.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void json_writer_init(struct json_writer *json, struct buffer *out, bool pretty)
{
    *json = (struct json_writer){.out = out, .pretty = pretty};
}

static void new_line(struct json_writer *json)
{
    if (!json->pretty)
        return;
    buffer_char(json->out, '\n');
    for (unsigned i = 0; i < json->depth; i++)
        buffer_append(json->out, "  ", 2);
}

static void before_value(struct json_writer *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0)
        return;
    if (json->has_items[json->depth - 1])
        buffer_char(json->out, ',');
    json->has_items[json->depth - 1] = true;
    new_line(json);
}

static void begin(struct json_writer *json, char bracket)
{
    before_value(json);
    buffer_char(json->out, bracket);
    assert(json->depth < JSON_WRITER_DEPTH);
    json->has_items[json->depth++] = false;
}

static void end(struct json_writer *json, char bracket)
{
    assert(json->depth > 0 && !json->after_key);
    bool any = json->has_items[--json->depth];
    if (any)
        new_line(json);
    buffer_char(json->out, bracket);
}

void json_begin_object(struct json_writer *json)
{
    begin(json, '{');
}

void json_end_object(struct json_writer *json)
{
    end(json, '}');
}

void json_begin_array(struct json_writer *json)
{
    begin(json, '[');
}

void json_end_array(struct json_writer *json)
{
    end(json, ']');
}

// Length of the well-formed UTF-8 sequence at s (1 to 4), 0 where it is not one.
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF && (s[1] & 0xC0) == 0x80)
        return 2;
    if ((s[0] & 0xF0) == 0xE0 && (s[1] & 0xC0) == 0x80 && (s[2] & 0xC0) == 0x80) {
        unsigned code = ((s[0] & 0x0FU) << 12) | ((s[1] & 0x3FU) << 6) | (s[2] & 0x3FU);
        return code >= 0x800 && (code < 0xD800 || code > 0xDFFF) ? 3 : 0;
    }
    if (s[0] >= 0xF0 && s[0] <= 0xF4 && (s[1] & 0xC0) == 0x80 && (s[2] & 0xC0) == 0x80 && (s[3] & 0xC0) == 0x80) {
        unsigned code = ((s[0] & 0x07U) << 18) | ((s[1] & 0x3FU) << 12);
        return code >= 0x10000 && code <= 0x10FFFF ? 4 : 0;
    }
    return 0;
}

static void write_escaped(struct buffer *out, const char *text)
{
    buffer_char(out, '"');
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *plain = s;
    while (*s) {
        if (*s >= 0x20 && *s < 0x80 && *s != '"' && *s != '\\') {
            s++;
            continue;
        }
        size_t length = utf8_length(s);
        if (length && *s >= 0x20 && *s != '"' && *s != '\\') {
            s += length;
            continue;
        }
        buffer_append(out, plain, (size_t)(s - plain));
        if (length == 0)
            buffer_text(out, "\xEF\xBF\xBD");
        else if (*s == '"' || *s == '\\')
            buffer_append(out, (char[]){'\\', (char)*s}, 2);
        else if (*s == '\n')
            buffer_append(out, "\\n", 2);
        else
            buffer_printf(out, "\\u%04x", *s);
        plain = ++s;
    }
    buffer_append(out, plain, (size_t)(s - plain));
    buffer_char(out, '"');
}

void json_key(struct json_writer *json, const char *key)
{
    before_value(json);
    write_escaped(json->out, key);
    buffer_char(json->out, ':');
    if (json->pretty)
        buffer_char(json->out, ' ');
    json->after_key = true;
}

void json_value_text(struct json_writer *json, const char *text)
{
    before_value(json);
    if (text)
        write_escaped(json->out, text);
    else
        buffer_text(json->out, "null");
}

void json_value_int(struct json_writer *json, int64_t value)
{
    char text[24];
    char *at = text + sizeof(text);
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    if (value < 0)
        *--at = '-';
    before_value(json);
    buffer_append(json->out, at, (size_t)(text + sizeof(text) - at));
}

void json_value_real(struct json_writer *json, double value)
{
    if (!isfinite(value)) {
        json_value_null(json);
        return;
    }
    char text[40];
    int length = snprintf(text, sizeof(text), "%.15g", value);
    before_value(json);
    buffer_append(json->out, text, (size_t)length);
}

void json_value_milli(struct json_writer *json, int64_t milli)
{
    if (milli % 1000 == 0) {
        json_value_int(json, milli / 1000);
        return;
    }
    char text[32];
    uint64_t magnitude = milli < 0 ? 0 - (uint64_t)milli : (uint64_t)milli;
    int length = snprintf(text, sizeof(text), "%s%" PRIu64 ".%03" PRIu64, milli < 0 ? "-" : "", magnitude / 1000,
                          magnitude % 1000);
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    before_value(json);
    buffer_append(json->out, text, (size_t)length);
}

void json_value_bool(struct json_writer *json, bool value)
{
    before_value(json);
    buffer_text(json->out, value ? "true" : "false");
}

void json_value_null(struct json_writer *json)
{
    before_value(json);
    buffer_text(json->out, "null");
}

void json_value_time(struct json_writer *json, int64_t time_ms)
{
    if (time_ms == 0) {
        json_value_null(json);
        return;
    }
    char text[TIMESTAMP_SIZE];
    timestamp_format(time_ms, text);
    before_value(json);
    buffer_char(json->out, '"');
    buffer_text(json->out, text); // digits and signs: nothing to escape
    buffer_char(json->out, '"');
}

void json_value_raw(struct json_writer *json, const char *json_text_)
{
    before_value(json);
    buffer_text(json->out, json_text_ && *json_text_ ? json_text_ : "null");
}

void json_text(struct json_writer *json, const char *key, const char *text)
{
    json_key(json, key);
    json_value_text(json, text);
}

void json_int(struct json_writer *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_value_int(json, value);
}

void json_number(struct json_writer *json, const char *key, double value)
{
    json_key(json, key);
    json_value_real(json, value);
}

void json_milli(struct json_writer *json, const char *key, int64_t milli)
{
    json_key(json, key);
    json_value_milli(json, milli);
}

void json_bool(struct json_writer *json, const char *key, bool value)
{
    json_key(json, key);
    json_value_bool(json, value);
}

void json_null_at(struct json_writer *json, const char *key)
{
    json_key(json, key);
    json_value_null(json);
}

void json_time(struct json_writer *json, const char *key, int64_t time_ms)
{
    json_key(json, key);
    json_value_time(json, time_ms);
}

void json_raw(struct json_writer *json, const char *key, const char *json_text_)
{
    json_key(json, key);
    json_value_raw(json, json_text_);
}

void json_members(struct json_writer *json, const char *members)
{
    if (!members[0])
        return;
    assert(json->depth > 0 && !json->after_key);
    before_value(json);
    buffer_text(json->out, members);
}
