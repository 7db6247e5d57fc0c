#include "backends/simulated/life.h"

#include "base/duration.h"
#include "base/quantity.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_duration(const char *text, int64_t *out_ms)
{
    int64_t ms;
    if (duration_parse(text, &ms, NULL) == 0)
        *out_ms = ms;
}

static void read_annotation(const char *name, const char *value, struct life *life)
{
    char *end;
    if (strcmp(name, "prorata.io/sim-start-delay") == 0)
        read_duration(value, &life->start_delay_ms);
    else if (strcmp(name, "prorata.io/sim-duration") == 0)
        read_duration(value, &life->duration_ms);
    else if (strcmp(name, "prorata.io/sim-stop-duration") == 0)
        read_duration(value, &life->stop_duration_ms);
    else if (strcmp(name, "prorata.io/sim-exit-code") == 0)
        life->exit_code = strtol(value, &end, 10);
    else if (strcmp(name, "prorata.io/sim-gpu-utilization") == 0)
        life->gpu_utilization = fmin(100, fmax(0, strtod(value, &end)));
}

enum {
    USED_PERCENT = 60, // of the CPU and the memory that it asks for
    LEAST_CPU_MILLI = 200,
};
static const int64_t LEAST_MEMORY_BYTES = INT64_C(256) << 20;

static void read_compute(const json_t *compute, struct life *life)
{
    double cores = json_number_value(json_object_get(compute, "cpuCoreRequest"));
    const char *memory = json_string_value(json_object_get(compute, "cpuMemoryRequest"));
    int64_t bytes = 0;
    if (memory && quantity_parse_memory(memory, &bytes, NULL) < 0)
        bytes = 0;
    life->cpu_milli = cores > 0 && cores < 1e6 ? (int64_t)(cores * 1000) * USED_PERCENT / 100 : LEAST_CPU_MILLI;
    life->memory_bytes = bytes > 0 ? bytes / 100 * USED_PERCENT : LEAST_MEMORY_BYTES;
}

double life_gpu_memory_percent(const struct life *life)
{
    return 20 + life->gpu_utilization * 0.6;
}

void life_read(const char *spec_json, struct life *out_life)
{
    *out_life = (struct life){.duration_ms = -1, .gpu_utilization = 80};
    json_t *spec = spec_json ? json_loads(spec_json, 0, NULL) : NULL;
    read_compute(json_object_get(spec, "compute"), out_life);
    json_t *annotation;
    size_t i;
    json_array_foreach(json_object_get(spec, "annotations"), i, annotation) {
        const char *name = json_string_value(json_object_get(annotation, "name"));
        const char *value = json_string_value(json_object_get(annotation, "value"));
        if (name && value && !json_is_true(json_object_get(annotation, "exclude")))
            read_annotation(name, value, out_life);
    }
    json_decref(spec);
}
