// The thread: when to take a turn.
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "reconciler/state.h"

#include <string.h>
#include <time.h>

enum {
    TICK_MS = 1000,
    COALESCE_MS = 10,
    AFTER_FAILURE_MS = 500,
    PAUSE_MAXIMUM_MS = 500
};

static void wake_for_facts(void *context)
{
    struct reconciler *reconciler = context;
    atomic_store(&reconciler->facts_waiting, true);
    reconciler_wake(reconciler);
}

void reconciler_wake(struct reconciler *reconciler)
{
    pthread_mutex_lock(&reconciler->lock);
    reconciler->woken = true;
    pthread_cond_signal(&reconciler->changed);
    pthread_mutex_unlock(&reconciler->lock);
}

// Waits that long, or until stopped; facts of the backend end it too where they may.
static bool wait_ms(struct reconciler *reconciler, int64_t ms, bool ends_on_wake, bool ends_on_facts)
{
    struct timespec until = condition_after(ms);
    pthread_mutex_lock(&reconciler->lock);
    int rc = 0;
    while (!reconciler->stopping && rc == 0 && !(ends_on_wake && reconciler->woken) &&
           !(ends_on_facts && atomic_load(&reconciler->facts_waiting)))
        rc = pthread_cond_timedwait(&reconciler->changed, &reconciler->lock, &until);
    bool goes_on = !reconciler->stopping;
    pthread_mutex_unlock(&reconciler->lock);
    return goes_on;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t sleep_ms(const struct reconciler *reconciler)
{
    int64_t tick = reconciler->options.tick_ms ? reconciler->options.tick_ms : TICK_MS;
    int64_t now = reconciler_now(reconciler);
    if (reconciler->next_due_ms <= now)
        return 0;
    return reconciler->next_due_ms < now + tick ? reconciler->next_due_ms - now : tick;
}

static void *thread_main(void *context)
{
    struct reconciler *reconciler = context;
    int64_t coalesce = reconciler->options.coalesce_ms ? reconciler->options.coalesce_ms : COALESCE_MS;
    bool has_failed = false;
    for (bool goes_on = true; goes_on;) {
        struct error err = {0};
        bool busy;
        pthread_mutex_lock(&reconciler->lock);
        reconciler->woken = false;
        goes_on = !reconciler->stopping;
        pthread_mutex_unlock(&reconciler->lock);
        if (!goes_on)
            break;
        atomic_store(&reconciler->moved_us, timestamp_monotonic_us());
        int64_t began_ms = monotonic_ms();
        if (reconciler_turn(reconciler, &busy, &err) < 0) {
            char text[LOG_TEXT_SIZE];
            if (!has_failed)
                log_write(LOG_ERROR, "reconciler", "the cycle failed; it will be tried again cause=%s",
                          log_text(err.message, text));
            has_failed = true;
            goes_on = wait_ms(reconciler, AFTER_FAILURE_MS, false, false);
            continue;
        }
        has_failed = false;
        statistics_step(&reconciler->statistics, reconciler->db, timestamp_now_ms());
        atomic_store(&reconciler->moved_us, timestamp_monotonic_us());
        int64_t took_ms = monotonic_ms() - began_ms;
        if (!busy)
            goes_on = wait_ms(reconciler, sleep_ms(reconciler), true, true);
        // A turn that took long is followed by as long a pause, so that requests get their half of the machine.
        if (goes_on && took_ms > coalesce)
            goes_on = wait_ms(reconciler, took_ms < PAUSE_MAXIMUM_MS ? took_ms : PAUSE_MAXIMUM_MS, false, false);
        else if (goes_on && !atomic_load(&reconciler->facts_waiting))
            goes_on = wait_ms(reconciler, coalesce - took_ms, false, true);
    }
    return NULL;
}

int reconciler_begin(struct reconciler *reconciler, struct error *err)
{
    return reconciler->backend->ops->start(reconciler->backend->self, wake_for_facts, reconciler, err);
}

int reconciler_start(struct reconciler *reconciler, struct error *err)
{
    if (reconciler_begin(reconciler, err) < 0)
        return -1;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 << 20);
    int rc = pthread_create(&reconciler->thread, &attributes, thread_main, reconciler);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the reconciler's thread: %s", strerror(rc));
    reconciler->has_thread = true;
    return 0;
}

void reconciler_stop(struct reconciler *reconciler)
{
    if (!reconciler || !reconciler->has_thread)
        return;
    pthread_mutex_lock(&reconciler->lock);
    reconciler->stopping = true;
    pthread_cond_signal(&reconciler->changed);
    pthread_mutex_unlock(&reconciler->lock);
    pthread_join(reconciler->thread, NULL);
    reconciler->has_thread = false;
}
