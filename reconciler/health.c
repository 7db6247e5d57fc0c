// What is not well, for /readyz and for people.
#include "base/buffer.h"
#include "base/timestamp.h"
#include "journal/journal.h"
#include "reconciler/state.h"

#include <stdatomic.h>
#include <string.h>

static void read_storage(const struct backend *backend, struct reconciler_health *health)
{
    struct backend_storage storage;
    struct arena arena;
    if (!backend->ops->read_storage)
        return;
    arena_init(&arena);
    backend->ops->read_storage(backend->self, &arena, &storage);
    for (size_t i = 0; i < storage.project_count; i++) {
        health->log_bytes += storage.projects[i].log_bytes;
        health->home_bytes += storage.projects[i].home_bytes;
    }
    health->image_bytes = storage.image_bytes;
    arena_done(&arena);
}

static void read_journal(struct journal *journal, struct reconciler_health *health)
{
    struct journal_stats stats;
    if (!journal)
        return;
    journal_get_stats(journal, &stats);
    health->has_journal = true;
    health->journal_is_stopped = stats.is_stopped;
    health->journal_bytes = stats.kept_bytes;
    memcpy(health->journal_cause, stats.cause, sizeof(health->journal_cause));
}

bool reconciler_is_ready(const struct reconciler *reconciler)
{
    return atomic_load(&reconciler->is_ready);
}

bool reconciler_is_failing(const struct reconciler *reconciler)
{
    return atomic_load(&reconciler->is_failing);
}

int64_t reconciler_moved_us(const struct reconciler *reconciler)
{
    return atomic_load(&reconciler->moved_us);
}

void reconciler_read_pace(const struct reconciler *reconciler, struct reconciler_pace *out_pace)
{
    *out_pace = (struct reconciler_pace){
        .decided_ms = atomic_load(&reconciler->counters.decided_ms),
        .planning_ms = atomic_load(&reconciler->counters.planning_ms),
    };
}

void reconciler_read_health(struct reconciler *reconciler, struct reconciler_health *out_health)
{
    const struct backend *backend = reconciler->backend;
    struct reconciler_stats stats;
    reconciler_get_stats(reconciler, &stats);
    *out_health = (struct reconciler_health){
        .backend = backend->ops->name,
        .is_failing = reconciler_is_failing(reconciler),
        .plan_is_refused = stats.plan_is_refused,
        .is_over_bound = atomic_load(&reconciler->retention.is_stuck),
        .refused_ms = stats.refused_ms,
        .cycles = stats.cycles,
        .last_cycle_us = stats.last_cycle_us,
        .stray_count = devices_count_strays(reconciler),
        .database_bytes = atomic_load(&reconciler->retention.used_bytes),
        .database_free_bytes = atomic_load(&reconciler->retention.free_bytes),
    };
    char *problem = out_health->backend_problem;
    if (backend->ops->find_problem &&
        !backend->ops->find_problem(backend->self, problem, sizeof(out_health->backend_problem)))
        problem[0] = '\0';
    read_storage(backend, out_health);
    read_journal(reconciler->options.journal, out_health);
}

void reconciler_write_health(struct reconciler *reconciler, struct buffer *out)
{
    struct reconciler_health health;
    reconciler_read_health(reconciler, &health);
    if (health.plan_is_refused) {
        char since[TIMESTAMP_SIZE];
        timestamp_format(health.refused_ms, since);
        buffer_printf(out, "red: plans are refused since %s, the last good state stands; the log says why\n", since);
    }
    if (health.backend_problem[0])
        buffer_printf(out, "warning: %s\n", health.backend_problem);
    if (health.stray_count)
        buffer_printf(out, "warning: pods=%zu run that no workload asks for: prorata pods list\n", health.stray_count);
    if (health.is_over_bound)
        buffer_text(out, "warning: the database is over its bound (database-bytes), and nothing is left that may go\n");
    if (health.journal_is_stopped)
        buffer_printf(out, "warning: the journal of decisions is not written: %s\n", health.journal_cause);
}
