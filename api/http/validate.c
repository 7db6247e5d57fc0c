#include "api/http/validate.h"
#include "api/http/pattern.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SHOWN_MAX = 60,
    PATH_TEXT_SIZE = 160
};

// The way from the root to the value under check, for the message.
struct place {
    const struct place *parent;
    const char *key; // NULL: index counts
    size_t index;
};

static void place_text(const struct place *place, char *out, size_t size)
{
    if (!place->parent) {
        snprintf(out, size, "%s", place->key);
        return;
    }
    out[0] = '\0';
    if (place->parent->parent)
        place_text(place->parent, out, size);
    size_t n = strlen(out);
    if (place->key)
        snprintf(out + n, size - n, "%s%s", n ? "." : "", place->key);
    else
        snprintf(out + n, size - n, "%s[%zu]", n ? "" : "body", place->index);
}

// The value as the message shows it: bounded, whole characters.
static void shown_text(const char *text, char out[SHOWN_MAX + 8])
{
    size_t n = strlen(text);
    bool is_cut = n > SHOWN_MAX;
    if (is_cut) {
        for (n = SHOWN_MAX; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    }
    snprintf(out, SHOWN_MAX + 8, "\"%.*s%s\"", (int)n, text, is_cut ? "..." : "");
}

static int refuse(const struct place *place, struct error *err, const char *rule, const char *got)
{
    char path[PATH_TEXT_SIZE];
    place_text(place, path, sizeof(path));
    return error_set(err, ERROR_INVALID, "%s: %s%s%s", path, rule, got ? ", got " : "", got ? got : "");
}

static int refuse_text(const struct place *place, struct error *err, const char *rule, const char *text)
{
    char got[SHOWN_MAX + 8];
    shown_text(text, got);
    return refuse(place, err, rule, got);
}

static int check_enum(const struct schema *schema, const char *text, const struct place *place, struct error *err)
{
    for (size_t i = 0; i < schema->enum_count; i++) {
        if (strcmp(text, schema->enum_values[i]) == 0)
            return 0;
    }
    struct buffer rule;
    buffer_init(&rule, 140);
    buffer_text(&rule, "one of ");
    for (size_t i = 0; i < schema->enum_count && !rule.overflow; i++)
        buffer_printf(&rule, "%s%s", i ? ", " : "", schema->enum_values[i]);
    char shown[160];
    snprintf(shown, sizeof(shown), "%s%s", rule.data, rule.overflow ? "..." : "");
    buffer_done(&rule);
    return refuse_text(place, err, shown, text);
}

static size_t count_characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static bool format_holds(enum schema_format format, const char *text)
{
    int64_t time_ms;
    struct in_addr address;
    switch (format) {
    case FORMAT_UUID:
        return uuid_is_valid(text);
    case FORMAT_DATE_TIME:
        return timestamp_parse(text, &time_ms, NULL) == 0;
    case FORMAT_IPV4:
        return inet_pton(AF_INET, text, &address) == 1;
    case FORMAT_NONE:
        break;
    }
    return true;
}

static int check_string(const struct schema *schema, const char *text, const struct place *place, struct error *err)
{
    static const char *const FORMAT_RULES[] = {"", "expected a UUID", "expected a time as 2022-01-01T03:49:52.531Z",
                                               "expected an IPv4 address"};
    char rule[160];
    size_t length = schema->min_length || schema->max_length ? count_characters(text) : 0;
    if (schema->enum_count > 0 && check_enum(schema, text, place, err) < 0)
        return -1;
    if (length < schema->min_length) {
        snprintf(rule, sizeof(rule), "at least %u character%s", schema->min_length, schema->min_length == 1 ? "" : "s");
        return refuse_text(place, err, rule, text);
    }
    if (schema->max_length && length > schema->max_length) {
        snprintf(rule, sizeof(rule), "at most %u characters, got %zu", schema->max_length, length);
        return refuse(place, err, rule, NULL);
    }
    if (!format_holds(schema->format, text))
        return refuse_text(place, err, FORMAT_RULES[schema->format], text);
    if (schema->pattern && !pattern_matches(schema->pattern, text, strlen(text))) {
        snprintf(rule, sizeof(rule), "%s%s", schema->pattern->words ? "" : "must match ",
                 schema->pattern->words ? schema->pattern->words : schema->pattern->text);
        return refuse_text(place, err, rule, text);
    }
    return 0;
}

static int check_range(const struct schema *schema, double value, const char *got, const struct place *place,
                       struct error *err)
{
    char rule[64];
    if (schema->has_minimum && value < schema->minimum) {
        snprintf(rule, sizeof(rule), "at least %.15g", schema->minimum);
        return refuse(place, err, rule, got);
    }
    if (schema->has_maximum && value > schema->maximum) {
        snprintf(rule, sizeof(rule), "at most %.15g", schema->maximum);
        return refuse(place, err, rule, got);
    }
    return 0;
}

static const char *expected_word(unsigned type)
{
    switch (type) {
    case SCHEMA_OBJECT:
        return "expected an object";
    case SCHEMA_ARRAY:
        return "expected a list";
    case SCHEMA_STRING:
        return "expected text";
    case SCHEMA_INTEGER:
        return "expected a whole number";
    case SCHEMA_NUMBER:
        return "expected a number";
    default:
        return "expected true or false";
    }
}

static int refuse_type(const struct schema *schema, const json_t *value, const struct place *place, struct error *err)
{
    static const char *const WORDS[] = {"an object", "a list", NULL, NULL, NULL, "true", "false", "null"};
    char got[SHOWN_MAX + 8];
    if (json_is_string(value))
        shown_text(json_string_value(value), got);
    else if (json_is_integer(value))
        snprintf(got, sizeof(got), "%" PRId64, (int64_t)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(got, sizeof(got), "%.15g", json_real_value(value));
    else
        snprintf(got, sizeof(got), "%s", WORDS[json_typeof(value)]);
    return refuse(place, err, expected_word(schema->type), got);
}

static bool is_whole(const json_t *value)
{
    double real = json_real_value(value);
    return json_is_real(value) && real == floor(real) && fabs(real) <= 9007199254740992.0;
}

static bool type_holds(const struct schema *schema, const json_t *value)
{
    switch (schema->type) {
    case SCHEMA_OBJECT:
        return json_is_object(value);
    case SCHEMA_ARRAY:
        return json_is_array(value);
    case SCHEMA_STRING:
        return json_is_string(value);
    case SCHEMA_INTEGER:
        return json_is_integer(value) || is_whole(value);
    case SCHEMA_NUMBER:
        return json_is_number(value);
    case SCHEMA_BOOLEAN:
        return json_is_boolean(value);
    default:
        return true;
    }
}

static const struct schema *find_property(const struct schema *schema, const char *name)
{
    size_t low = 0, high = schema->property_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, schema->properties[middle].name);
        if (order == 0)
            return schema->properties[middle].schema;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return schema->additional;
}

static int check_value(const struct schema *schema, json_t *value, const struct place *place, struct error *err);

static int check_object(const struct schema *schema, json_t *object, const struct place *place, struct error *err)
{
    for (size_t i = 0; i < schema->required_count; i++) {
        struct place missing = {place, schema->required[i], 0};
        if (!json_object_get(object, schema->required[i]))
            return refuse(&missing, err, "required", NULL);
    }
    if (schema->max_properties && json_object_size(object) > schema->max_properties)
        return refuse(place, err, "too many fields", NULL);
    if (schema->property_count == 0 && !schema->additional)
        return 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        const struct schema *property = find_property(schema, key);
        struct place inner = {place, key, 0};
        if (!property && schema->is_closed)
            return refuse(&inner, err, "unknown field", NULL);
        if (!property)
            continue;
        if (check_value(property, value, &inner, err) < 0)
            return -1;
        if (property->type == SCHEMA_INTEGER && json_is_real(value))
            json_object_set_new(object, key, json_integer((json_int_t)json_real_value(value)));
    }
    return 0;
}

