#include "backends/kubernetes/objects/kube_quantity.h"

#include "base/error.h"

#include <stdbool.h>
#include <string.h>

enum {
    DIGITS_MAX = 20, // more are counted, and whether any of them is not 0
    EXPONENT_MAX = 1000
};

struct decimal {
    bool is_negative;
    unsigned __int128 mantissa; // below 10^20
    int exponent;               // of ten
    int shift;                  // of two
    bool has_more;              // something smaller than the last digit of mantissa
};

struct suffix {
    const char *text;
    int exponent, shift;
};

static const struct suffix SUFFIXES[] = {
    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10},
    {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void take_digit(struct decimal *value, int digit, bool is_fraction, int *significant)
{
    if (*significant >= DIGITS_MAX) {
        value->has_more |= digit != 0;
        value->exponent += !is_fraction;
        return;
    }
    value->mantissa = value->mantissa * 10 + (unsigned)digit;
    value->exponent -= is_fraction;
    *significant += value->mantissa != 0;
}

// The digits; returns what stands behind them, NULL where there are none.
static const char *read_digits(const char *at, const char *end, struct decimal *out)
{
    int significant = 0;
    bool is_fraction = false, has_digit = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !is_fraction)); at++) {
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        has_digit = true;
        take_digit(out, *at - '0', is_fraction, &significant);
    }
    return has_digit ? at : NULL;
}

static int read_exponent(const char *at, const char *end, struct decimal *out)
{
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return -1;
    int exponent = 0;
    for (; at < end && is_digit(*at); at++)
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : exponent;
    out->exponent += is_negative ? -exponent : exponent;
    return at == end ? 0 : -1;
}

static int read_suffix(const char *at, const char *end, struct decimal *out)
{
    size_t length = (size_t)(end - at);
    if (length == 0)
        return 0;
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++) {
        if (strlen(SUFFIXES[i].text) != length || memcmp(SUFFIXES[i].text, at, length) != 0)
            continue;
        out->exponent += SUFFIXES[i].exponent;
        out->shift = SUFFIXES[i].shift;
        return 0;
    }
    return *at == 'e' || *at == 'E' ? read_exponent(at + 1, end, out) : -1;
}

static int64_t capped(const struct decimal *value)
{
    return value->is_negative ? -INT64_MAX : INT64_MAX;
}

// The value in steps of 10^-digits, rounded away from 0.
static int64_t scale(struct decimal value, int digits)
{
    unsigned __int128 amount = value.mantissa << value.shift; // below 2^67 * 2^60
    if (amount == 0 && !value.has_more)
        return 0;
    int exponent = value.exponent + digits;
    for (; exponent > 0 && amount <= INT64_MAX; exponent--)
        amount *= 10;
    if (exponent > 0)
        return capped(&value);
    bool has_rest = value.has_more;
    for (; exponent < 0 && amount > 0; exponent++) {
        has_rest |= amount % 10 != 0;
        amount /= 10;
    }
    amount += has_rest;
    if (amount > INT64_MAX)
        return capped(&value);
    return value.is_negative ? -(int64_t)amount : (int64_t)amount;
}

int kube_quantity_read(const char *text, size_t length, enum kube_unit unit, int64_t *out, struct error *err)
{
    const char *at = text, *end = text + length;
    struct decimal value = {.is_negative = length > 0 && *text == '-'};
    if (length > 0 && (*text == '-' || *text == '+'))
        at++;
    at = read_digits(at, end, &value);
    if (!at || read_suffix(at, end, &value) < 0)
        return error_set(err, ERROR_INVALID, "%.*s: not a quantity like 2, 500m, 1Gi or 12e6",
                         (int)(length < 40 ? length : 40), text);
    *out = scale(value, (int)unit);
    return 0;
}

static int64_t value_of(const json_t *value, enum kube_unit unit)
{
    int64_t amount = 0;
    if (json_is_string(value)) {
        kube_quantity_read(json_string_value(value), json_string_length(value), unit, &amount, NULL);
    } else if (json_is_number(value)) {
        char text[64];
        size_t length = json_dumpb(value, text, sizeof(text), JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        if (length <= sizeof(text))
            kube_quantity_read(text, length, unit, &amount, NULL);
    }
    return amount;
}

int64_t kube_quantity_units_of(const json_t *value)
{
    return value_of(value, KUBE_WHOLE);
}

int64_t kube_quantity_milli_of(const json_t *value)
{
    return value_of(value, KUBE_MILLI);
}
