#include "form/place.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/json_reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct place place_member(const struct place *object, const char *key)
{
    return (struct place){.value = json_object_get(object->value, key), .parent = object, .key = key};
}

struct place place_item(const struct place *list, size_t index)
{
    return (struct place){.value = json_array_get(list->value, index), .parent = list, .index = index};
}

static void append_key(struct buffer *path, const char *key)
{
    const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    if (*key && key[strspn(key, plain)] == '\0')
        buffer_printf(path, "%s%.80s", path->length ? "." : "", key);
    else
        buffer_printf(path, "[\"%.80s\"]", key);
}

static void append_path(struct buffer *path, const struct place *place)
{
    const struct place *steps[JSON_READER_DEPTH + 1];
    size_t count = 0;
    for (; place->parent && count <= JSON_READER_DEPTH; place = place->parent)
        steps[count++] = place;
    while (count-- > 0) {
        if (steps[count]->key)
            append_key(path, steps[count]->key);
        else
            buffer_printf(path, "[%zu]", steps[count]->index);
    }
}

int place_error(const struct place *place, struct error *err, const char *format, ...)
{
    struct buffer message;
    buffer_init(&message, 0);
    append_path(&message, place);
    buffer_text(&message, message.length ? ": " : "");
    va_list args;
    va_start(args, format);
    buffer_vprintf(&message, format, args);
    va_end(args);
    for (size_t i = 0; i < message.length; i++) // text from outside must not steer a terminal
        if ((unsigned char)message.data[i] < ' ' || message.data[i] == 0x7f)
            message.data[i] = '?';
    error_set(err, ERROR_INVALID, "%s", message.data ? message.data : "");
    buffer_done(&message);
    return -1;
}

int place_expected(const struct place *place, struct error *err, const char *what)
{
    if (json_is_object(place->value))
        return place_error(place, err, "%s, got an object", what);
    if (json_is_array(place->value))
        return place_error(place, err, "%s, got a list", what);
    char *text = json_dumps(place->value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    place_error(place, err, "%s, got %.60s", what, text ? text : "nothing");
    free(text);
    return -1;
}
