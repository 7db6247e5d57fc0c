#include "backends/kubernetes/metrics/kube_rounds.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 512 * 1024
};

struct kube_rounds {
    kube_round_fn round;
    void *context;
    int64_t pause_ms, least_parts;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ending;
};

bool kube_rounds_is_ending(struct kube_rounds *rounds)
{
    pthread_mutex_lock(&rounds->lock);
    bool ending = rounds->ending;
    pthread_mutex_unlock(&rounds->lock);
    return ending;
}

static int64_t spent_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *run(void *context)
{
    struct kube_rounds *rounds = context;
    while (!kube_rounds_is_ending(rounds)) {
        int64_t began_us = spent_us();
        rounds->round(rounds->context, rounds);
        int64_t least_ms = (spent_us() - began_us) * rounds->least_parts / 1000;
        int64_t pause_ms = least_ms > rounds->pause_ms ? least_ms : rounds->pause_ms;
        struct timespec until = condition_after(pause_ms);
        pthread_mutex_lock(&rounds->lock);
        while (!rounds->ending && pthread_cond_timedwait(&rounds->changed, &rounds->lock, &until) == 0)
            ;
        pthread_mutex_unlock(&rounds->lock);
    }
    return NULL;
}

int kube_rounds_create(int64_t pause_ms, int64_t least_parts, kube_round_fn round, void *context,
                       struct kube_rounds **out_rounds, struct error *err)
{
    struct kube_rounds *rounds = memory_array(1, sizeof(*rounds));
    pthread_attr_t attributes;
    *rounds =
        (struct kube_rounds){.round = round, .context = context, .pause_ms = pause_ms, .least_parts = least_parts};
    pthread_mutex_init(&rounds->lock, NULL);
    condition_init(&rounds->changed);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int code = pthread_create(&rounds->thread, &attributes, run, rounds);
    pthread_attr_destroy(&attributes);
    if (code == 0) {
        *out_rounds = rounds;
        return 0;
    }
    pthread_cond_destroy(&rounds->changed);
    pthread_mutex_destroy(&rounds->lock);
    free(rounds);
    return error_set(err, ERROR_INTERNAL, "cannot start the thread that reads what pods use: %s", strerror(code));
}

void kube_rounds_destroy(struct kube_rounds *rounds)
{
    if (!rounds)
        return;
    pthread_mutex_lock(&rounds->lock);
    rounds->ending = true;
    pthread_cond_signal(&rounds->changed);
    pthread_mutex_unlock(&rounds->lock);
    pthread_join(rounds->thread, NULL);
    pthread_cond_destroy(&rounds->changed);
    pthread_mutex_destroy(&rounds->lock);
    free(rounds);
}
