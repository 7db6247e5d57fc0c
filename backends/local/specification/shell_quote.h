// Words for a shell.
#pragma once

struct arena;

// The text in single quotes, as one word; the arena's.
const char *shell_quote(const char *text, struct arena *arena);
