// report.html: the runs side by side as one page that needs nothing else: no script, no network; its style is allowed
// by its hash, and drawings are SVG inside.
#pragma once

struct buffer;
struct report;

void page_write(const struct report *report, struct buffer *out);
