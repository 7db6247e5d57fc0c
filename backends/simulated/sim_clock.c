#include "backends/simulated/sim_clock.h"

#include "base/buffer.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void sim_clock_init(struct sim_clock *clock, int64_t now_ms, double speed)
{
    *clock = (struct sim_clock){.segments = {{now_ms, (double)now_ms, speed}}, .count = 1};
}

double sim_clock_speed(const struct sim_clock *clock)
{
    return clock->segments[clock->count - 1].speed;
}

void sim_clock_set_speed(struct sim_clock *clock, int64_t now_ms, double speed)
{
    double present = sim_clock_speed(clock);
    if (!(present < speed) && !(present > speed))
        return;
    struct sim_segment next = {now_ms, sim_clock_at(clock, now_ms), speed};
    if (clock->count == SIM_CLOCK_SEGMENTS) {
        memmove(clock->segments, clock->segments + 1, (SIM_CLOCK_SEGMENTS - 1) * sizeof(clock->segments[0]));
        clock->count--;
    }
    clock->segments[clock->count++] = next;
}

double sim_clock_at(const struct sim_clock *clock, int64_t wall_ms)
{
    size_t i = clock->count - 1;
    while (i > 0 && clock->segments[i].from_ms > wall_ms)
        i--;
    const struct sim_segment *segment = &clock->segments[i];
    return segment->at_ms + (double)(wall_ms - segment->from_ms) * segment->speed;
}

int64_t sim_clock_wall(const struct sim_clock *clock, double sim_ms)
{
    size_t i = clock->count - 1;
    while (i > 0 && clock->segments[i].at_ms > sim_ms)
        i--;
    const struct sim_segment *segment = &clock->segments[i];
    double wall = (double)segment->from_ms + ceil((sim_ms - segment->at_ms) / segment->speed - 1e-6);
    return wall >= 9e15 ? (int64_t)9e15 : (int64_t)wall;
}

void sim_clock_save(const struct sim_clock *clock, struct buffer *out)
{
    for (size_t i = 0; i < clock->count; i++)
        buffer_printf(out, "%s%" PRId64 " %.17g %.17g", i ? ";" : "", clock->segments[i].from_ms,
                      clock->segments[i].at_ms, clock->segments[i].speed);
}

int sim_clock_load(struct sim_clock *clock, const char *text, struct error *err)
{
    struct sim_clock loaded = {.count = 0};
    for (const char *at = text; *at != '\0' && loaded.count < SIM_CLOCK_SEGMENTS;) {
        struct sim_segment *segment = &loaded.segments[loaded.count];
        int used = 0;
        if (sscanf(at, "%" SCNd64 " %lf %lf%n", &segment->from_ms, &segment->at_ms, &segment->speed, &used) != 3 ||
            !isfinite(segment->at_ms) || !(segment->speed > 0))
            return error_set(err, ERROR_INVALID, "%s: not a saved clock", text);
        loaded.count++;
        at += used;
        if (*at == ';')
            at++;
    }
    if (loaded.count == 0)
        return error_set(err, ERROR_INVALID, "an empty saved clock");
    *clock = loaded;
    return 0;
}