static int check_array(const struct schema *schema, json_t *array, const struct place *place, struct error *err)
{
    size_t count = json_array_size(array);
    if (schema->max_items && count > schema->max_items) {
        char rule[64];
        snprintf(rule, sizeof(rule), "at most %u items, got %zu", schema->max_items, count);
        return refuse(place, err, rule, NULL);
    }
    for (size_t i = 0; schema->items && i < count; i++) {
        struct place inner = {place, NULL, i};
        json_t *value = json_array_get(array, i);
        if (check_value(schema->items, value, &inner, err) < 0)
            return -1;
        if (schema->items->type == SCHEMA_INTEGER && json_is_real(value))
            json_array_set_new(array, i, json_integer((json_int_t)json_real_value(value)));
    }
    return 0;
}

static int check_number(const struct schema *schema, const json_t *value, const struct place *place, struct error *err)
{
    char got[32];
    double real = json_number_value(value);
    if (json_is_integer(value))
        snprintf(got, sizeof(got), "%" PRId64, (int64_t)json_integer_value(value));
    else
        snprintf(got, sizeof(got), "%.15g", real);
    return check_range(schema, real, got, place, err);
}

static int check_value(const struct schema *schema, json_t *value, const struct place *place, struct error *err)
{
    if (json_is_null(value)) {
        if (schema->nullable || schema->type == 0)
            return 0;
        return refuse_type(schema, value, place, err);
    }
    if (!type_holds(schema, value))
        return refuse_type(schema, value, place, err);
    if (json_is_object(value) && check_object(schema, value, place, err) < 0)
        return -1;
    if (json_is_array(value) && check_array(schema, value, place, err) < 0)
        return -1;
    if (json_is_string(value) && check_string(schema, json_string_value(value), place, err) < 0)
        return -1;
    if (json_is_number(value) && check_number(schema, value, place, err) < 0)
        return -1;
    for (size_t i = 0; i < schema->all_of_count; i++) {
        if (check_value(schema->all_of[i], value, place, err) < 0)
            return -1;
    }
    return 0;
}

