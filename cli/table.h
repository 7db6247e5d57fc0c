// Tables on a terminal. Widths count characters of UTF-8, not bytes.
#pragma once
#include <stddef.h>

struct arena;

enum {
    TABLE_COLUMNS_MAX = 24
};

enum table_style {
    TABLE_RULED, // ` Name     Quota ` over a line of dashes: the present command line's
    TABLE_PLAIN  // columns two blanks apart: the older one's
};

struct table {
    struct arena *arena;
    const char *const *titles;
    size_t column_count;
    const char **cells; // row by row; arena's
    size_t row_count, capacity;
};

void table_init(struct table *table, struct arena *arena, const char *const *titles, size_t column_count);
// A row of column_count texts, kept as they are; NULL shows as "-".
void table_add(struct table *table, const char *const *cells);
// columns: comma-separated titles to show, in that order, without regard to case; NULL: all. Unknown ones are left out.
void table_print(const struct table *table, enum table_style style, const char *columns, int with_titles);
