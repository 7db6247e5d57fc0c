#include "api/notifications/types.h"

#include <string.h>

#define STATUS(phase, description)                                      \
    {                                                                   \
        NOTIFICATION_CATEGORY_STATUS, phase, description, phase, {0}, 0 \
    }

const struct notification_type NOTIFICATION_TYPES[] = {
    STATUS("Creating", "The workload was accepted."),
    STATUS("Pending", "The workload waits for a place."),
    STATUS("Initializing", "The workload has its place and gets ready."),
    STATUS("Running", "The workload runs."),
    STATUS("Degraded", "Some of the workload's pods do not run."),
    STATUS("Updating", "The workload is changed while it runs."),
    STATUS("Stopping", "The workload is being stopped."),
    STATUS("Stopped", "The workload is stopped."),
    STATUS("Resuming", "The workload starts again."),
    STATUS("Completed", "The workload ended well."),
    STATUS("Failed", "The workload failed."),
    STATUS("Terminating", "The workload is being ended."),
    STATUS("Deleting", "The workload is being deleted."),
    {NOTIFICATION_CATEGORY_LIMITS,
     "Time limit warning",
     "A rule of the project stops the workload soon: it has run for too long.",
     NULL,
     {EVENT_REASON_TIME_LIMIT_WARNING},
     1},
    {NOTIFICATION_CATEGORY_LIMITS,
     "Idle limit warning",
     "A rule of the project stops the workload soon: its GPUs are idle.",
     NULL,
     {EVENT_REASON_IDLE_LIMIT_WARNING},
     1},
    {NOTIFICATION_CATEGORY_LIMITS,
     "Stopped by a limit",
     "A rule of the project stopped the workload.",
     NULL,
     {EVENT_REASON_TIME_LIMIT_EXCEEDED, EVENT_REASON_IDLE_LIMIT_EXCEEDED},
     2},
    {NOTIFICATION_CATEGORY_PREEMPTION,
     "Preempted",
     "The workload gave its place to another, or lost it with its gang.",
     NULL,
     {EVENT_REASON_PREEMPTED, EVENT_REASON_STALE_JOB},
     2},
    {NOTIFICATION_CATEGORY_PREEMPTION,
     "Moved",
     "The workload was moved to make room for another, or off a node that an administrator empties.",
     NULL,
     {EVENT_REASON_CONSOLIDATED, EVENT_REASON_DRAINED},
     2},
    {NOTIFICATION_CATEGORY_QUOTA,
     NOTIFICATION_TYPE_OVER_QUOTA,
     "Once a day: the projects that hold more GPUs than their quota.",
     NULL,
     {0},
     0},
};
const size_t NOTIFICATION_TYPE_COUNT = sizeof(NOTIFICATION_TYPES) / sizeof(NOTIFICATION_TYPES[0]);

uint64_t notification_type_mask(const struct notification_type *type)
{
    return UINT64_C(1) << (type - NOTIFICATION_TYPES);
}

uint64_t notification_type_bit(const char *category, const char *type)
{
    for (size_t i = 0; i < NOTIFICATION_TYPE_COUNT; i++)
        if (strcmp(NOTIFICATION_TYPES[i].category, category) == 0 && strcmp(NOTIFICATION_TYPES[i].type, type) == 0)
            return UINT64_C(1) << i;
    return 0;
}

const struct notification_type *notification_type_of_phase(const char *phase)
{
    for (size_t i = 0; i < NOTIFICATION_TYPE_COUNT; i++)
        if (NOTIFICATION_TYPES[i].phase && strcmp(NOTIFICATION_TYPES[i].phase, phase) == 0)
            return &NOTIFICATION_TYPES[i];
    return NULL;
}

const struct notification_type *notification_type_of_reason(const char *reason)
{
    for (size_t i = 0; i < NOTIFICATION_TYPE_COUNT; i++)
        for (size_t r = 0; r < NOTIFICATION_TYPES[i].reason_count; r++)
            if (strcmp(event_reason_text(NOTIFICATION_TYPES[i].reasons[r]), reason) == 0)
                return &NOTIFICATION_TYPES[i];
    return NULL;
}
