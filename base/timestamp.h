// Times: milliseconds since the epoch, UTC. Text is ISO 8601 as the API writes it: 2022-01-01T03:49:52.531Z.
#pragma once
#include <stdint.h>

struct error;

enum {
    TIMESTAMP_SIZE = 32
};
#define TIMESTAMP_MAX_MS INT64_C(253402300799999) // the end of 9999: what is later is written as this

int64_t timestamp_now_ms(void);       // wall clock
int64_t timestamp_monotonic_us(void); // for durations; no relation to wall time
void timestamp_format(int64_t time_ms, char out[TIMESTAMP_SIZE]);
// Reads YYYY-MM-DDTHH:MM:SS[.fraction](Z|+hh:mm|-hh:mm), or a date alone (midnight). Years 1970 to 9999.
int timestamp_parse(const char *text, int64_t *out_time_ms, struct error *err);
