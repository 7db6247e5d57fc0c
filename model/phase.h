// The phases of a workload, as the API names them, and what follows from being in one.
#pragma once
#include <stdbool.h>

#define WORKLOAD_PHASES(X)                \
    X(PHASE_CREATING, "Creating")         \
    X(PHASE_INITIALIZING, "Initializing") \
    X(PHASE_RESUMING, "Resuming")         \
    X(PHASE_PENDING, "Pending")           \
    X(PHASE_DELETING, "Deleting")         \
    X(PHASE_RUNNING, "Running")           \
    X(PHASE_UPDATING, "Updating")         \
    X(PHASE_STOPPED, "Stopped")           \
    X(PHASE_STOPPING, "Stopping")         \
    X(PHASE_DEGRADED, "Degraded")         \
    X(PHASE_FAILED, "Failed")             \
    X(PHASE_COMPLETED, "Completed")       \
    X(PHASE_TERMINATING, "Terminating")   \
    X(PHASE_UNKNOWN, "Unknown")

enum workload_phase {
#define PHASE_ENUM(name, text) name,
    WORKLOAD_PHASES(PHASE_ENUM)
#undef PHASE_ENUM
    PHASE_COUNT
};

// "Creating", ...: static text.
const char *phase_text(enum workload_phase phase);
// PHASE_UNKNOWN where the text is none of them.
enum workload_phase phase_parse(const char *text);
// Completed, Failed: only deletion leads out.
bool phase_is_final(enum workload_phase phase);
// Its time counts as waiting: Creating, Pending, Resuming.
bool phase_is_pending(enum workload_phase phase);
// Its time counts as running: Running, Degraded, Updating.
bool phase_is_running(enum workload_phase phase);
// Whether a client may offer to stop it: it holds pods, or waits for a place.
bool phase_can_suspend(enum workload_phase phase);

// What its owner wants of a workload.
enum desired_phase {
    DESIRED_RUNNING,
    DESIRED_STOPPED,
    DESIRED_DELETED
};

// Text that is none of "Running", "Stopped", "Deleted" is DESIRED_RUNNING.
enum desired_phase desired_phase_parse(const char *text);
const char *desired_phase_text(enum desired_phase phase);
