// What is due: the ends of running jobs, the earliest first, those of one instant by the number of the job.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define EVENTS_NEVER INT64_MAX

struct event {
    int64_t time_ms;
    uint32_t job;
    uint32_t start; // which of the job's starts: the end of one that was evicted is out of date
};

struct events { // a binary heap
    struct event *items;
    size_t count;
    size_t capacity;
};

void events_done(struct events *events);
void events_add(struct events *events, struct event event);
int64_t events_next_ms(const struct events *events); // EVENTS_NEVER: there is none
struct event events_take(struct events *events);
