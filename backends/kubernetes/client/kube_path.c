#include "backends/kubernetes/client/kube_path.h"

#include "base/buffer.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static void append_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 128 && (isalnum(c) || strchr("-._~", c)))
            buffer_char(out, (char)c);
        else
            buffer_printf(out, "%%%02X", c);
    }
}

void kube_path(struct buffer *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at = format; *at; at++) {
        if (at[0] == '%' && at[1] == 's') {
            append_escaped(out, va_arg(args, const char *));
            at++;
        } else {
            buffer_char(out, *at);
        }
    }
    va_end(args);
}

void kube_query(struct buffer *out, const char *name, const char *value)
{
    if (!value)
        return;
    if (out->length)
        buffer_char(out, '&');
    buffer_text(out, name);
    buffer_char(out, '=');
    append_escaped(out, value);
}
