#include "cli/table.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void table_init(struct table *table, struct arena *arena, const char *const *titles, size_t column_count)
{
    *table = (struct table){.arena = arena, .titles = titles, .column_count = column_count};
}

void table_add(struct table *table, const char *const *cells)
{
    size_t needed = (table->row_count + 1) * table->column_count;
    table->cells = arena_grow(table->arena, table->cells, &table->capacity, needed, sizeof(char *));
    for (size_t i = 0; i < table->column_count; i++)
        table->cells[table->row_count * table->column_count + i] = cells[i] ? cells[i] : "-";
    table->row_count++;
}

static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static size_t choose_columns(const struct table *table, const char *columns, size_t out_columns[TABLE_COLUMNS_MAX])
{
    size_t count = 0;
    if (!columns) {
        for (; count < table->column_count; count++)
            out_columns[count] = count;
        return count;
    }
    char *rest = arena_strdup(table->arena, columns), *wanted;
    while ((wanted = strsep(&rest, ",")) && count < TABLE_COLUMNS_MAX)
        for (size_t i = 0; i < table->column_count; i++)
            if (strcasecmp(wanted, table->titles[i]) == 0)
                out_columns[count++] = i;
    return count;
}

static void print_row(const struct table *table, const char *const *cells, const size_t *columns, const size_t *widths,
                      size_t count, enum table_style style)
{
    (void)table;
    if (style == TABLE_RULED)
        putchar(' ');
    for (size_t i = 0; i < count; i++) {
        const char *text = cells[columns[i]];
        fputs(text, stdout);
        if (i + 1 < count)
            for (size_t gap = width_of(text); gap < widths[i] + (style == TABLE_RULED ? 3 : 2); gap++)
                putchar(' ');
    }
    putchar('\n');
}

void table_print(const struct table *table, enum table_style style, const char *columns, int with_titles)
{
    size_t chosen[TABLE_COLUMNS_MAX], widths[TABLE_COLUMNS_MAX];
    size_t count = choose_columns(table, columns, chosen), total = 1;
    for (size_t i = 0; i < count; i++) {
        widths[i] = with_titles ? width_of(table->titles[chosen[i]]) : 0;
        for (size_t row = 0; row < table->row_count; row++) {
            size_t width = width_of(table->cells[row * table->column_count + chosen[i]]);
            if (width > widths[i])
                widths[i] = width;
        }
        total += widths[i] + 3;
    }
    if (with_titles) {
        print_row(table, table->titles, chosen, widths, count, style);
        for (size_t i = 0; style == TABLE_RULED && i + 2 < total; i++)
            fputs("─", stdout);
        if (style == TABLE_RULED)
            putchar('\n');
    }
    for (size_t row = 0; row < table->row_count; row++)
        print_row(table, table->cells + row * table->column_count, chosen, widths, count, style);
}
