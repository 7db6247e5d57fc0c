#include "api/policies/policy_values.h"

#include "api/policies/policy_schema.h"
#include "base/arena.h"
#include "base/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_MAX = 60
};

static bool is_quantity(const struct schema *rule)
{
    const struct schema *maximum = schema_member(rule, "max");
    return maximum && maximum->type == SCHEMA_STRING;
}

bool policy_value_is_empty(const json_t *value)
{
    return !value || json_is_null(value) || (json_is_string(value) && !*json_string_value(value)) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

bool policy_value_amount(const struct schema *rule, const json_t *value, long double *out_amount)
{
    int64_t bytes;
    if (json_is_string(value)) {
        if (!is_quantity(rule) || quantity_parse_memory(json_string_value(value), &bytes, NULL) < 0)
            return false;
        *out_amount = (long double)bytes;
        return true;
    }
    if (!json_is_number(value))
        return false;
    *out_amount = json_is_integer(value) ? (long double)json_integer_value(value) : (long double)json_real_value(value);
    return true;
}

static bool is_same(const json_t *a, const json_t *b);

static bool is_same_object(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
        if (!is_same(value, json_object_get(b, key)))
            return false;
    json_object_foreach((json_t *)(uintptr_t)b, key, value)
        if (!json_object_get(a, key) && !json_is_null(value))
            return false;
    return true;
}

static bool is_same(const json_t *a, const json_t *b)
{
    bool a_is_none = !a || json_is_null(a), b_is_none = !b || json_is_null(b);
    if (a_is_none || b_is_none)
        return a_is_none == b_is_none;
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    if (json_is_object(a) && json_is_object(b))
        return is_same_object(a, b);
    if (!json_is_array(a) || !json_is_array(b))
        return json_equal(a, b);
    if (json_array_size(a) != json_array_size(b))
        return false;
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!is_same(json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

bool policy_value_equals(const struct schema *rule, const json_t *a, const json_t *b)
{
    long double amount_a, amount_b;
    if (rule && policy_value_amount(rule, a, &amount_a) && policy_value_amount(rule, b, &amount_b))
        return amount_a == amount_b;
    return is_same(a, b);
}

bool policy_value_is_on_step(long double amount, long double start, long double step)
{
    long double count = (amount - start) / step;
    return fabsl(count - roundl(count)) < 1e-9L;
}

json_t *policy_value_times(const struct schema *rule, const json_t *value, double factor)
{
    char text[QUANTITY_TEXT_SIZE];
    long double amount;
    const struct schema *maximum = schema_member(rule, "max");
    if (!maximum || !policy_value_amount(rule, value, &amount))
        return NULL;
    amount *= (long double)factor;
    if (!isfinite((double)amount) || amount < -9.0e15L || amount > 9.0e15L)
        return NULL;
    if (maximum->type == SCHEMA_STRING)
        return amount < 0 ? NULL : json_string(quantity_format_memory((int64_t)ceill(amount), text));
    return maximum->type == SCHEMA_INTEGER ? json_integer((json_int_t)roundl(amount)) : json_real((double)amount);
}

const char *policy_value_shown(const json_t *value, struct arena *arena)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
    if (!text)
        return "nothing";
    size_t length = strlen(text);
    if (length > SHOWN_MAX)
        for (length = SHOWN_MAX; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    const char *shown = arena_printf(arena, "%.*s%s", (int)length, text, text[length] ? "..." : "");
    free(text);
    return shown;
}
