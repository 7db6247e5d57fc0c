// The numbers of a cycle: what each queue has, wants and deserves (in its row), and the time series behind the charts.
// Both are written only where they changed; what was written last is kept here.
#pragma once
#include "db/reconcile_write.h"
#include "reconciler/outcome/sampler.h"
#include "reconciler/turn/turn.h"
#include "reconciler/world/past_usage.h"

struct figures {
    struct id_map queues; // queue id -> struct queue_figures
    struct gauges gauges;
    int64_t sampled_ms;
    int64_t overtime_ms;
    bool is_measuring;        // some pod was measured: what nobody holds is known to be unused, then
    bool is_measuring_memory; // the same of devices' memory
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
