// Condition variables whose timed waits go by the monotonic clock: nobody's setting of the time moves them.
//
//     condition_init(&queue->changed);
//     struct timespec until = condition_after(500);
//     while (!queue->count && pthread_cond_timedwait(&queue->changed, &queue->lock, &until) == 0)
//         ;
#pragma once
#include <pthread.h>
#include <stdint.h>
#include <time.h>

void condition_init(pthread_cond_t *condition);
// The moment that is so many milliseconds from now.
struct timespec condition_after(int64_t ms);
