// A trace from CSV; docs/replay.md lists the columns.
#pragma once

struct arena;
struct error;
struct trace;

// Jobs and texts are arena's. Bad rows are errors that name line and column.
int trace_read(const char *path, struct arena *arena, struct trace *out_trace, struct error *err);
