#include "daemon/config_file.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { CONFIG_BYTES_MAX = 1 << 20, CONFIG_ENTRIES_MAX = 1000 };

struct reading {
    const char *path;
    struct arena *arena;
    struct config_entry *entries;
    size_t count, capacity;
    const char *key; // waiting for its value
    bool in_mapping, in_list;
};

static int refuse(const struct reading *reading, const yaml_mark_t *mark, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s:%zu: %s", reading->path, mark->line + 1, what);
}

static void add_entry(struct reading *reading, const char *value, size_t line)
{
    reading->entries = arena_grow(reading->arena, reading->entries, &reading->capacity, reading->count + 1,
                                  sizeof(*reading->entries));
    reading->entries[reading->count++] = (struct config_entry){reading->key, value, (int)line + 1};
}

static int take_scalar(struct reading *reading, const yaml_event_t *event, struct error *err)
{
    const char *text = arena_strndup(reading->arena, (const char *)event->data.scalar.value, event->data.scalar.length);
    if (!reading->in_mapping)
        return refuse(reading, &event->start_mark, "a mapping of settings is wanted", err);
    if (!reading->key) {
        reading->key = text;
        return 0;
    }
    if (reading->count >= CONFIG_ENTRIES_MAX)
        return refuse(reading, &event->start_mark, "too many settings", err);
    add_entry(reading, text, event->start_mark.line);
    if (!reading->in_list)
        reading->key = NULL;
    return 0;
}

static int take_event(struct reading *reading, const yaml_event_t *event, struct error *err)
{
    switch (event->type) {
    case YAML_MAPPING_START_EVENT:
        if (reading->in_mapping)
            return refuse(reading, &event->start_mark, "settings do not nest", err);
        reading->in_mapping = true;
        return 0;
    case YAML_SEQUENCE_START_EVENT:
        if (!reading->key || reading->in_list)
            return refuse(reading, &event->start_mark, "a list stands only behind a setting's name", err);
        reading->in_list = true;
        return 0;
    case YAML_SEQUENCE_END_EVENT:
        reading->in_list = false;
        reading->key = NULL;
        return 0;
    case YAML_SCALAR_EVENT:
        return take_scalar(reading, event, err);
    case YAML_ALIAS_EVENT:
        return refuse(reading, &event->start_mark, "aliases are not read", err);
    default:
        return 0;
    }
}

static int check_size(FILE *file, const char *path, struct error *err)
{
    if (fseek(file, 0, SEEK_END) < 0 || ftell(file) > CONFIG_BYTES_MAX)
        return error_set(err, ERROR_INVALID, "%s: larger than 1 MiB, or not a file", path);
    rewind(file);
    return 0;
}

int config_file_read(const char *path, struct arena *arena, struct config_entry **out_entries, size_t *out_count,
                     struct error *err)
{
    struct reading reading = {.path = path, .arena = arena};
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_file(&parser, file);
    int rc = check_size(file, path, err);
    for (bool done = false; rc == 0 && !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            rc = error_set(err, ERROR_INVALID, "%s:%zu: %s", path, parser.problem_mark.line + 1,
                           parser.problem ? parser.problem : "not YAML");
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        rc = take_event(&reading, &event, err);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    if (rc == 0) {
        *out_entries = reading.entries;
        *out_count = reading.count;
    }
    return rc;
}
