#include "scheduler/ask/share_question.h"

#include "base/arena.h"
#include "base/error.h"
#include "scheduler/scheduler.h"
#include "scheduler/state/share_log.h"

int scheduler_explain_fairshare(const struct snapshot *snapshot, uint32_t node_pool, enum resource resource,
                                struct arena *arena, struct share_tree **out_tree, struct error *err)
{
    if (node_pool >= snapshot->node_pool_count)
        return error_set(err, ERROR_NOT_FOUND, "no such node pool");
    struct arena scratch;
    struct cycle *cycle;
    struct share_log log = share_log_make(arena, node_pool, resource);
    arena_init(&scratch);
    int rc = cycle_open(snapshot, &scratch, &cycle, err);
    if (rc == 0) {
        cycle->share_log = &log;
        scheduler_run(cycle);
        *out_tree = log.tree;
    }
    arena_done(&scratch);
    return rc;
}