int validate_body(const struct schema *schema, json_t *body, struct error *err)
{
    struct place root = {NULL, "body", 0};
    return check_value(schema, body, &root, err);
}

static int check_integer_text(const char *text, const struct place *place, int64_t *out_integer, struct error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool begins_well = (*text >= '0' && *text <= '9') || *text == '-';
    if (!begins_well || *end != '\0' || errno == ERANGE)
        return refuse_text(place, err, expected_word(SCHEMA_INTEGER), text);
    *out_integer = number;
    return 0;
}

int validate_boolean(const char *text, bool *out_is_true)
{
    static const char *const WORDS[] = {"false", "true", "f", "t", "0", "1"};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcasecmp(text, WORDS[i]) == 0) {
            *out_is_true = i % 2;
            return 0;
        }
    return -1;
}

int validate_text(const struct schema *schema, const char *name, const char *text, int64_t *out_integer,
                  struct error *err)
{
    struct place place = {NULL, name, 0};
    int64_t integer = 0;
    if (schema && schema->type == SCHEMA_INTEGER) {
        if (check_integer_text(text, &place, &integer, err) < 0 ||
            check_range(schema, (double)integer, text, &place, err) < 0)
            return -1;
    } else if (schema && schema->type == SCHEMA_BOOLEAN) {
        bool is_true;
        if (validate_boolean(text, &is_true) < 0)
            return refuse_text(&place, err, expected_word(SCHEMA_BOOLEAN), text);
        integer = is_true;
    } else if (schema && check_string(schema, text, &place, err) < 0) {
        return -1;
    }
    *out_integer = integer;
    return 0;
}
