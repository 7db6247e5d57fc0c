// A trace from CSV; docs/replay.md lists the columns.
#pragma once
#include <stddef.h>

struct arena;
struct error;
struct nodes;
struct trace;

// Jobs and texts are arena's. Bad rows are errors that name line and column; so is a job whose models no node has.
int trace_read(const char *path, const struct nodes *nodes, struct arena *arena, struct trace *out_trace,
               struct error *err);
// The same over text in memory; name is for messages.
int trace_read_text(const char *name, const char *text, size_t length, const struct nodes *nodes, struct arena *arena,
                    struct trace *out_trace, struct error *err);
