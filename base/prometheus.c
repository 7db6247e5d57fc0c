#include "base/prometheus.h"

#include "base/buffer.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <string.h>

void prometheus_head(struct buffer *out, const char *name, const char *type, const char *help)
{
    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prometheus_label(struct buffer *out, const char *key, const char *value)
{
    buffer_text(out, key);
    buffer_text(out, "=\"");
    for (;;) {
        size_t plain = strcspn(value, "\\\"\n");
        buffer_append(out, value, plain);
        value += plain;
        if (!*value)
            break;
        buffer_char(out, '\\');
        buffer_char(out, *value == '\n' ? 'n' : *value);
        value++;
    }
    buffer_char(out, '"');
}

void prometheus_amount(struct buffer *out, int64_t amount, int64_t unit)
{
    if (amount == QUANTITY_UNLIMITED)
        buffer_text(out, "+Inf");
    else if (amount == 0)
        buffer_char(out, '0');
    else if (amount % unit == 0)
        buffer_printf(out, "%" PRId64, amount / unit);
    else
        buffer_printf(out, "%.15g", (double)amount / (double)unit);
}
