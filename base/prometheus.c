#include "base/prometheus.h"

#include "base/buffer.h"

void prometheus_head(struct buffer *out, const char *name, const char *type, const char *help)
{
    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prometheus_label(struct buffer *out, const char *key, const char *value)
{
    buffer_printf(out, "%s=\"", key);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            buffer_char(out, '\\');
        if (*value == '\n')
            buffer_text(out, "\\n");
        else
            buffer_char(out, *value);
    }
    buffer_char(out, '"');
}
