#include "model/names.h"

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

enum {
    LABEL_PREFIX_MAX = 253,
    LABEL_PART_MAX = 63
};

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_letter_or_digit(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

bool name_is_good(const char *name)
{
    size_t length = strlen(name);
    bool is_good = length >= 1 && name[0] >= 'a' && name[0] <= 'z' && is_lower_or_digit(name[length - 1]);
    for (size_t i = 0; is_good && i < length; i++)
        is_good = is_lower_or_digit(name[i]) || name[i] == '-';
    return is_good;
}

int name_check(const char *name, int max_length, const char *path, struct error *err)
{
    if (name_is_good(name) && strlen(name) <= (size_t)max_length)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s: 1 to %d lower-case letters, digits and '-', a letter first, no '-' at the end, got \"%.80s\"",
                     path, max_length, name);
}

// Letters, digits, '-', '_' and '.', with a letter or digit at both ends.
static bool is_label_part(const char *text, size_t length, size_t max_length)
{
    if (length == 0 || length > max_length || !is_letter_or_digit(text[0]) || !is_letter_or_digit(text[length - 1]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_letter_or_digit(text[i]) && !strchr("-_.", text[i]))
            return false;
    return true;
}

int label_key_check(const char *key, const char *path, struct error *err)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    if (is_label_part(name, strlen(name), LABEL_PART_MAX) &&
        (!slash || slash == key || is_label_part(key, (size_t)(slash - key), LABEL_PREFIX_MAX)))
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s: not a label key: [prefix/]name of letters, digits, '-', '_', '.', got \"%.80s\"", path, key);
}

int node_label_key_check(const char *key, const char *path, struct error *err)
{
    const char *slash = strchr(key, '/');
    bool is_good = slash != key;
    for (const char *c = key; is_good && slash && c < slash; c++)
        is_good =
            is_lower_or_digit(*c) || *c == '-' || (*c == '.' && is_lower_or_digit(c[-1]) && is_lower_or_digit(c[1]));
    if (!is_good)
        return error_set(err, ERROR_INVALID, "%s: the part before '/' is a DNS name in lower case, got \"%.80s\"", path,
                         key);
    return label_key_check(key, path, err);
}

int label_value_check(const char *value, const char *path, struct error *err)
{
    if (value[0] == '\0' || is_label_part(value, strlen(value), LABEL_PART_MAX))
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s: at most 63 letters, digits, '-', '_', '.', a letter or digit at both ends, got \"%.80s\"",
                     path, value);
}

const char *name_with_suffix(const char *base, const char *suffix, const char *uuid, struct arena *arena)
{
    enum {
        UUID_PART = 8
    };
    size_t length = strlen(base), behind = strlen(suffix);
    if (length + behind <= NAME_MAX_LENGTH)
        return arena_printf(arena, "%s%s", base, suffix);
    size_t room = behind + UUID_PART + 1 < NAME_MAX_LENGTH ? NAME_MAX_LENGTH - behind - UUID_PART - 1 : 1;
    length = length < room ? length : room;
    while (length > 1 && base[length - 1] == '-')
        length--;
    return arena_printf(arena, "%.*s-%.*s%s", (int)length, base, UUID_PART, uuid, suffix);
}

const char *names_few(struct arena *arena, const char *const *names, size_t count)
{
    enum {
        NAMED = 3
    };
    size_t named = count > NAMED ? NAMED : count;
    const char *text = count > 0 ? names[0] : "";
    for (size_t i = 1; i < named; i++)
        text = arena_printf(arena, "%s%s%s", text, i + 1 == count ? " and " : ", ", names[i]);
    return count > named ? arena_printf(arena, "%s and %zu more", text, count - named) : text;
}

const char *names_topology_off(struct arena *arena, const char *topology, const char *pool, const char *const *nodes,
                               size_t count)
{
    return arena_printf(arena, "Topology %s is off%s%s: %s %s labels of its levels", topology, pool ? " in " : "",
                        pool ? pool : "", names_few(arena, nodes, count), count == 1 ? "lacks" : "lack");
}

const char *names_topology_off_json(struct arena *arena, const char *topology, const char *pool, const char *nodes_json)
{
    json_t *nodes = nodes_json ? json_loads(nodes_json, 0, NULL) : NULL;
    size_t count = json_array_size(nodes);
    const char **names = arena_array(arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = json_string_value(json_array_get(nodes, i));
    const char *text = count > 0 ? names_topology_off(arena, topology, pool, names, count) : NULL;
    json_decref(nodes);
    return text;
}
