#include "reconciler/outcome/sampler.h"

#include <math.h>
#include <string.h>

static void add_sample(struct sampler *sampler, const struct series *series, double value, bool is_sparse)
{
    struct figure_changes *changes = sampler->changes;
    changes->samples = arena_grow(sampler->arena, changes->samples, &changes->sample_capacity,
                                  changes->sample_count + 1, sizeof(*changes->samples));
    struct series copy = *series;
    copy.metric = arena_strdup(sampler->arena, series->metric);
    changes->samples[changes->sample_count++] = (struct sample){copy, value, is_sparse};
}

void sampler_set(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id, const char *metric,
                 double value)
{
    sampler_set_sparse(sampler, scope, id, pool_id, metric, value, false);
}

void sampler_set_sparse(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id, const char *metric,
                        double value, bool says_nothing)
{
    struct series series = {scope, id, pool_id, metric};
    if (gauges_set(sampler->gauges, &series, value))
        add_sample(sampler, &series, value, says_nothing);
}

// What is not there any more is 0 from now on; how much of nothing is used, and what nobody measures, is unknown.
static void add_end(void *sampler, const struct series *series)
{
    static const char *const MEASURED[] = {"GPU_UTILIZATION", "GPU_MEMORY_U"};
    bool is_measured = false;
    for (size_t i = 0; i < sizeof(MEASURED) / sizeof(MEASURED[0]); i++)
        is_measured |= strncmp(series->metric, MEASURED[i], strlen(MEASURED[i])) == 0;
    add_sample(sampler, series, is_measured ? NAN : 0, false);
}

void sampler_end(struct sampler *sampler)
{
    gauges_forget_unset(sampler->gauges, add_end, sampler);
}

// What nobody measures is not 0.
void sampler_set_load(struct sampler *sampler, const char *scope, int64_t id, const struct load *load, bool runs)
{
    bool is_known = load && load->cpu_milli >= 0;
    double nothing = runs ? NAN : 0;
    sampler_set_sparse(sampler, scope, id, 0, "CPU_USAGE_CORES", is_known ? (double)load->cpu_milli / 1000 : nothing,
                       !is_known);
    sampler_set_sparse(sampler, scope, id, 0, "CPU_MEMORY_USAGE_BYTES", is_known ? (double)load->memory_bytes : nothing,
                       !is_known);
}
