// Durations as people write them: 90s, 5m, 1h30m, 2d, 1w, 500ms; a plain number is seconds.
#pragma once
#include <stdint.h>

struct error;

int duration_parse(const char *text, int64_t *out_ms, struct error *err);
