// When a submission is to start, as people write it.
#pragma once
#include <stdint.h>

struct error;

// now+2h, now+2hours; 22:00[:30], midnight or noon, today or, where that is over, tomorrow; 2026-01-31[T22:00[:30]]:
// times of this machine's zone. A time with its zone is taken as it is: 2026-01-31T22:00:00Z.
int start_time_parse(const char *text, int64_t now_ms, int64_t *out_time_ms, struct error *err);
