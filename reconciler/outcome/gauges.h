// The latest value of each time series, so that only a change is written.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gauge;
struct series; // db/samples.h

struct gauges {
    struct gauge **slots; // by hash
    size_t capacity, count;
    int64_t generation;
};

// All zero is empty.
void gauges_done(struct gauges *gauges);
// A new pass over all series.
void gauges_begin(struct gauges *gauges);
// Whether that is another value than before, or the first. NAN: nobody measures it.
bool gauges_set(struct gauges *gauges, const struct series *series, double value);
// Forgets what was not set in this pass. gone is called for each whose value was above 0; the series ends with the
// call.
void gauges_forget_unset(struct gauges *gauges, void (*gone)(void *context, const struct series *series),
                         void *context);
