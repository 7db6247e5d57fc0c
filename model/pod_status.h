// Where a pod is in its life, in the scheduler's words, as rows hold them.
#pragma once
#include <stdbool.h>

#define POD_STATUSES(X)                                                                       \
    X(POD_STATUS_PENDING, "Pending")     /* waits for a place */                              \
    X(POD_STATUS_PIPELINED, "Pipelined") /* was promised a place that is still being freed */ \
    X(POD_STATUS_BINDING, "Binding")     /* has a place; the backend has not answered */      \
    X(POD_STATUS_BOUND, "Bound")         /* the backend has it, and it is starting */         \
    X(POD_STATUS_RUNNING, "Running")                                                          \
    X(POD_STATUS_RELEASING, "Releasing") /* is being stopped; holds its place until then */   \
    X(POD_STATUS_SUCCEEDED, "Succeeded")                                                      \
    X(POD_STATUS_FAILED, "Failed")                                                            \
    X(POD_STATUS_DELETED, "Deleted") /* stopped by us, and gone */

enum pod_status {
#define STATUS_ENUM(name, text) name,
    POD_STATUSES(STATUS_ENUM)
#undef STATUS_ENUM
    POD_STATUS_COUNT
};

// "Pending", ...: static text.
const char *pod_status_text(enum pod_status status);
// POD_STATUS_COUNT where the text is none of them.
enum pod_status pod_status_parse(const char *text);
// Binding, Bound, Running: it has a place and is to keep it.
bool pod_status_is_placed(enum pod_status status);
// The same and Releasing: it holds its devices.
bool pod_status_holds_place(enum pod_status status);
// Succeeded, Failed, Deleted.
bool pod_status_is_over(enum pod_status status);
