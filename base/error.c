#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void format_cut(char *out, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(out, size, format, args);
    if (length >= (int)size)
        memcpy(out + size - 4, "...", 4);
    for (char *c = out; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    if (!err)
        return -1;
    va_list args;
    va_start(args, format);
    err->code = code;
    err->details[0] = '\0';
    format_cut(err->message, sizeof(err->message), format, args);
    va_end(args);
    return -1;
}

int error_details(struct error *err, const char *format, ...)
{
    if (!err)
        return -1;
    va_list args;
    va_start(args, format);
    format_cut(err->details, sizeof(err->details), format, args);
    va_end(args);
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    if (!err)
        return -1;
    char rest[sizeof(err->message)];
    memcpy(rest, err->message, sizeof(rest));
    va_list args;
    va_start(args, format);
    format_cut(err->message, sizeof(err->message), format, args);
    va_end(args);
    size_t used = strlen(err->message);
    int length = snprintf(err->message + used, sizeof(err->message) - used, "%s", rest);
    if (length >= (int)(sizeof(err->message) - used))
        memcpy(err->message + sizeof(err->message) - 4, "...", 4);
    return -1;
}

int error_status(enum error_code code)
{
    static const int STATUS[] = {[ERROR_NONE] = 500,
#define ERROR_STATUS(name, status, meaning) [name] = status,
                                 ERROR_CODES(ERROR_STATUS)
#undef ERROR_STATUS
    };
    return STATUS[code];
}
