#include "daemon/health.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "daemon/gpu_metrics.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>

static int tell_start(const struct db_opening *opening, struct error *err)
{
    int migration = atomic_load(&opening->migration), newest = atomic_load(&opening->newest);
    switch (atomic_load(&opening->step)) {
    case DB_STEP_COPYING:
        return error_set(err, ERROR_UNAVAILABLE, "migrating: the database is copied before migration %d of %d",
                         migration, newest);
    case DB_STEP_MIGRATING:
        return error_set(err, ERROR_UNAVAILABLE, "migrating: migration %d of %d runs", migration, newest);
    case DB_STEP_REBUILDING:
        return error_set(err, ERROR_UNAVAILABLE, "migrating: rewriting the database, once");
    case DB_STEP_OPEN:
        return error_set(err, ERROR_UNAVAILABLE, "the first cycle has not run yet");
    default:
        return error_set(err, ERROR_UNAVAILABLE, "the database is opened");
    }
}

int health_check(void *context, struct error *err)
{
    const struct health *health = context;
    struct db_stats stats;
    if (!atomic_load(&health->is_open))
        return tell_start(&health->opening, err);
    db_get_stats(health->db, &stats);
    const char *reason = stats.is_lost      ? "the database's file was removed or replaced: the server ends"
                         : stats.is_damaged ? "the database is damaged: prorata verify says where"
                         : !stats.writable && stats.is_full ? "the disk that holds the database is full"
                         : !stats.writable                  ? "the disk that holds the database refuses writes"
                         : stats.reads_fail ? "the database cannot be read: its disk fails, or it is damaged"
                         : reconciler_is_failing(health->reconciler) ? "cycles fail: the log has the cause"
                         : !reconciler_is_ready(health->reconciler)  ? "the first cycle has not run yet"
                                                                     : NULL;
    return reason ? error_set(err, ERROR_UNAVAILABLE, "%s", reason) : 0;
}

bool health_is_migrating(const struct health *health)
{
    int step = atomic_load(&health->opening.step);
    return step == DB_STEP_COPYING || step == DB_STEP_MIGRATING || step == DB_STEP_REBUILDING;
}

void health_write_metrics(void *context, struct buffer *out)
{
    const struct health *health = context;
    struct db_stats stats;
    db_get_stats(health->db, &stats);
    buffer_printf(out,
                  "# HELP prorata_database_commits_total Transactions that are on disk.\n"
                  "# TYPE prorata_database_commits_total counter\n"
                  "prorata_database_commits_total %" PRId64 "\n"
                  "# HELP prorata_database_changes_total Write functions that those transactions carried.\n"
                  "# TYPE prorata_database_changes_total counter\n"
                  "prorata_database_changes_total %" PRId64 "\n"
                  "# HELP prorata_database_failed_commits_total Transactions that the disk refused.\n"
                  "# TYPE prorata_database_failed_commits_total counter\n"
                  "prorata_database_failed_commits_total %" PRId64 "\n"
                  "# HELP prorata_database_writable 1 while the disk takes writes.\n"
                  "# TYPE prorata_database_writable gauge\n"
                  "prorata_database_writable %d\n",
                  stats.commits, stats.changes, stats.failed_commits, stats.writable);
    buffer_printf(out, "# HELP prorata_database_statements_total SQL statements begun, by what for.\n"
                       "# TYPE prorata_database_statements_total counter\n");
    for (enum db_use use = 0; use < DB_USE_COUNT; use++)
        buffer_printf(out, "prorata_database_statements_total{for=\"%s\"} %" PRId64 "\n", db_use_text(use),
                      stats.statements[use]);
    const struct reconciler_view *view = reconciler_acquire_view(health->reconciler);
    gpu_metrics_write(health->db, reconciler_view_cluster_uuid(view), out);
    reconciler_release_view(health->reconciler, view);
    reconciler_write_metrics(health->reconciler, out);
}

bool health_has_begun(const struct health *health)
{
    return atomic_load(&health->is_open) &&
           (reconciler_is_ready(health->reconciler) || reconciler_is_failing(health->reconciler));
}

bool health_goes_on(const struct health *health, int64_t limit_us)
{
    struct db_stats stats;
    int64_t now_us = timestamp_monotonic_us();
    db_get_stats(health->db, &stats);
    return stats.is_lost || (now_us - reconciler_moved_us(health->reconciler) < limit_us &&
                             (stats.began_us == 0 || now_us - stats.began_us < limit_us));
}
