#include "base/duration.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct duration_unit {
    const char *text;
    int64_t ms;
};

// Longer spellings first, so that "ms" is not read as minutes.
static const struct duration_unit UNITS[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {"w", 604800000},
};

enum {
    DURATION_DIGITS = 12
};

int duration_parse(const char *text, int64_t *out_ms, struct error *err)
{
    const char *at = text;
    __int128 total = 0;
    while (*at != '\0') {
        int64_t whole = 0, fraction = 0, scale = 1;
        int digits = 0;
        for (; *at >= '0' && *at <= '9' && digits < DURATION_DIGITS; at++, digits++)
            whole = whole * 10 + (*at - '0');
        if (*at == '.')
            for (at++; *at >= '0' && *at <= '9' && scale < 1000000; at++, scale *= 10)
                fraction = fraction * 10 + (*at - '0');
        if (digits == 0)
            goto bad;
        int64_t unit_ms = 0;
        for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]) && unit_ms == 0; i++) {
            size_t length = strlen(UNITS[i].text);
            if (strncmp(at, UNITS[i].text, length) == 0) {
                unit_ms = UNITS[i].ms;
                at += length;
            }
        }
        if (unit_ms == 0 && *at == '\0')
            unit_ms = 1000;
        if (unit_ms == 0)
            goto bad;
        total += (__int128)whole * unit_ms + (__int128)fraction * unit_ms / scale;
        if (total > INT64_MAX / 2)
            goto bad;
    }
    if (at == text)
        goto bad;
    *out_ms = (int64_t)total;
    return 0;
bad:
    return error_set(err, ERROR_INVALID, "%s: not a duration like 90s, 5m or 1h30m", text);
}

const char *duration_words(int64_t ms, char out[static DURATION_WORDS_SIZE])
{
    static const struct duration_unit WORDS[] = {{"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}};
    enum {
        LAST = 3
    };
    const struct duration_unit *unit = WORDS;
    while (unit < WORDS + LAST && ms < 2 * unit->ms)
        unit++;
    int64_t rest = unit < WORDS + LAST ? ms % unit->ms / unit[1].ms : 0;
    int size = snprintf(out, DURATION_WORDS_SIZE, "%" PRId64 " %s", ms / unit->ms, unit->text);
    if (rest > 0)
        snprintf(out + size, DURATION_WORDS_SIZE - (size_t)size, " %" PRId64 " %s", rest, unit[1].text);
    return out;
}
