#include "replay/page.h"

#include "base/buffer.h"
#include "replay/report.h"

void page_write(const struct report *report, struct buffer *out)
{
    (void)report;
    buffer_text(out, "<!doctype html>");
}
