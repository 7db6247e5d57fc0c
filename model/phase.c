#include "model/phase.h"

#include <string.h>

static const char *const PHASE_TEXTS[PHASE_COUNT] = {
#define PHASE_TEXT(name, text) [name] = text,
    WORKLOAD_PHASES(PHASE_TEXT)
#undef PHASE_TEXT
};

const char *phase_text(enum workload_phase phase)
{
    return PHASE_TEXTS[phase];
}

enum workload_phase phase_parse(const char *text)
{
    for (int i = 0; i < PHASE_COUNT; i++)
        if (strcmp(PHASE_TEXTS[i], text) == 0)
            return (enum workload_phase)i;
    return PHASE_UNKNOWN;
}

bool phase_is_final(enum workload_phase phase)
{
    return phase == PHASE_COMPLETED || phase == PHASE_FAILED;
}

bool phase_is_pending(enum workload_phase phase)
{
    return phase == PHASE_CREATING || phase == PHASE_PENDING || phase == PHASE_RESUMING;
}

bool phase_is_running(enum workload_phase phase)
{
    return phase == PHASE_RUNNING || phase == PHASE_DEGRADED || phase == PHASE_UPDATING;
}

bool phase_can_suspend(enum workload_phase phase)
{
    return phase_is_pending(phase) || phase_is_running(phase) || phase == PHASE_INITIALIZING ||
           phase == PHASE_TERMINATING;
}

enum desired_phase desired_phase_parse(const char *text)
{
    if (strcmp(text, "Stopped") == 0)
        return DESIRED_STOPPED;
    return strcmp(text, "Deleted") == 0 ? DESIRED_DELETED : DESIRED_RUNNING;
}

const char *desired_phase_text(enum desired_phase phase)
{
    return phase == DESIRED_STOPPED ? "Stopped" : phase == DESIRED_DELETED ? "Deleted" : "Running";
}
