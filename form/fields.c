#include "form/fields.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "form/reader_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct field *find_field(const struct field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    return NULL;
}

int fields_read(struct reader *reader, const struct place *object, const struct field *fields, size_t count,
                void *target, struct error *err)
{
    if (!json_is_object(object->value))
        return place_expected(object, err, "an object");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object->value, key, value) {
        if (find_field(fields, count, key))
            continue;
        struct place unknown = place_member(object, key);
        return place_error(&unknown, err, "unknown key");
    }
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        struct place place = place_member(object, field->key);
        if (!place.value && (field->flags & FIELD_REQUIRED))
            return place_error(&place, err, "missing");
        if (!place.value || !field->read || (json_is_null(place.value) && (field->flags & FIELD_NULL)))
            continue;
        if (json_is_null(place.value) && !(field->flags & FIELD_READS_NULL))
            return place_error(&place, err, "may not be null");
        if (field->read(reader, &place, (char *)target + field->offset, err) < 0)
            return -1;
    }
    return 0;
}

int fields_read_list(struct reader *reader, const struct place *list, size_t item_size, field_reader read_item,
                     void **out_items, size_t *out_count, struct error *err)
{
    if (list->value && !json_is_array(list->value))
        return place_expected(list, err, "a list");
    size_t count = json_array_size(list->value);
    char *items = arena_array(reader->arena, count, item_size);
    for (size_t i = 0; i < count; i++) {
        struct place item = place_item(list, i);
        if (read_item(reader, &item, items + i * item_size, err) < 0)
            return -1;
    }
    *out_items = items;
    *out_count = count;
    return 0;
}

static int check_bounds(const struct place *place, double value, double minimum, double maximum, struct error *err)
{
    if (value < minimum)
        return place_error(place, err, "at least %.15g, got %.15g", minimum, value);
    if (value > maximum)
        return place_error(place, err, "at most %.15g, got %.15g", maximum, value);
    return 0;
}

int read_whole(const struct place *place, int64_t minimum, int64_t maximum, int64_t *out_value, struct error *err)
{
    if (json_is_integer(place->value)) {
        int64_t value = json_integer_value(place->value);
        if (value < minimum)
            return place_error(place, err, "at least %" PRId64 ", got %" PRId64, minimum, value);
        if (value > maximum)
            return place_error(place, err, "at most %" PRId64 ", got %" PRId64, maximum, value);
        *out_value = value;
        return 0;
    }
    // Beyond 2^53 a double no longer tells neighbours apart.
    double value = json_real_value(place->value);
    if (!json_is_real(place->value) || !isfinite(value) || value != trunc(value) || fabs(value) > 0x1p53)
        return place_expected(place, err, "a whole number");
    if (check_bounds(place, value, (double)minimum, (double)maximum, err) < 0)
        return -1;
    *out_value = (int64_t)value;
    return 0;
}

// maximum is in units of the scaled value.
static int read_scaled(const struct place *place, int64_t scale, int64_t maximum, double *out_scaled, struct error *err)
{
    double value = json_number_value(place->value);
    if (!json_is_number(place->value) || !isfinite(value))
        return place_expected(place, err, "a number");
    if (check_bounds(place, value, 0, (double)maximum / (double)scale, err) < 0)
        return -1;
    *out_scaled = value * (double)scale;
    return 0;
}

int read_exact(const struct place *place, int64_t scale, const char *finest, int64_t maximum, int64_t *out_value,
               struct error *err)
{
    double scaled;
    if (read_scaled(place, scale, maximum, &scaled, err) < 0)
        return -1;
    // A decimal of at most 15 digits is off by less than this once it is a double and scaled.
    if (fabs(scaled - nearbyint(scaled)) > 1e-12 * fmax(scaled, 1000))
        return place_error(place, err, "steps of %s, got %.15g", finest, json_number_value(place->value));
    *out_value = (int64_t)nearbyint(scaled);
    return 0;
}

int read_rounded(const struct place *place, int64_t scale, int64_t maximum, int64_t *out_value, struct error *err)
{
    double scaled;
    if (read_scaled(place, scale, maximum, &scaled, err) < 0)
        return -1;
    int64_t rounded = (int64_t)nearbyint(scaled);
    *out_value = rounded == 0 && scaled > 0 ? 1 : rounded;
    return 0;
}

int read_word(const struct place *place, const char *const *words, size_t count, size_t *out_index, struct error *err)
{
    const char *text = json_string_value(place->value);
    char expected[160] = "";
    for (size_t i = 0; i < count; i++) {
        if (text && strcmp(text, words[i]) == 0) {
            *out_index = i;
            return 0;
        }
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof(expected) - used, "%s%s",
                 i == 0          ? ""
                 : i + 1 < count ? ", "
                                 : " or ",
                 words[i]);
    }
    return place_expected(place, err, expected);
}

int read_text(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    if (!json_is_string(place->value))
        return place_expected(place, err, "text");
    *(const char **)target = arena_strdup(reader->arena, json_string_value(place->value));
    return 0;
}

int read_name(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    if (json_is_string(place->value) && json_string_length(place->value) == 0)
        return place_error(place, err, "may not be empty");
    return read_text(reader, place, target, err);
}

int read_bool(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    if (!json_is_boolean(place->value))
        return place_expected(place, err, "true or false");
    *(bool *)target = json_is_true(place->value);
    return 0;
}

int read_count(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    int64_t value;
    if (read_whole(place, 0, READER_COUNT_MAXIMUM, &value, err) < 0)
        return -1;
    *(uint32_t *)target = (uint32_t)value;
    return 0;
}

int read_integer(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_whole(place, -READER_INTEGER_MAXIMUM, READER_INTEGER_MAXIMUM, target, err);
}

int read_time(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    int64_t time_ms;
    if (!json_is_string(place->value))
        return place_expected(place, err, "a time");
    if (timestamp_parse(json_string_value(place->value), &time_ms, NULL) < 0 || time_ms < 0)
        return place_expected(place, err, "a time like 2026-01-01T12:00:00Z");
    *(int64_t *)target = time_ms;
    return 0;
}

int read_seconds(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_rounded(place, 1000, READER_SECONDS_MAXIMUM * 1000, target, err);
}

int read_grace(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    if (json_is_number(place->value) && json_number_value(place->value) < 0) {
        *(int64_t *)target = -1;
        return 0;
    }
    return read_seconds(reader, place, target, err);
}

int read_mib(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_whole(place, 0, READER_MIB_MAXIMUM, target, err);
}

int read_bytes(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_whole(place, 0, READER_BYTES_MAXIMUM, target, err);
}

int read_cores(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    double scaled;
    if (read_scaled(place, 1000, READER_CORES_MAXIMUM * 1000, &scaled, err) < 0)
        return -1;
    // Finer than a millicore is rounded up, as Kubernetes does; the subtrahend is a double's own error.
    *(int64_t *)target = (int64_t)ceil(scaled - 1e-12 * fmax(scaled, 1000));
    return 0;
}
