// The numbers of a cycle: what each queue has, wants and deserves (in its row), and the time series behind the charts.
// Both are written only where they changed; what was written last is kept here.
#pragma once
#include "db/reconcile_write.h"
#include "db/samples.h"
#include "reconciler/turn/turn.h"
#include "reconciler/world/past_usage.h"

struct gauge; // a time series' latest value

struct figures {
    struct id_map queues;  // queue id -> struct queue_figures
    struct gauge **gauges; // hash slots
    size_t gauge_capacity;
    size_t gauge_count;
    int64_t generation;
    int64_t sampled_ms;
    int64_t overtime_ms;
};

// What is to be written in the present turn; the arena's.
struct figure_changes {
    struct queue_figures *queues;
    size_t queue_count;
    struct sample {
        struct series series;
        double value;
    } * samples;
    size_t sample_count, sample_capacity;
    bool is_overtime_due; // the averages that projects and departments show are to be renewed
};

void figures_init(struct figures *figures);
// Forgets what was written: all is written again.
void figures_clear(struct figures *figures);
void figures_done(struct figures *figures);

void figures_of_queues(struct figures *figures, const struct turn *turn, const struct plan *plan,
                       struct figure_changes *changes);
// Time series as the cache stands, if the interval since the last time is over; else notes when it will be. What is
// held then is what usage counts from then on.
void figures_of_samples(struct figures *figures, struct past_usage *usage, struct turn *turn,
                        struct figure_changes *changes);
