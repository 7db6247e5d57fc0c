// Processor time of this thread, which does nothing but compute: what it would take on a core of its own.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t measure_now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int measure_compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

// Sorts the times and gives the middle one in milliseconds.
static inline double measure_median_ms(int64_t *times_ns, size_t count)
{
    qsort(times_ns, count, sizeof(*times_ns), measure_compare);
    return (double)times_ns[count / 2] / 1e6;
}
