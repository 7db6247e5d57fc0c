// How a simulated pod lives: read from its workload's annotations (backends/simulated/simulated.h lists them).
#pragma once
#include <stdint.h>

struct life {
    int64_t start_delay_ms;
    int64_t duration_ms; // negative: runs on
    int64_t exit_code;
    int64_t stop_duration_ms;
    double gpu_utilization;          // percent
    int64_t cpu_milli, memory_bytes; // that it uses: of what it asks for, or a little
};

// What it uses of a device's memory, in percent of its part: a fifth, and six tenths more at full utilization.
double life_gpu_memory_percent(const struct life *life);

// From a specification in the API's form; what is missing or unreadable keeps its default (it was checked at
// submission).
void life_read(const char *spec_json, struct life *out_life);
