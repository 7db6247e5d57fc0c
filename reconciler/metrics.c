#include "base/buffer.h"
#include "base/prometheus.h"
#include "base/timestamp.h"
#include "journal/journal.h"
#include "reconciler/allocation_metrics.h"
#include "reconciler/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void reconciler_get_stats(struct reconciler *reconciler, struct reconciler_stats *out_stats)
{
    const struct counters *counters = &reconciler->counters;
    *out_stats = (struct reconciler_stats){
        .cycles = atomic_load(&counters->cycles),
        .turns = atomic_load(&counters->turns),
        .failures = atomic_load(&counters->failures),
        .refused_plans = atomic_load(&counters->refused_plans),
        .last_plan_us = atomic_load(&counters->last_plan_us),
        .last_cycle_us = atomic_load(&counters->last_cycle_us),
        .workload_count = (size_t)atomic_load(&counters->workload_count),
        .pod_count = (size_t)atomic_load(&counters->pod_count),
    };
    pthread_mutex_lock(&reconciler->lock);
    out_stats->plan_is_refused = reconciler->plan_is_refused;
    out_stats->refused_ms = reconciler->refused_ms;
    memcpy(out_stats->refused_cause, reconciler->refused_cause, sizeof(out_stats->refused_cause));
    pthread_mutex_unlock(&reconciler->lock);
    for (int i = 0; i < VERBS; i++)
        out_stats->decisions[i] = atomic_load(&counters->decisions[i]);
}

static void write_one(struct buffer *out, const char *name, const char *type, const char *help, int64_t value)
{
    prometheus_head(out, name, type, help);
    buffer_printf(out, "%s %" PRId64 "\n", name, value);
}

static void write_seconds(struct buffer *out, const char *name, const char *type, const char *help, int64_t us)
{
    prometheus_head(out, name, type, help);
    buffer_printf(out, "%s %.6f\n", name, (double)us / 1e6);
}

static void write_by_action(struct buffer *out, const char *name, const char *help,
                            const _Atomic int64_t values[ACTIONS])
{
    prometheus_head(out, name, "counter", help);
    for (int i = 0; i < ACTIONS; i++)
        buffer_printf(out, "%s{action=\"%s\"} %" PRId64 "\n", name, scheduler_action_name((enum scheduler_action)i),
                      atomic_load(&values[i]));
}

static void write_counters(struct buffer *out, const struct counters *counters)
{
    write_one(out, "prorata_scheduler_cycles_total", "counter", "Cycles that planned.", atomic_load(&counters->cycles));
    write_one(out, "prorata_reconciler_turns_total", "counter", "Turns that changed something.",
              atomic_load(&counters->turns));
    write_one(out, "prorata_reconciler_failures_total", "counter", "Turns that failed and were tried again.",
              atomic_load(&counters->failures));
    write_one(out, "prorata_scheduler_refused_plans_total", "counter",
              "Plans that broke an invariant and were not carried out.", atomic_load(&counters->refused_plans));
    write_seconds(out, "prorata_scheduler_plan_seconds", "gauge", "How long the last plan took.",
                  atomic_load(&counters->last_plan_us));
    write_seconds(out, "prorata_scheduler_plan_seconds_total", "counter", "Time spent on planning.",
                  atomic_load(&counters->plan_us_total));
    write_seconds(out, "prorata_reconciler_turn_seconds", "gauge", "How long the last turn took, commit included.",
                  atomic_load(&counters->last_cycle_us));
    prometheus_head(out, "prorata_scheduler_decisions_total", "counter", "Decisions by what they say.");
    for (int i = 0; i < VERBS; i++)
        buffer_printf(out, "prorata_scheduler_decisions_total{verb=\"%s\"} %" PRId64 "\n",
                      plan_verb_name((enum plan_verb)i), atomic_load(&counters->decisions[i]));
    write_by_action(out, "prorata_scheduler_evicted_pods_total", "Pods evicted by an action.", counters->evictions);
    write_by_action(out, "prorata_scheduler_workloads_tried_total", "Pending workloads an action looked at.",
                    counters->workloads_tried);
    write_by_action(out, "prorata_scheduler_workloads_placed_total", "Workloads an action found a place for.",
                    counters->workloads_placed);
    write_by_action(out, "prorata_scheduler_scenarios_simulated_total", "Sets of victims that were simulated.",
                    counters->scenarios_simulated);
    write_by_action(out, "prorata_scheduler_scenarios_filtered_total", "Sets of victims dropped without simulating.",
                    counters->scenarios_filtered);
    write_by_action(out, "prorata_scheduler_searches_cut_total", "Searches that their budget ended.",
                    counters->searches_cut);
    write_one(out, "prorata_scheduler_search_turns", "gauge",
              "Turns of searches for victims that the last cycle did not come to the end of.",
              atomic_load(&counters->search_turns));
}

static void write_pending(struct buffer *out, const struct snapshot *snapshot, const struct plan *plan)
{
    int64_t pending = 0;
    for (size_t i = 0; i < snapshot->workload_count; i++)
        pending += !snapshot->workloads[i].deleting && (plan->workloads[i].status == SNAPSHOT_POD_PENDING ||
                                                        plan->workloads[i].status == SNAPSHOT_POD_PIPELINED);
    write_one(out, "prorata_pending_workloads", "gauge", "Workloads that wait for resources.", pending);
    write_one(out, "prorata_active_workloads", "gauge", "Workloads the scheduler looks at.",
              (int64_t)snapshot->workload_count);
}

