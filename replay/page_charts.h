// The page's charts, each made from the report.
#pragma once

struct arena;
struct buffer;
struct report;

// Over time: allocated, useless and waited for; the distribution of waits; evictions.
void page_charts_write(const struct report *report, struct arena *arena, struct buffer *out);
// For each project, a bar for each run: allocated beside the quota, mean wait, evictions.
void page_bars_write(const struct report *report, struct arena *arena, struct buffer *out);
