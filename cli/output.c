// What commands share for showing things: tables of values, JSON, YAML, ages.
#include "base/error.h"
#include "base/timestamp.h"
#include "base/yaml_reader.h"
#include "cli/command.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum output cli_output(const struct cli *cli)
{
    const char *form = flag_text(&cli->arguments, "output");
    if (flag_is_set(&cli->arguments, "raw") || flag_is_set(&cli->arguments, "json") ||
        (form && strcmp(form, "json") == 0))
        return OUTPUT_JSON;
    if (flag_is_set(&cli->arguments, "yaml") || (form && strcmp(form, "yaml") == 0))
        return OUTPUT_YAML;
    return OUTPUT_TABLE;
}

int cli_keep_columns(struct cli *cli, struct error *err)
{
    if (!flag_is_set(&cli->arguments, "set-default-columns"))
        return 0;
    profile_set(&cli->profile, "columns", cli->command->words, flag_text(&cli->arguments, "columns"));
    return profile_save(&cli->profile, err);
}

int cli_check_output(const struct cli *cli, struct error *err)
{
    static const char *const FORMS[] = {"table", "json", "yaml", "wide", "name"};
    const char *form = flag_text(&cli->arguments, "output");
    bool is_list = flag_takes(cli->command->flags, "no-pagination");
    size_t count = is_list ? 5 : 3;
    if (!form || !(is_list || flag_takes(cli->command->flags, "show-events")))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(form, FORMS[i]) == 0)
            return 0;
    return error_set(err, ERROR_INVALID, "--output: %s, got %.60s",
                     is_list ? "table, wide, json, yaml or name" : "table, json or yaml", form);
}

static void indent(int depth)
{
    for (int i = 0; i < depth; i++)
        fputs("  ", stdout);
}

// A scalar. Text is quoted as JSON is, which YAML reads too.
static void print_scalar(const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    fputs(text ? text : "null", stdout);
    free(text);
}

static void print_yaml(const json_t *value, int depth, bool after_dash)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_object(value) && json_object_size(value) > 0) {
        json_object_foreach((json_t *)value, key, item) {
            if (!after_dash)
                indent(depth);
            after_dash = false;
            bool nested = (json_is_object(item) && json_object_size(item) > 0) ||
                          (json_is_array(item) && json_array_size(item) > 0);
            printf("%s:%s", key, nested ? "\n" : " ");
            print_yaml(item, depth + 1, false);
        }
    } else if (json_is_array(value) && json_array_size(value) > 0) {
        json_array_foreach(value, i, item) {
            indent(depth);
            fputs("- ", stdout);
            print_yaml(item, depth + 1, true);
        }
    } else {
        print_scalar(value);
        putchar('\n');
    }
}

void cli_drop_lines(json_t *value)
{
    size_t i;
    const char *key;
    json_t *item;
    json_object_del(value, YAML_LINE_KEY);
    json_object_foreach(value, key, item)
        cli_drop_lines(item);
    json_array_foreach(value, i, item)
        cli_drop_lines(item);
}

void cli_print_yaml(const json_t *value)
{
    print_yaml(value, 0, false);
}

void cli_print(const struct cli *cli, const json_t *value)
{
    if (cli_output(cli) == OUTPUT_YAML) {
        cli_print_yaml(value);
        return;
    }
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    puts(text ? text : "null");
    free(text);
}

// "projects" for `project list`.
static const char *plural_of_command(struct cli *cli)
{
    const char *words = cli->command->words, *last = strrchr(words, ' ');
    size_t length = last ? (size_t)(last - words) : strlen(words);
    const char *first = strncmp(words, "list ", 5) == 0 ? words + 5 : arena_strndup(&cli->arena, words, length);
    size_t end = strlen(first);
    return end > 0 && first[end - 1] == 's' ? first : arena_printf(&cli->arena, "%ss", first);
}

void cli_print_entries(struct cli *cli, const json_t *entries)
{
    bool is_raw = flag_is_set(&cli->arguments, "raw");
    const char *name = is_raw ? cli->list_key : plural_of_command(cli);
    if (!(is_raw || flag_is_set(&cli->arguments, "no-pagination")) || !name) {
        cli_print(cli, entries);
        return;
    }
    json_t *whole = json_pack("{s:O}", name, entries);
    cli_print(cli, whole);
    json_decref(whole);
}

const char *cli_age(struct cli *cli, const char *time_text)
{
    int64_t time_ms;
    if (timestamp_parse(time_text, &time_ms, NULL) < 0)
        return "-";
    int64_t seconds = (timestamp_now_ms() - time_ms) / 1000;
    if (seconds < 0)
        seconds = 0;
    if (seconds < 60)
        return arena_printf(&cli->arena, "%" PRId64 "s", seconds);
    if (seconds < 3600)
        return arena_printf(&cli->arena, "%" PRId64 "m", seconds / 60);
    if (seconds < 86400)
        return arena_printf(&cli->arena, "%" PRId64 "h", seconds / 3600);
    return arena_printf(&cli->arena, "%" PRId64 "d", seconds / 86400);
}

const char *cli_pace(struct cli *cli, const json_t *pace)
{
    const char *decided = cli_text(pace, "decidedAt"), *planning = cli_text(pace, "planningSince");
    const char *last = *decided ? arena_printf(&cli->arena, "decided %s ago", cli_age(cli, decided))
                                : "has not decided since the server's start";
    if (!*planning)
        return arena_printf(&cli->arena, "The scheduler %s.", last);
    return arena_printf(&cli->arena, "The scheduler has been planning for %s; it %s%s.", cli_age(cli, planning),
                        *decided ? "last " : "", last);
}

const char *cli_amount(struct cli *cli, double value)
{
    return arena_printf(&cli->arena, "%.2f", value);
}

const json_t *cli_at(const json_t *object, const char *path)
{
    char key[64];
    while (object && *path) {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)length, path);
        object = json_object_get(object, key);
        path += length + (path[length] == '.');
    }
    return object;
}

const char *cli_text(const json_t *object, const char *path)
{
    const char *text = json_string_value(cli_at(object, path));
    return text ? text : "";
}

double cli_number(const json_t *object, const char *path)
{
    return json_number_value(cli_at(object, path));
}

static bool is_form(const struct cli *cli, const char *form)
{
    const char *wanted = flag_text(&cli->arguments, "output");
    return wanted && strcmp(wanted, form) == 0;
}

void cli_print_columns(const struct cli *cli, const struct table *table, const char *usual)
{
    const char *columns = flag_text(&cli->arguments, "columns");
    if (!columns && cli->profile.config && !is_form(cli, "wide"))
        columns = profile_get(&cli->profile, "columns", cli->command->words);
    if (is_form(cli, "name")) {
        table_print(table, TABLE_PLAIN, table->titles[0], false);
        return;
    }
    table_print(table, cli->command->is_old ? TABLE_PLAIN : TABLE_RULED,
                columns || is_form(cli, "wide") ? columns : usual, !flag_is_set(&cli->arguments, "no-headers"));
}

void cli_print_table(const struct cli *cli, const struct table *table)
{
    cli_print_columns(cli, table, NULL);
}

void cli_print_list(struct cli *cli, const json_t *entries, const char *const *titles, size_t count, cli_row_fn add_row)
{
    struct table table;
    json_t *entry;
    size_t i;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print_entries(cli, entries);
        return;
    }
    table_init(&table, &cli->arena, titles, count);
    json_array_foreach(entries, i, entry)
        add_row(cli, entry, &table);
    cli_print_table(cli, &table);
}
