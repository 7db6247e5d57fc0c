#include "replay/csv.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_MAXIMUM = 1 << 30
};

static int set_error(const struct csv *csv, size_t line, size_t column, struct error *err, const char *format,
                     va_list args)
{
    struct buffer message;
    buffer_init(&message, 0);
    buffer_vprintf(&message, format, args);
    for (size_t i = 0; i < message.length; i++) // text from outside must not steer a terminal
        if ((unsigned char)message.data[i] < ' ' || message.data[i] == 0x7f)
            message.data[i] = '?';
    error_set(err, ERROR_INVALID, "%.120s:%zu:%zu: %s", csv->name, line, column, message.data ? message.data : "");
    buffer_done(&message);
    return -1;
}

static int place_error(const struct csv *csv, size_t line, size_t column, struct error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int place_error(const struct csv *csv, size_t line, size_t column, struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(csv, line, column, err, format, args);
    va_end(args);
    return -1;
}

int csv_error(const struct csv *csv, size_t column, struct error *err, const char *format, ...)
{
    size_t position = csv->positions[column];
    const struct csv_field *field = position < csv->field_count ? &csv->fields[position] : NULL;
    va_list args;
    va_start(args, format);
    set_error(csv, field ? field->line : csv->row_line, field ? field->column : 1, err, format, args);
    va_end(args);
    return -1;
}

static int read_file(const char *path, struct buffer *text, struct error *err)
{
    char block[2048];
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(err, ERROR_INVALID, "%.150s: %s", path, strerror(errno));
    for (size_t got = sizeof(block); got == sizeof(block) && !text->overflow;) {
        got = fread(block, 1, sizeof(block), file);
        buffer_append(text, block, got);
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return error_set(err, ERROR_INVALID, "%.150s: cannot be read", path);
    if (text->overflow)
        return error_set(err, ERROR_INVALID, "%.150s: larger than 1 GiB", path);
    return 0;
}

// Takes a quoted field in place; at stands behind the opening quote. Leaves at behind the closing one.
static int take_quoted(struct csv *csv, struct csv_field *field, char **out_end, struct error *err)
{
    char *to = csv->at;
    field->text = to;
    for (; csv->at < csv->end; csv->at++) {
        if (*csv->at == '"') {
            if (csv->at + 1 == csv->end || csv->at[1] != '"') {
                csv->at++;
                *out_end = to;
                return 0;
            }
            csv->at++;
        } else if (*csv->at == '\n') {
            csv->line++;
            csv->line_start = csv->at + 1;
        }
        *to++ = *csv->at;
    }
    return place_error(csv, field->line, field->column, err, "a quote that is not closed");
}

static bool is_line_end(const struct csv *csv)
{
    return csv->at == csv->end || *csv->at == '\n' ||
           (*csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n');
}

// One field and what ends it. *out_is_last: the row ends with it.
static int take_field(struct csv *csv, bool *out_is_last, struct error *err)
{
    if (csv->field_count == CSV_COLUMNS_MAXIMUM)
        return place_error(csv, csv->line, (size_t)(csv->at - csv->line_start) + 1, err, "more than %d columns",
                           CSV_COLUMNS_MAXIMUM);
    struct csv_field *field = &csv->fields[csv->field_count++];
    *field = (struct csv_field){.text = csv->at, .line = csv->line, .column = (size_t)(csv->at - csv->line_start) + 1};
    char *end = csv->at;
    if (csv->at < csv->end && *csv->at == '"') {
        csv->at++;
        if (take_quoted(csv, field, &end, err) < 0)
            return -1;
        if (!is_line_end(csv) && *csv->at != ',')
            return place_error(csv, csv->line, (size_t)(csv->at - csv->line_start) + 1, err,
                               "text behind the closing quote");
    } else {
        while (!is_line_end(csv) && *csv->at != ',')
            csv->at++;
        end = csv->at;
    }
    *out_is_last = is_line_end(csv);
    if (*out_is_last && csv->at < csv->end && *csv->at == '\r')
        csv->at++;
    if (csv->at < csv->end)
        csv->at++;
    if (memchr(field->text, '\0', (size_t)(end - field->text)))
        return place_error(csv, field->line, field->column, err, "a zero byte");
    *end = '\0';
    return 0;
}

// Fields of the next row that is not empty; none at the end of the file.
static int take_row(struct csv *csv, struct error *err)
{
    csv->field_count = 0;
    while (csv->at < csv->end && is_line_end(csv)) {
        csv->at += *csv->at == '\r' ? 2 : 1;
        csv->line++;
        csv->line_start = csv->at;
    }
    csv->row_line = csv->line;
    if (csv->at == csv->end)
        return 0;
    for (bool is_last = false; !is_last;)
        if (take_field(csv, &is_last, err) < 0)
            return -1;
    csv->line++;
    csv->line_start = csv->at;
    return 0;
}

static int read_header(struct csv *csv, struct error *err)
{
    if (take_row(csv, err) < 0)
        return -1;
    if (csv->field_count == 0)
        return place_error(csv, 1, 1, err, "the file is empty; the first row names the columns");
    for (size_t c = 0; c < csv->column_count; c++)
        csv->positions[c] = SIZE_MAX;
    for (size_t f = 0; f < csv->field_count; f++) {
        const struct csv_field *field = &csv->fields[f];
        size_t column = 0;
        while (column < csv->column_count && strcmp(csv->columns[column].name, field->text) != 0)
            column++;
        if (column == csv->column_count)
            return place_error(csv, field->line, field->column, err, "no column is called \"%.40s\"", field->text);
        if (csv->positions[column] != SIZE_MAX)
            return place_error(csv, field->line, field->column, err, "a second column \"%s\"",
                               csv->columns[column].name);
        csv->positions[column] = f;
    }
    for (size_t c = 0; c < csv->column_count; c++)
        if (csv->columns[c].required && csv->positions[c] == SIZE_MAX)
            return place_error(csv, 1, 1, err, "the column \"%s\" is missing", csv->columns[c].name);
    csv->header_count = csv->field_count;
    return 0;
}

static int open_buffer(struct csv *csv, const char *name, struct buffer *text, const struct csv_column *columns,
                       size_t column_count, struct error *err)
{
    size_t length = text->length;
    *csv = (struct csv){.name = name, .line = 1, .columns = columns, .column_count = column_count};
    csv->text = buffer_take(text);
    csv->at = csv->line_start = csv->text;
    csv->end = csv->text + length;
    if (length >= 3 && memcmp(csv->text, "\xef\xbb\xbf", 3) == 0)
        csv->at = csv->line_start = csv->text + 3;
    if (read_header(csv, err) == 0)
        return 0;
    csv_close(csv);
    return -1;
}

int csv_open(struct csv *csv, const char *path, const struct csv_column *columns, size_t column_count,
             struct error *err)
{
    struct buffer text;
    *csv = (struct csv){0};
    buffer_init(&text, FILE_MAXIMUM);
    int rc = read_file(path, &text, err) < 0 ? -1 : open_buffer(csv, path, &text, columns, column_count, err);
    buffer_done(&text);
    return rc;
}

int csv_open_text(struct csv *csv, const char *name, const char *text, size_t length, const struct csv_column *columns,
                  size_t column_count, struct error *err)
{
    struct buffer copy;
    buffer_init(&copy, 0);
    buffer_append(&copy, text, length);
    int rc = open_buffer(csv, name, &copy, columns, column_count, err);
    buffer_done(&copy);
    return rc;
}

void csv_close(struct csv *csv)
{
    free(csv->text);
    csv->text = NULL;
}

int csv_next(struct csv *csv, bool *out_is_row, struct error *err)
{
    if (take_row(csv, err) < 0)
        return -1;
    *out_is_row = csv->field_count > 0;
    if (*out_is_row && csv->field_count != csv->header_count) {
        const struct csv_field *last = &csv->fields[csv->field_count - 1];
        return place_error(csv, last->line, last->column, err, "%zu values, but there are %zu columns",
                           csv->field_count, csv->header_count);
    }
    return 0;
}

const char *csv_text(const struct csv *csv, size_t column)
{
    return csv->positions[column] == SIZE_MAX ? "" : csv->fields[csv->positions[column]].text;
}

// Names stand in JSON and on a page.
static bool is_utf8(const char *text)
{
    json_t *value = json_string(text);
    bool is_good = value != NULL;
    json_decref(value);
    return is_good;
}

int csv_name(const struct csv *csv, size_t column, struct arena *arena, const char **out_name, struct error *err)
{
    const char *text = csv_text(csv, column);
    const char *name = csv->columns[column].name;
    size_t length = strlen(text);
    if (length == 0)
        return csv_error(csv, column, err, "%s: empty", name);
    if (length > CSV_NAME_MAXIMUM)
        return csv_error(csv, column, err, "%s: longer than %d bytes", name, CSV_NAME_MAXIMUM);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return csv_error(csv, column, err, "%s: a control character", name);
    if (!is_utf8(text))
        return csv_error(csv, column, err, "%s: not UTF-8", name);
    *out_name = arena_strndup(arena, text, length);
    return 0;
}

int csv_whole(const struct csv *csv, size_t column, int64_t minimum, int64_t maximum, int64_t fallback,
              int64_t *out_value, struct error *err)
{
    const char *text = csv_text(csv, column);
    if (*text == '\0') {
        *out_value = fallback;
        return 0;
    }
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool is_plain = (*text >= '0' && *text <= '9') || (*text == '-' && text[1] >= '0' && text[1] <= '9');
    if (!is_plain || *end != '\0' || errno != 0 || value < minimum || value > maximum)
        return csv_error(csv, column, err, "%s: a whole number from %" PRId64 " to %" PRId64 ", got \"%.40s\"",
                         csv->columns[column].name, minimum, maximum, text);
    *out_value = value;
    return 0;
}

int csv_count(const struct csv *csv, size_t column, int64_t maximum, int64_t *out_value, struct error *err)
{
    if (*csv_text(csv, column) == '\0')
        return csv_error(csv, column, err, "%s: empty", csv->columns[column].name);
    return csv_whole(csv, column, 0, maximum, 0, out_value, err);
}

int csv_milli(const struct csv *csv, size_t column, int64_t maximum, int64_t fallback, int64_t *out_milli,
              struct error *err)
{
    const char *text = csv_text(csv, column);
    if (*text == '\0') {
        *out_milli = fallback;
        return 0;
    }
    int64_t value = 0, scale = 1000;
    const char *at = text;
    while (*at >= '0' && *at <= '9' && value <= maximum)
        value = value * 10 + (*at++ - '0');
    bool has_digits = at > text;
    bool is_large = value > maximum;
    value = is_large ? 0 : value * 1000;
    if (has_digits && *at == '.')
        for (at++; *at >= '0' && *at <= '9' && scale > 1; at++)
            value += (*at - '0') * (scale /= 10);
    if (!has_digits || is_large || *at != '\0' || value > maximum * 1000)
        return csv_error(csv, column, err, "%s: a number from 0 to %" PRId64 " with at most 3 decimals, got \"%.40s\"",
                         csv->columns[column].name, maximum, text);
    *out_milli = value;
    return 0;
}
