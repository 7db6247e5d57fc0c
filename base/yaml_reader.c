#include "base/yaml_reader.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
    YAML_BYTES_MAX = 1 << 20,
    YAML_DEPTH_MAX = 32
};

struct level {
    json_t *node; // borrowed from its parent, or the root
    char *key;    // of a mapping: waiting for its value
};

struct reading {
    const char *name;
    json_t *root;
    struct level levels[YAML_DEPTH_MAX];
    int depth;
};

static int refuse(const struct reading *reading, const yaml_event_t *event, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s:%zu: %s", reading->name, event->start_mark.line + 1, what);
}

// Takes value over.
static int put(struct reading *reading, const yaml_event_t *event, json_t *value, struct error *err)
{
    if (reading->depth == 0) {
        json_decref(reading->root);
        reading->root = value;
        return 0;
    }
    struct level *level = &reading->levels[reading->depth - 1];
    if (json_is_array(level->node))
        return json_array_append_new(level->node, value) == 0 ? 0 : refuse(reading, event, "bad value", err);
    if (!level->key) {
        json_decref(value);
        return refuse(reading, event, "a key must be a word", err);
    }
    int rc = 0;
    if (json_object_get(level->node, level->key)) {
        json_decref(value);
        rc = error_set(err, ERROR_INVALID, "%s:%zu: %s: duplicate", reading->name, event->start_mark.line + 1,
                       level->key);
    } else if (json_object_set_new(level->node, level->key, value) < 0) {
        rc = refuse(reading, event, "not UTF-8", err);
    }
    free(level->key);
    level->key = NULL;
    return rc;
}

static json_t *scalar_value(const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (*text == '\0' || strcmp(text, "~") == 0)
            return json_null();
        json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
        if (value && !json_is_object(value) && !json_is_array(value) && !json_is_string(value))
            return value;
        json_decref(value);
    }
    return json_stringn(text, event->data.scalar.length);
}

static int open_level(struct reading *reading, const yaml_event_t *event, json_t *node, struct error *err)
{
    if (reading->depth == YAML_DEPTH_MAX) {
        json_decref(node);
        return refuse(reading, event, "nested deeper than 32 levels", err);
    }
    if (put(reading, event, node, err) < 0)
        return -1;
    reading->levels[reading->depth++] = (struct level){.node = node};
    return 0;
}

static int take_event(struct reading *reading, const yaml_event_t *event, struct error *err)
{
    struct level *level = reading->depth > 0 ? &reading->levels[reading->depth - 1] : NULL;
    switch (event->type) {
    case YAML_MAPPING_START_EVENT:
        return open_level(reading, event, json_pack("{s:i}", YAML_LINE_KEY, (int)event->start_mark.line + 1), err);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(reading, event, json_array(), err);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        reading->depth--;
        return 0;
    case YAML_SCALAR_EVENT:
        if (level && json_is_object(level->node) && !level->key) {
            level->key = memory_strdup((const char *)event->data.scalar.value);
            return 0;
        }
        json_t *value = scalar_value(event);
        return value ? put(reading, event, value, err) : refuse(reading, event, "not UTF-8 text", err);
    case YAML_ALIAS_EVENT:
        return refuse(reading, event, "aliases are not read", err);
    default:
        return 0;
    }
}

int yaml_read(const char *text, size_t length, const char *name, json_t **out_root, struct error *err)
{
    struct reading reading = {.name = name};
    if (length > YAML_BYTES_MAX)
        return error_set(err, ERROR_INVALID, "%s: larger than 1 MiB", name);
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int rc = 0;
    for (bool done = false; rc == 0 && !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            rc = error_set(err, ERROR_INVALID, "%s:%zu: %s", name, parser.problem_mark.line + 1,
                           parser.problem ? parser.problem : "not YAML");
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        rc = take_event(&reading, &event, err);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    for (int i = 0; i < reading.depth; i++)
        free(reading.levels[i].key);
    if (rc < 0) {
        json_decref(reading.root);
        return -1;
    }
    *out_root = reading.root ? reading.root : json_null();
    return 0;
}

int yaml_read_file(const char *path, json_t **out_root, struct error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    char *text = memory_alloc(YAML_BYTES_MAX + 1);
    size_t length = fread(text, 1, YAML_BYTES_MAX + 1, file);
    int failed = ferror(file);
    fclose(file);
    int rc = failed ? error_set(err, ERROR_INVALID, "%s: cannot be read", path)
                    : yaml_read(text, length, path, out_root, err);
    free(text);
    return rc;
}

int yaml_line(const json_t *mapping)
{
    return (int)json_integer_value(json_object_get(mapping, YAML_LINE_KEY));
}
