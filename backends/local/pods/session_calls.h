// Pods whose supervisors have been called, and have not answered yet: one call at a time of a pod, because a signal
// that is on its way is not sent twice. A pod that does not answer holds up those alone who ask for the same one.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct session_call {
    const char *uuid; // of the pod
    struct session_call *next;
};

struct session_calls {
    pthread_mutex_t lock;
    pthread_cond_t less;
    struct session_call *first;
};

void session_calls_init(struct session_calls *calls);
void session_calls_done(struct session_calls *calls);
// Waits for other calls of the pod, for so long at most. False: too long. Else session_calls_end is due; until then the
// call is the caller's to keep.
bool session_calls_begin(struct session_calls *calls, struct session_call *call, int64_t wait_ms);
void session_calls_end(struct session_calls *calls, const struct session_call *call);
