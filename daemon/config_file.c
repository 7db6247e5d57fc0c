#include "daemon/config_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/yaml_reader.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

struct reading {
    const char *path;
    int line;
    struct arena *arena;
    struct config_entry *entries;
    size_t count, capacity;
};

// A scalar as the text that it would be as a flag.
static const char *scalar_text(const json_t *value, struct arena *arena)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return arena_strdup(arena, json_string_value(value));
    case JSON_INTEGER:
        return arena_printf(arena, "%" PRId64, (int64_t)json_integer_value(value));
    case JSON_REAL:
        return arena_printf(arena, "%.17g", json_real_value(value));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return NULL;
    }
}

static int add_entry(struct reading *reading, const char *key, const json_t *value, struct error *err)
{
    const char *text = scalar_text(value, reading->arena);
    if (!text)
        return error_set(err, ERROR_INVALID, "%s:%d: %s: expected a word or a number", reading->path, reading->line,
                         key);
    reading->entries =
        arena_grow(reading->arena, reading->entries, &reading->capacity, reading->count + 1, sizeof(*reading->entries));
    reading->entries[reading->count++] = (struct config_entry){arena_strdup(reading->arena, key), text};
    return 0;
}

static int add_entries(struct reading *reading, const char *key, const json_t *value, struct error *err)
{
    size_t i;
    json_t *item;
    if (!json_is_array(value))
        return add_entry(reading, key, value, err);
    json_array_foreach(value, i, item) {
        if (add_entry(reading, key, item, err) < 0)
            return -1;
    }
    return 0;
}

int config_file_read(const char *path, struct arena *arena, struct config_entry **out_entries, size_t *out_count,
                     struct error *err)
{
    struct reading reading = {.path = path, .arena = arena};
    json_t *root, *value;
    const char *key;
    if (yaml_read_file(path, &root, err) < 0)
        return -1;
    int rc = json_is_object(root) || json_is_null(root)
                 ? 0
                 : error_set(err, ERROR_INVALID, "%s: expected a mapping of settings", path);
    reading.line = yaml_line(root);
    json_object_foreach(root, key, value) {
        if (rc == 0 && strcmp(key, YAML_LINE_KEY) != 0)
            rc = add_entries(&reading, key, value, err);
    }
    json_decref(root);
    if (rc == 0) {
        *out_entries = reading.entries;
        *out_count = reading.count;
    }
    return rc;
}
