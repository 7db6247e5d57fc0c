#include "scheduler/ask/queue_question.h"

#include "base/arena.h"
#include "base/error.h"
#include "scheduler/order/queue_log.h"
#include "scheduler/scheduler.h"

int scheduler_queue_order(const struct snapshot *snapshot, uint32_t node_pool, struct arena *arena,
                          struct queue_listing **out_listing, struct error *err)
{
    if (node_pool >= snapshot->node_pool_count)
        return error_set(err, ERROR_NOT_FOUND, "no such node pool");
    struct arena scratch;
    struct cycle *cycle;
    arena_init(&scratch);
    int rc = cycle_open(snapshot, &scratch, &cycle, err);
    if (rc == 0) {
        struct queue_log log = {.scratch = &scratch, .arena = arena, .node_pool = node_pool};
        cycle->queue_log = &log;
        scheduler_run_to_last_try(cycle, node_pool);
        *out_listing = queue_log_finish(&log);
    }
    arena_done(&scratch);
    return rc;
}
