// Time limits and limits on idle GPUs, as the project and the department had them when the workload was submitted.
// Each is announced before it acts: LIMIT_NOTICE_MAX_MS before, at least a tenth of the limit where that is shorter.
// What was announced, and since when GPUs are idle, stands in rows: a restart neither repeats nor forgets it. Where an
// announcement comes late, as after a time without a server, so does the stop.
#pragma once
#include "reconciler/turn/turn.h"

enum {
    LIMIT_NOTICE_MAX_MS = 10 * 60 * 1000,
    IDLE_WINDOW_MAX_MS = 30 * 1000 // of a limit on idle GPUs; a tenth of the limit where that is shorter
};

// Announces and stops. True where it stopped the workload.
bool limits_apply(struct turn *turn, struct cache_workload *workload);
// The GPUs of a pod do nothing, or something, since time_ms. A pod counts as idle after a whole window without work;
// one look that sees work begins it again.
void limits_note_use(struct turn *turn, struct cache_pod *pod, bool is_idle, int64_t time_ms);
