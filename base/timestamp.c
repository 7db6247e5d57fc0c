#include "base/timestamp.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t timestamp_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t timestamp_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static char *put_digits(char *out, int64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--, value /= 10)
        out[i] = (char)('0' + value % 10);
    return out + count;
}

// Lists write some hundreds of times, so this does without strftime. The days since 1970 become a date by the
// arithmetic of Howard Hinnant's "chrono-compatible low-level date algorithms" (civil_from_days).
void timestamp_format(int64_t time_ms, char out[TIMESTAMP_SIZE])
{
    int64_t days = time_ms / 86400000, rest = time_ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    int64_t shifted = days + 719468; // since 0000-03-01
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    int64_t year = year_of_era + era * 400 + (month <= 2);
    if (year < 0 || year > 9999) {
        snprintf(out, TIMESTAMP_SIZE, "%s", year < 0 ? "0000-01-01T00:00:00.000Z" : "9999-12-31T23:59:59.999Z");
        return;
    }
    out = put_digits(out, year, 4);
    *out++ = '-';
    out = put_digits(out, month, 2);
    *out++ = '-';
    out = put_digits(out, day_of_year - (153 * month_from_march + 2) / 5 + 1, 2);
    *out++ = 'T';
    out = put_digits(out, rest / 3600000, 2);
    *out++ = ':';
    out = put_digits(out, rest / 60000 % 60, 2);
    *out++ = ':';
    out = put_digits(out, rest / 1000 % 60, 2);
    *out++ = '.';
    out = put_digits(out, rest % 1000, 3);
    *out++ = 'Z';
    *out = '\0';
}

// Reads exactly count digits; -1 where they are not.
static int digits(const char **text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return -1;
        value = value * 10 + (**text - '0');
    }
    return value;
}

static int skip(const char **text, char wanted)
{
    if (**text != wanted)
        return -1;
    (*text)++;
    return 0;
}

static int parse_zone(const char **text, int *out_minutes)
{
    if (**text == 'Z' || **text == 'z') {
        (*text)++;
        *out_minutes = 0;
        return 0;
    }
    int sign = **text == '+' ? 1 : **text == '-' ? -1 : 0;
    if (sign == 0)
        return -1;
    (*text)++;
    int hours = digits(text, 2);
    if (**text == ':')
        (*text)++;
    int minutes = digits(text, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return -1;
    *out_minutes = sign * (hours * 60 + minutes);
    return 0;
}

static int parse_clock(const char **text, struct tm *tm, int *out_ms, int *out_zone_minutes)
{
    tm->tm_hour = digits(text, 2);
    if (tm->tm_hour < 0 || skip(text, ':') < 0 || (tm->tm_min = digits(text, 2)) < 0 || skip(text, ':') < 0 ||
        (tm->tm_sec = digits(text, 2)) < 0)
        return -1;
    if (**text == '.') {
        (*text)++;
        int scale = 100, count = 0;
        for (; **text >= '0' && **text <= '9'; (*text)++, count++, scale /= 10)
            *out_ms += (**text - '0') * scale;
        if (count == 0)
            return -1;
    }
    return parse_zone(text, out_zone_minutes);
}

int timestamp_parse(const char *text, int64_t *out_time_ms, struct error *err)
{
    const char *at = text;
    struct tm tm = {0};
    int ms = 0, zone_minutes = 0;
    int year = digits(&at, 4);
    if (year < 1970 || skip(&at, '-') < 0)
        goto bad;
    tm.tm_year = year - 1900;
    tm.tm_mon = digits(&at, 2) - 1;
    if (skip(&at, '-') < 0)
        goto bad;
    tm.tm_mday = digits(&at, 2);
    if (*at != '\0') {
        if (*at != 'T' && *at != 't' && *at != ' ')
            goto bad;
        at++;
        if (parse_clock(&at, &tm, &ms, &zone_minutes) < 0 || *at != '\0')
            goto bad;
    }
    struct tm wanted = tm;
    time_t seconds = timegm(&tm);
    // timegm moves 31 February to March: a date that was moved was not one.
    if (tm.tm_mon != wanted.tm_mon || tm.tm_mday != wanted.tm_mday || wanted.tm_hour > 23 || wanted.tm_min > 59 ||
        wanted.tm_sec > 59)
        goto bad;
    *out_time_ms = ((int64_t)seconds - zone_minutes * 60) * 1000 + ms;
    return 0;
bad:
    return error_set(err, ERROR_INVALID, "%s: not a time like 2022-01-01T03:49:52.531Z", text);
}
