#include "reconciler/statistics.h"

#include "base/error.h"
#include "base/log.h"
#include "db/db.h"
#include "db/statistics.h"

enum {
    CHECK_MS = 60000,
    DAY_MS = 24 * 3600 * 1000,
    FEW_WORKLOADS = 1000
};

static int renew(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_renew_statistics_in(conn, err);
}

// 1: it is time; *out_workloads: how many there are.
static int is_due(const struct statistics *statistics, struct db *db, int64_t now_ms, int64_t *out_workloads,
                  struct error *err)
{
    struct db_conn *conn = db_acquire_for_reconciler(db);
    int rc = db_count_workloads_ever(conn, out_workloads, err);
    db_give_back(db, conn);
    bool is_old = now_ms - statistics->renewed_ms >= DAY_MS || now_ms < statistics->renewed_ms;
    return rc < 0 ? -1 : *out_workloads >= FEW_WORKLOADS && (is_old || *out_workloads >= 2 * statistics->workloads);
}

void statistics_step(struct statistics *statistics, struct db *db, int64_t now_ms)
{
    struct error err = {0};
    int64_t workloads;
    if (now_ms < statistics->due_ms && statistics->due_ms <= now_ms + CHECK_MS)
        return;
    statistics->due_ms = now_ms + CHECK_MS;
    int rc = is_due(statistics, db, now_ms, &workloads, &err);
    if (rc > 0)
        rc = db_write(db, renew, NULL, &err) < 0 ? -1 : 1;
    if (rc < 0)
        log_write(LOG_WARN, "reconciler", "the planner's statistics stay as they are: %s", err.message);
    if (rc > 0) {
        statistics->workloads = workloads;
        statistics->renewed_ms = now_ms;
    }
}
