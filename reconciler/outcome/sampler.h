// A pass over what there is, for its time series.
#pragma once
#include "db/reconcile_write.h"
#include "db/samples.h"
#include "reconciler/outcome/gauges.h"
#include "reconciler/world/cache.h"

// What is to be written in the present turn; the arena's.
struct figure_changes {
    struct queue_figures *queues;
    size_t queue_count;
    struct sample {
        struct series series;
        double value;
        bool is_sparse; // to be written only where the series stands at another value
    } * samples;
    size_t sample_count, sample_capacity;
    bool is_overtime_due; // the averages that projects and departments show are to be renewed
};

struct figures; // figures.h
struct past_usage;

struct sampler {
    struct gauges *gauges;
    struct arena *arena;
    struct figure_changes *changes;
    struct figures *figures; // this and what follows is for figures.c
    struct past_usage *usage;
    int64_t now_ms;
};

// A value of a series; NAN: nobody measures it. Written where it has changed.
void sampler_set(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id, const char *metric,
                 double value);
// The same, but a value that says nothing is written only where the series stands at another one.
void sampler_set_sparse(struct sampler *sampler, const char *scope, int64_t id, int64_t pool_id, const char *metric,
                        double value, bool says_nothing);
// CPU and memory that something uses. NULL, or not measured: a series of an earlier server ends, as unknown while it
// runs, else at 0.
void sampler_set_load(struct sampler *sampler, const char *scope, int64_t id, const struct load *load, bool runs);
// Series that were not set in this pass end.
void sampler_end(struct sampler *sampler);

// work.c: a workload and its pods; what inferences do; what each kind of work holds.
void work_sample(struct sampler *sampler, const struct world *world, const struct cache_workload *workload);
void work_sample_categories(struct sampler *sampler, const struct cache *cache);

// waiting.c: how many workloads wait, of the cluster, node pools, departments and projects.
void waiting_sample(struct sampler *sampler, const struct cache *cache);
