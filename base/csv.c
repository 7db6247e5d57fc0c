#include "base/csv.h"

#include "base/buffer.h"

#include <string.h>

void csv_cell(struct buffer *out, const char *text)
{
    buffer_char(out, '"');
    if (text[0] && strchr("=+-@\t\r\n", text[0]))
        buffer_char(out, '\'');
    for (; *text; text++) {
        if (*text == '"')
            buffer_char(out, '"');
        buffer_char(out, *text);
    }
    buffer_char(out, '"');
}
