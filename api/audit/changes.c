#include "api/audit/changes.h"

#include "base/buffer.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HIDDEN "(hidden)"

enum {
    PATH_SIZE = 512
};

struct walk {
    struct json_writer json;
    struct buffer *out;
    char path[PATH_SIZE];
    size_t count, left_out;
};

bool audit_is_secret(const char *name)
{
    static const char *const WORDS[] = {
        "password",  "passwd", "passphrase", "secret",        "token",       "otp",        "credential", "privatekey",
        "accesskey", "apikey", "cookie",     "authorization", "private_key", "access_key", "api_key",    "webhookurl"};
    static const char *const WHOLE[] = {"code", "args", "command", "recoveryCodes"};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcasestr(name, WORDS[i]))
            return true;
    for (size_t i = 0; i < sizeof(WHOLE) / sizeof(WHOLE[0]); i++)
        if (strcasecmp(name, WHOLE[i]) == 0)
            return true;
    return false;
}

static void write_value(struct walk *walk, const char *key, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_key(&walk->json, key);
    if (!text || strlen(text) <= CHANGES_VALUE_MAX) {
        json_value_raw(&walk->json, text);
    } else {
        char cut[CHANGES_VALUE_MAX + 8];
        snprintf(cut, sizeof(cut), "%.*s...", CHANGES_VALUE_MAX,
                 json_is_string(value) ? json_string_value(value) : text);
        json_value_text(&walk->json, cut);
    }
    free(text);
}

static void write_field(struct walk *walk, const json_t *before, const json_t *after, bool is_secret)
{
    if (!is_secret && before && after && json_equal(before, after))
        return;
    if (walk->count == CHANGES_MAX || walk->out->length > CHANGES_BYTES_MAX) {
        walk->left_out++;
        return;
    }
    walk->count++;
    json_begin_object(&walk->json);
    json_text(&walk->json, "field", walk->path);
    if (before && is_secret)
        json_text(&walk->json, "before", HIDDEN);
    else if (before)
        write_value(walk, "before", before);
    if (after && is_secret)
        json_text(&walk->json, "after", HIDDEN);
    else if (after)
        write_value(walk, "after", after);
    json_end_object(&walk->json);
}

// The path with one step more, and its length before; a path that is too long is cut.
static size_t step_in(struct walk *walk, const char *format, const char *name)
{
    size_t length = strlen(walk->path);
    snprintf(walk->path + length, sizeof(walk->path) - length, format, name);
    return length;
}

static void walk_value(struct walk *walk, const json_t *before, const json_t *after, bool hides_values);

// {"name": "MY_PASSWORD", "value": ...}: the name tells what the value is.
static bool names_a_secret(const json_t *object)
{
    static const char *const NAMES[] = {"name", "key"};
    for (size_t i = 0; i < 2; i++) {
        const char *name = json_string_value(json_object_get(object, NAMES[i]));
        if (name && audit_is_secret(name))
            return true;
    }
    return false;
}

static void walk_member(struct walk *walk, const char *key, const json_t *before, const json_t *after,
                        bool hides_values)
{
    bool is_named_value = strcasecmp(key, "key") == 0 || strcasecmp(key, "name") == 0;
    size_t length = step_in(walk, walk->path[0] ? ".%s" : "%s", key);
    if ((hides_values && !is_named_value) || (audit_is_secret(key) && !is_named_value))
        write_field(walk, before, after, true);
    else
        walk_value(walk, before, after, strcasestr(key, "environmentVariable") || strcasestr(key, "keyValuePair"));
    walk->path[length] = '\0';
}

static void walk_object(struct walk *walk, const json_t *before, const json_t *after, bool hides_values)
{
    const char *key;
    json_t *value;
    json_t *object = (json_t *)(uintptr_t)(after ? after : before); // jansson's loop takes no constant; it is only read
    bool hides = hides_values || names_a_secret(object);
    json_object_foreach(object, key, value)
        walk_member(walk, key, after ? json_object_get(before, key) : value, after ? value : NULL, hides);
}

