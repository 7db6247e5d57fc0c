// Splits a command line into words by the shell's quoting rules: blanks separate, '...' takes everything as it stands,
// "..." takes a backslash before " \ $ ` and newline, elsewhere a backslash takes the next character. Nothing is
// expanded.
#pragma once
#include <stddef.h>

struct arena;
struct error;

// Words and list are the arena's; the list ends with NULL. ERROR_INVALID: a quote that is not closed, a backslash at
// the end.
int shell_words_split(const char *text, struct arena *arena, const char *const **out_words, size_t *out_count,
                      struct error *err);
