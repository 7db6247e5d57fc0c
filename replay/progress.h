// A progress bar on standard error, where that is a terminal.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct run;

struct progress {
    bool is_on;
    int64_t shown_us; // when, on the monotonic clock
    int64_t began_us;
};

struct progress progress_begin(void);
void progress_show(void *progress, const struct run *run);
void progress_end(const struct progress *progress);