// What tells an element of a list from the others: its id, its name or its node pool's.
static const char *name_of(const json_t *element)
{
    static const char *const KEYS[] = {"id", "name", "key"};
    const json_t *pool = json_object_get(element, "nodePool");
    for (size_t i = 0; i < 3; i++) {
        const json_t *found = json_object_get(pool ? pool : element, KEYS[i]);
        if (json_is_string(found))
            return json_string_value(found);
    }
    return NULL;
}

static const json_t *find_like(const json_t *list, const json_t *element, size_t at)
{
    const char *name = name_of(element);
    for (size_t i = 0; name && i < json_array_size(list); i++) {
        const char *other = name_of(json_array_get(list, i));
        if (other && strcmp(name, other) == 0)
            return json_array_get(list, i);
    }
    return name ? NULL : json_array_get(list, at);
}

static void walk_list(struct walk *walk, const json_t *before, const json_t *after, bool hides_values)
{
    const json_t *list = after ? after : before;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *element = json_array_get(list, i);
        const char *name = json_is_object(element) ? name_of(element) : NULL;
        char number[24];
        snprintf(number, sizeof(number), "%zu", i);
        size_t length = step_in(walk, "[%.60s]", name ? name : number);
        walk_value(walk, after ? find_like(before, element, i) : element, after ? element : NULL, hides_values);
        walk->path[length] = '\0';
    }
}

// Depth is bounded by the reader of bodies (base/json_reader).
static void walk_value(struct walk *walk, const json_t *before, const json_t *after, bool hides_values)
{
    const json_t *value = after ? after : before;
    if (walk->left_out > 0) // the rest is counted by what stands highest
        walk->left_out++;
    else if (json_is_object(value))
        walk_object(walk, json_is_object(before) ? before : NULL, after, hides_values);
    else if (json_is_array(value))
        walk_list(walk, json_is_array(before) ? before : NULL, after, hides_values);
    else
        write_field(walk, before, after, hides_values);
}

void audit_changes_write(const json_t *before, const json_t *after, struct buffer *out)
{
    struct walk walk = {.out = out};
    json_writer_init(&walk.json, out, false);
    json_begin_array(&walk.json);
    walk_value(&walk, before, after, false);
    if (walk.left_out > 0) {
        json_begin_object(&walk.json);
        json_text(&walk.json, "field", "...");
        json_int(&walk.json, "after", (int64_t)walk.left_out);
        json_end_object(&walk.json);
    }
    json_end_array(&walk.json);
}

static bool copy_id(const json_t *object, const char *key, char out_id[40])
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value))
        snprintf(out_id, 40, "%" PRId64, (int64_t)json_integer_value(value));
    else if (json_is_string(value) && json_string_length(value) < 40)
        snprintf(out_id, 40, "%s", json_string_value(value));
    else
        return false;
    return out_id[0] != '\0';
}

const char *audit_find_scope(const json_t *object, char out_id[40])
{
    static const struct {
        const char *key, *type;
    } KEYS[] = {{"projectId", "project"},
                {"departmentId", "department"},
                {"parentId", "department"},
                {"clusterId", "cluster"},
                {"clusterUuid", "cluster"}};
    const char *type = json_string_value(json_object_get(object, "scopeType"));
    if (type && copy_id(object, "scopeId", out_id))
        return strcmp(type, "project") == 0      ? "project"
               : strcmp(type, "department") == 0 ? "department"
               : strcmp(type, "cluster") == 0    ? "cluster"
                                                 : NULL;
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (copy_id(object, KEYS[i].key, out_id))
            return KEYS[i].type;
    const json_t *meta = json_object_get(object, "meta");
    return meta ? audit_find_scope(meta, out_id) : NULL;
}
