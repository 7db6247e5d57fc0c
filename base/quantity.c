#include "base/quantity.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    GPU_MAXIMUM = 1000000,
    CPU_CORES_MAXIMUM = 100000000
};

// A decimal as digits and scale: value = mantissa * 10^exponent. Refuses signs, blanks, and more than 18 digits.
struct decimal {
    int64_t mantissa;
    int exponent;
    const char *rest;
};

static int parse_decimal(const char *text, struct decimal *out)
{
    const char *at = *text == '+' ? text + 1 : text;
    int digits = 0;
    *out = (struct decimal){0};
    for (int fraction = 0; (*at >= '0' && *at <= '9') || (*at == '.' && !fraction); at++) {
        if (*at == '.') {
            fraction = 1;
            continue;
        }
        if (out->mantissa > (INT64_MAX - 9) / 10)
            return -1;
        out->mantissa = out->mantissa * 10 + (*at - '0');
        out->exponent -= fraction;
        digits++;
    }
    out->rest = at;
    return digits > 0 ? 0 : -1;
}

// mantissa * 10^exponent * factor, rounded up; -1 where it does not fit.
static int scale_up(struct decimal value, int64_t factor, int64_t *out)
{
    __int128 amount = (__int128)value.mantissa * factor;
    for (; value.exponent > 0; value.exponent--) {
        amount *= 10;
        if (amount > INT64_MAX)
            return -1;
    }
    for (; value.exponent < 0; value.exponent++)
        amount = (amount + 9) / 10;
    if (amount >= INT64_MAX)
        return -1;
    *out = (int64_t)amount;
    return 0;
}

int quantity_parse_cpu(const char *text, int64_t *out_cpu_milli, struct error *err)
{
    struct decimal value;
    int64_t milli;
    if (parse_decimal(text, &value) < 0)
        return error_set(err, ERROR_INVALID, "%s: not a number of cores", text);
    int64_t factor = 1000;
    if (strcmp(value.rest, "m") == 0)
        factor = 1;
    else if (*value.rest != '\0')
        return error_set(err, ERROR_INVALID, "%s: cores like 0.5 or 500m", text);
    if (scale_up(value, factor, &milli) < 0 || milli > (int64_t)CPU_CORES_MAXIMUM * 1000)
        return error_set(err, ERROR_INVALID, "%s: at most %d cores", text, CPU_CORES_MAXIMUM);
    *out_cpu_milli = milli;
    return 0;
}

struct memory_suffix {
    const char *text;
    int64_t factor;
};

static const struct memory_suffix MEMORY_SUFFIXES[] = {
    {"", 1},
    {"k", 1000},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", 1000000000000},
    {"P", 1000000000000000},
    {"Ki", 1LL << 10},
    {"Mi", 1LL << 20},
    {"Gi", 1LL << 30},
    {"Ti", 1LL << 40},
    {"Pi", 1LL << 50},
};

int quantity_parse_memory(const char *text, int64_t *out_bytes, struct error *err)
{
    struct decimal value;
    if (parse_decimal(text, &value) < 0)
        return error_set(err, ERROR_INVALID, "%s: not an amount of memory", text);
    const char *rest = value.rest;
    if ((*rest == 'e' || *rest == 'E') && rest[1] != '\0') {
        int sign = rest[1] == '-' ? -1 : 1;
        rest += rest[1] == '-' || rest[1] == '+' ? 2 : 1;
        int exponent = 0, count = 0;
        for (; *rest >= '0' && *rest <= '9' && count < 3; rest++, count++)
            exponent = exponent * 10 + (*rest - '0');
        if (count == 0 || exponent > 30)
            return error_set(err, ERROR_INVALID, "%s: not an amount of memory", text);
        value.exponent += sign * exponent;
    }
    for (size_t i = 0; i < sizeof(MEMORY_SUFFIXES) / sizeof(MEMORY_SUFFIXES[0]); i++) {
        if (strcmp(rest, MEMORY_SUFFIXES[i].text) != 0)
            continue;
        if (scale_up(value, MEMORY_SUFFIXES[i].factor, out_bytes) < 0)
            return error_set(err, ERROR_INVALID, "%s: more memory than 64 bits count", text);
        return 0;
    }
    return error_set(err, ERROR_INVALID, "%s: unknown unit; k, M, G, T, P, Ki, Mi, Gi, Ti or Pi", text);
}

static int check_real(double value, double maximum, const char *what, struct error *err)
{
    if (!isfinite(value))
        return error_set(err, ERROR_INVALID, "not a finite number");
    if (value < 0)
        return error_set(err, ERROR_INVALID, "at least 0, got %g", value);
    if (value > maximum)
        return error_set(err, ERROR_INVALID, "at most %.0f %s, got %g", maximum, what, value);
    return 0;
}

int quantity_gpu_from_real(double value, int64_t *out_gpu_milli, struct error *err)
{
    if (check_real(value, GPU_MAXIMUM, "GPUs", err) < 0)
        return -1;
    double hundredths = value * 100;
    if (fabs(hundredths - nearbyint(hundredths)) > 1e-6)
        return error_set(err, ERROR_INVALID, "GPU amounts go in steps of 0.01, got %g", value);
    *out_gpu_milli = (int64_t)nearbyint(hundredths) * 10;
    return 0;
}

int quantity_cpu_from_cores(double cores, int64_t *out_cpu_milli, struct error *err)
{
    if (check_real(cores, CPU_CORES_MAXIMUM, "cores", err) < 0)
        return -1;
    *out_cpu_milli = (int64_t)ceil(cores * 1000 - 1e-6);
    return 0;
}

char *quantity_format_milli(int64_t milli, char out[QUANTITY_TEXT_SIZE])
{
    int length = snprintf(out, QUANTITY_TEXT_SIZE, "%s%" PRId64 ".%03" PRId64, milli < 0 ? "-" : "",
                          (milli < 0 ? -milli : milli) / 1000, (milli < 0 ? -milli : milli) % 1000);
    while (out[length - 1] == '0')
        length--;
    if (out[length - 1] == '.')
        length--;
    out[length] = '\0';
    return out;
}

char *quantity_format_memory(int64_t bytes, char out[QUANTITY_TEXT_SIZE])
{
    static const char *const UNITS[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < sizeof(UNITS) / sizeof(UNITS[0])) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, QUANTITY_TEXT_SIZE, "%" PRId64 "%s", bytes, UNITS[unit]);
    return out;
}

int64_t quantity_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (a == QUANTITY_UNLIMITED || b == QUANTITY_UNLIMITED || __builtin_add_overflow(a, b, &sum))
        return QUANTITY_UNLIMITED;
    return sum;
}

int64_t quantity_within(int64_t amount, int64_t most)
{
    return amount < 0 ? 0 : amount < most ? amount : most;
}
