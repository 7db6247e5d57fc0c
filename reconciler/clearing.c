// What the backend keeps of pods and workloads that are over is compared with rows after a start.
#include "base/error.h"
#include "base/log.h"
#include "db/db.h"
#include "db/reconcile_read.h"
#include "reconciler/state.h"

static const char *find_project(const char *workload_uuid, struct arena *arena, void *context)
{
    struct error err = {0};
    const char *project;
    if (db_find_workload_project(context, workload_uuid, arena, &project, &err) == 0)
        return project;
    log_write(LOG_WARN, "reconciler", "what is kept for workload=%s stays: %s", workload_uuid, err.message);
    return "";
}

static bool find_owner(const char *pod_uuid, struct arena *arena, struct backend_owner *out_owner, void *context)
{
    struct error err = {0};
    *out_owner = (struct backend_owner){"", ""};
    int rc = db_find_pod_owner(context, pod_uuid, arena, &out_owner->workload_uuid, &out_owner->project_name, &err);
    if (rc < 0)
        log_write(LOG_WARN, "reconciler", "what is kept of pod=%s stays: %s", pod_uuid, err.message);
    return rc != 0;
}

void clearing_begin(struct reconciler *reconciler, const struct backend_fact *facts, size_t count)
{
    for (size_t i = 0; i < count && !reconciler->is_clearing; i++)
        if (facts[i].kind == BACKEND_LEFTOVERS) {
            reconciler->is_clearing = true;
            reconciler_wake(reconciler);
        }
}

void clearing_go_on(struct reconciler *reconciler, struct db_conn *conn)
{
    struct backend_known known = {.find_project = find_project, .find_owner = find_owner, .context = conn};
    reconciler->is_clearing = reconciler->backend->ops->clear_unknown(reconciler->backend->self, &known);
}
