// CSV as RFC 4180 has it: fields in double quotes may hold commas, quotes (doubled) and line ends. Rows end in LF or
// CRLF; empty lines are skipped. The first row names the columns. Every message is `FILE:LINE:COLUMN: what is wrong`,
// COLUMN counted in bytes from 1.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum {
    CSV_COLUMNS_MAXIMUM = 64,
    CSV_NAME_MAXIMUM = 200 // bytes of an id or a name
};

struct csv_column {
    const char *name;
    bool required;
};

struct csv_field {
    char *text; // unquoted
    size_t line;
    size_t column;
};

struct csv {
    const char *name; // of the file, for messages
    char *text;       // owned; cut into fields as rows are read
    char *at;
    char *end;
    char *line_start;
    size_t line;
    size_t row_line; // where the row that was read last starts
    struct csv_field fields[CSV_COLUMNS_MAXIMUM];
    size_t field_count;
    const struct csv_column *columns;
    size_t column_count;
    size_t positions[CSV_COLUMNS_MAXIMUM]; // by column: its field, or SIZE_MAX where the file has none
    size_t header_count;
};

// Reads the whole file and its first row. Columns may stand in any order; one that is not in `columns` is an error.
int csv_open(struct csv *csv, const char *path, const struct csv_column *columns, size_t column_count,
             struct error *err);
// The same over text in memory, which is copied.
int csv_open_text(struct csv *csv, const char *name, const char *text, size_t length, const struct csv_column *columns,
                  size_t column_count, struct error *err);
void csv_close(struct csv *csv);
// Whether there was a row; the fields of the row before are gone, their texts stay until csv_close.
int csv_next(struct csv *csv, bool *out_is_row, struct error *err);

// A value of the row; "" where the file has no such column.
const char *csv_text(const struct csv *csv, size_t column);
// -1 with the place of the column's value in front of the message.
int csv_error(const struct csv *csv, size_t column, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Not empty, at most CSV_NAME_MAXIMUM bytes of UTF-8, no control characters. Copied into arena.
int csv_name(const struct csv *csv, size_t column, struct arena *arena, const char **out_name, struct error *err);
// Whole numbers, minimum to maximum; fallback where the value is empty.
int csv_whole(const struct csv *csv, size_t column, int64_t minimum, int64_t maximum, int64_t fallback,
              int64_t *out_value, struct error *err);
// A whole number from 0 to maximum; an empty value is an error.
int csv_count(const struct csv *csv, size_t column, int64_t maximum, int64_t *out_value, struct error *err);
// A decimal number from 0 up with at most three decimals, in thousandths: seconds as ms.
int csv_milli(const struct csv *csv, size_t column, int64_t maximum, int64_t fallback, int64_t *out_milli,
              struct error *err);
