// A workload that was submitted, until it has begun: its phase, the reason that it waits, and when it is expected to
// start. One line that is redrawn where standard error is a terminal; elsewhere a line whenever it changes.
#pragma once
#include "cli/command.h"

struct watch_wish {
    const char *workload_uuid;
    const char *name;
    bool is_quiet; // says nothing
};

enum watch_end {
    WATCH_RUNS,
    WATCH_COMPLETED,
    WATCH_FAILED,
    WATCH_STOPPED
};

// Until it runs, or is over. A server that does not answer is asked again for two minutes.
int watch_until_begun(struct cli *cli, const struct watch_wish *wish, enum watch_end *out_end, struct error *err);
// The same until it is over: WATCH_RUNS is none of the answers.
int watch_until_over(struct cli *cli, const struct watch_wish *wish, enum watch_end *out_end, struct error *err);
