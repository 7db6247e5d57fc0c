#include "model/fields.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

json_t *fields_get(const struct fields *fields, const char *key)
{
    json_t *value = fields->object ? json_object_get(fields->object, key) : NULL;
    return json_is_null(value) ? NULL : value;
}

const char *fields_path(const struct fields *fields, const char *key)
{
    if (!fields->path[0])
        return key;
    return arena_printf(fields->arena, "%s.%s", fields->path, key);
}

int fields_fail(const struct fields *fields, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(fields->arena, format, args);
    va_end(args);
    return error_set(fields->err, ERROR_INVALID, "%s: %s", fields_path(fields, key), message);
}

int fields_bool(const struct fields *fields, const char *key, bool *out)
{
    json_t *value = fields_get(fields, key);
    if (!value)
        return 0;
    if (!json_is_boolean(value))
        return fields_fail(fields, key, "true or false");
    *out = json_is_true(value);
    return 0;
}

int fields_integer(const struct fields *fields, const char *key, int64_t minimum, int64_t maximum, int64_t *out)
{
    json_t *value = fields_get(fields, key);
    if (!value)
        return 0;
    int64_t number;
    if (json_is_integer(value)) {
        number = json_integer_value(value);
    } else {
        double real = json_is_real(value) ? json_real_value(value) : NAN;
        if (!(fabs(real) < 9e15) || nearbyint(real) != real)
            return fields_fail(fields, key, "a whole number");
        number = (int64_t)real;
    }
    if (number < minimum)
        return fields_fail(fields, key, "at least %" PRId64 ", got %" PRId64, minimum, number);
    if (number > maximum)
        return fields_fail(fields, key, "at most %" PRId64 ", got %" PRId64, maximum, number);
    *out = number;
    return 0;
}

int fields_number(const struct fields *fields, const char *key, double *out)
{
    json_t *value = fields_get(fields, key);
    if (!value)
        return 0;
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return fields_fail(fields, key, "a number");
    if (json_number_value(value) < 0)
        return fields_fail(fields, key, "at least 0, got %g", json_number_value(value));
    *out = json_number_value(value);
    return 0;
}

static int check_text(const struct fields *fields, const char *key, const json_t *value, const char **out)
{
    if (!json_is_string(value))
        return fields_fail(fields, key, "text");
    if (json_string_length(value) == 0)
        return fields_fail(fields, key, "not empty");
    *out = json_string_value(value);
    return 0;
}

int fields_text(const struct fields *fields, const char *key, const char **out)
{
    json_t *value = fields_get(fields, key);
    return value ? check_text(fields, key, value, out) : 0;
}

int fields_word(const struct fields *fields, const char *key, const char *const *words, const char **out)
{
    const char *text = NULL;
    if (fields_text(fields, key, &text) < 0)
        return -1;
    if (!text)
        return 0;
    const char *list = "";
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = words[i];
            return 0;
        }
        list = arena_printf(fields->arena, "%s%s%s", list, i ? ", " : "", words[i]);
    }
    return fields_fail(fields, key, "one of %s, got %.60s", list, text);
}

int fields_memory(const struct fields *fields, const char *key, int64_t *out)
{
    const char *text = NULL;
    if (fields_text(fields, key, &text) < 0)
        return -1;
    if (text && quantity_parse_memory(text, out, fields->err) < 0)
        return error_prefix(fields->err, "%s: ", fields_path(fields, key));
    return 0;
}

int fields_object(const struct fields *fields, const char *key, struct fields *out)
{
    json_t *value = fields_get(fields, key);
    if (value && !json_is_object(value))
        return fields_fail(fields, key, "an object");
    *out = (struct fields){value, fields_path(fields, key), fields->arena, fields->err};
    return 0;
}

int fields_count(const struct fields *fields, const char *key, size_t maximum, size_t *out_count)
{
    json_t *value = fields_get(fields, key);
    if (value && !json_is_array(value))
        return fields_fail(fields, key, "a list");
    size_t count = value ? json_array_size(value) : 0;
    if (count > maximum)
        return fields_fail(fields, key, "at most %zu items, got %zu", maximum, count);
    *out_count = count;
    return 0;
}

static const char *item_key(const struct fields *fields, const char *key, size_t i)
{
    return arena_printf(fields->arena, "%s[%zu]", key, i);
}

int fields_item(const struct fields *fields, const char *key, size_t i, struct fields *out)
{
    json_t *value = json_array_get(fields_get(fields, key), i);
    const char *name = item_key(fields, key, i);
    if (value && !json_is_object(value) && !json_is_null(value))
        return fields_fail(fields, name, "an object");
    *out = (struct fields){json_is_object(value) ? value : NULL, fields_path(fields, name), fields->arena, fields->err};
    return 0;
}

int fields_item_text(const struct fields *fields, const char *key, size_t i, const char **out)
{
    return check_text(fields, item_key(fields, key, i), json_array_get(fields_get(fields, key), i), out);
}

void fields_set_default(const struct fields *fields, const char *key, json_t *stolen_value)
{
    if (json_object_get(fields->object, key))
        json_decref(stolen_value);
    else
        json_object_set_new(fields->object, key, stolen_value);
}

void fields_drop_nulls(const struct fields *fields)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(fields->object, next, key, value)
    {
        if (json_is_null(value))
            json_object_del(fields->object, key);
    }
}
