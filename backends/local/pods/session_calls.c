#include "backends/local/pods/session_calls.h"

#include "base/condition.h"

#include <string.h>

void session_calls_init(struct session_calls *calls)
{
    pthread_mutex_init(&calls->lock, NULL);
    condition_init(&calls->less);
}

void session_calls_done(struct session_calls *calls)
{
    pthread_cond_destroy(&calls->less);
    pthread_mutex_destroy(&calls->lock);
}

static bool is_called(const struct session_calls *calls, const char *uuid)
{
    const struct session_call *call = calls->first;
    while (call && strcmp(call->uuid, uuid) != 0)
        call = call->next;
    return call;
}

bool session_calls_begin(struct session_calls *calls, struct session_call *call, int64_t wait_ms)
{
    struct timespec until = condition_after(wait_ms);
    pthread_mutex_lock(&calls->lock);
    bool is_busy, is_late = false;
    while ((is_busy = is_called(calls, call->uuid)) && !is_late)
        is_late = pthread_cond_timedwait(&calls->less, &calls->lock, &until) != 0;
    if (!is_busy) {
        call->next = calls->first;
        calls->first = call;
    }
    pthread_mutex_unlock(&calls->lock);
    return !is_busy;
}

void session_calls_end(struct session_calls *calls, const struct session_call *call)
{
    pthread_mutex_lock(&calls->lock);
    struct session_call **at = &calls->first;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    pthread_cond_broadcast(&calls->less);
    pthread_mutex_unlock(&calls->lock);
}