static void write_journal(struct buffer *out, struct journal *journal)
{
    struct journal_stats stats;
    journal_get_stats(journal, &stats);
    write_one(out, "prorata_journal_writing", "gauge", "1 while the disk takes the journal.", !stats.is_stopped);
    write_one(out, "prorata_journal_cycles_total", "counter", "Cycles written to the journal.", stats.cycles);
    write_one(out, "prorata_journal_missed_cycles_total", "counter",
              "Cycles that are not in the journal: the disk refused, or it could not follow.", stats.missed_cycles);
    write_one(out, "prorata_journal_written_bytes_total", "counter", "Bytes written to the journal.",
              stats.written_bytes);
    write_one(out, "prorata_journal_bytes", "gauge", "Size of the journal.", stats.kept_bytes);
    write_one(out, "prorata_journal_segments", "gauge", "Files of the journal.", stats.segments);
    write_seconds(out, "prorata_journal_seconds_total", "counter", "Time spent on writing the journal.", stats.busy_us);
}

enum {
    STORES_MAX = 50 // projects that are named; the others are one
};

static int compare_stores(const void *a, const void *b)
{
    const struct backend_store *x = a, *y = b;
    int64_t x_bytes = x->log_bytes + x->home_bytes, y_bytes = y->log_bytes + y->home_bytes;
    int by_size = (y_bytes > x_bytes) - (y_bytes < x_bytes);
    return by_size ? by_size : strcmp(x->project_name, y->project_name);
}

// Of each project, the largest first, so that the number of series is bounded.
static void write_stores(struct buffer *out, const struct backend_storage *storage, const char *name, const char *help,
                         size_t offset)
{
    int64_t others = 0;
    prometheus_head(out, name, "gauge", help);
    for (size_t i = 0; i < storage->project_count; i++) {
        const struct backend_store *store = &storage->projects[i];
        int64_t bytes = *(const int64_t *)((const char *)store + offset);
        if (i >= STORES_MAX || !store->project_name[0]) {
            others += bytes;
            continue;
        }
        buffer_printf(out, "%s{", name);
        prometheus_label(out, "project", store->project_name);
        buffer_printf(out, "} %" PRId64 "\n", bytes);
    }
    if (others)
        buffer_printf(out, "%s{project=\"(others)\"} %" PRId64 "\n", name, others);
}

static void write_storage(struct buffer *out, const struct backend *backend)
{
    struct backend_storage storage;
    struct arena arena;
    int64_t log_bytes = 0, home_bytes = 0;
    if (!backend->ops->read_storage)
        return;
    arena_init(&arena);
    backend->ops->read_storage(backend->self, &arena, &storage);
    for (size_t i = 0; i < storage.project_count; i++) {
        log_bytes += storage.projects[i].log_bytes;
        home_bytes += storage.projects[i].home_bytes;
    }
    if (storage.project_count)
        qsort(storage.projects, storage.project_count, sizeof(*storage.projects), compare_stores);
    write_one(out, "prorata_log_bytes", "gauge", "Disk space that logs of pods take.", log_bytes);
    write_one(out, "prorata_log_removed_bytes_total", "counter", "Bytes of logs that were removed for a bound.",
              storage.log_bytes_removed);
    write_stores(out, &storage, "prorata_project_log_bytes", "Disk space that logs of a project's pods take.",
                 offsetof(struct backend_store, log_bytes));
    write_one(out, "prorata_home_bytes", "gauge", "Disk space that homes of workloads take, as last measured.",
              home_bytes);
    write_stores(out, &storage, "prorata_project_home_bytes", "Disk space that homes of a project's workloads take.",
                 offsetof(struct backend_store, home_bytes));
    write_one(out, "prorata_image_bytes", "gauge", "Disk space that image files take.", storage.image_bytes);
    arena_done(&arena);
}

void reconciler_write_metrics(struct reconciler *reconciler, struct buffer *out)
{
    struct reconciler_stats stats;
    reconciler_get_stats(reconciler, &stats);
    write_counters(out, &reconciler->counters);
    write_one(out, "prorata_scheduler_plan_refused", "gauge",
              "1 while the latest plan breaks an invariant: the last good state stands.", stats.plan_is_refused);
    write_one(out, "prorata_stray_pods", "gauge", "Running pods without a workload.",
              (int64_t)devices_count_strays(reconciler));
    write_storage(out, reconciler->backend);
    reconciler_write_budgets(reconciler, out);
    if (reconciler->backend->ops->write_metrics)
        reconciler->backend->ops->write_metrics(reconciler->backend->self, out);
    retention_write_metrics(&reconciler->retention, &reconciler->options.retention, out);
    if (reconciler->options.journal)
        write_journal(out, reconciler->options.journal);
    const struct reconciler_view *view = reconciler_acquire_view(reconciler);
    if (view) {
        write_pending(out, view->snapshot, view->plan);
        allocation_metrics_write(view, out);
    }
    reconciler_release_view(reconciler, view);
}
