// Simulated time: wall time times the speed that held then. A history of speeds turns wall times of the past into
// simulated ones; the latest speed holds for ever. Not thread-safe.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;

enum {
    SIM_CLOCK_SEGMENTS = 32
};

struct sim_segment {
    int64_t from_ms; // wall
    double at_ms;    // simulated
    double speed;
};

struct sim_clock {
    struct sim_segment segments[SIM_CLOCK_SEGMENTS]; // oldest first; times before the first go at the first's speed
    size_t count;
};

void sim_clock_init(struct sim_clock *clock, int64_t now_ms, double speed);
double sim_clock_speed(const struct sim_clock *clock);
// From now on. The oldest speed is forgotten when there are too many.
void sim_clock_set_speed(struct sim_clock *clock, int64_t now_ms, double speed);
double sim_clock_at(const struct sim_clock *clock, int64_t wall_ms);
// The first wall time, rounded up, at which the simulated time has come.
int64_t sim_clock_wall(const struct sim_clock *clock, double sim_ms);

void sim_clock_save(const struct sim_clock *clock, struct buffer *out);
int sim_clock_load(struct sim_clock *clock, const char *text, struct error *err);
