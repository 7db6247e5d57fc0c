#include "replay/progress.h"

#include "base/timestamp.h"
#include "replay/policy.h"
#include "replay/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SHOW_EVERY_US = 100000,
    BAR_WIDTH = 30
};

struct progress progress_begin(void)
{
    return (struct progress){.is_on = isatty(STDERR_FILENO) == 1, .began_us = timestamp_monotonic_us()};
}

void progress_show(void *context, const struct run *run)
{
    struct progress *progress = context;
    int64_t now_us = timestamp_monotonic_us();
    if (!progress->is_on || now_us - progress->shown_us < SHOW_EVERY_US || run->events_total == 0)
        return;
    progress->shown_us = now_us;
    uint64_t done = run->events_done < run->events_total ? run->events_done : run->events_total;
    uint64_t full = done * BAR_WIDTH / run->events_total;
    char bar[BAR_WIDTH + 1];
    for (uint64_t i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%-20.20s [%s] %3" PRIu64 " %%  %" PRIu64 " cycles  %" PRId64 " s ", run->policy->name, bar,
            done * 100 / run->events_total, run->cycles, (now_us - progress->began_us) / 1000000);
}

void progress_end(const struct progress *progress)
{
    if (progress->is_on)
        fprintf(stderr, "\r%100s\r", "");
}
