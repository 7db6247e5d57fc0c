#include "scheduler/actions/allocate.h"

#include "base/arena.h"
#include "scheduler/order/queue_log.h"
#include "scheduler/order/queue_walk.h"
#include "scheduler/placing/attempt.h"
#include "scheduler/placing/explain.h"
#include "scheduler/placing/reservation.h"
#include "scheduler/state/unit.h"

static bool try_workload(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    struct node_set set = pool_nodes(pool);
    struct attempt attempt = {.wants_nodes = !cycle->is_silent};
    cycle->counts[ACTION_ALLOCATE].workloads_tried++;
    reservation_hold(cycle, pool, workload);
    bool fits = attempt_workload(cycle, pool, workload, &set, false, &attempt);
    if (fits)
        attempt_commit(cycle, pool, workload);
    else
        explain_refused(cycle, pool, workload, &attempt);
    if (!fits)
        reservation_explain(cycle, pool, workload);
    reservation_release(cycle, pool);
    return fits;
}

void allocate_run(struct cycle *cycle, struct pool *pool)
{
    struct workload **candidates = arena_array(cycle->scratch, pool->waiting_count, sizeof(*candidates));
    size_t count = unit_list_candidates(pool, candidates);
    if (count == 0)
        return;
    reservation_make(cycle, pool, candidates, count);
    struct walk walk;
    walk_open(&walk, cycle, pool, WALK_SERVE, candidates, count, cycle->snapshot->settings.depth[ACTION_ALLOCATE],
              cycle->scratch);
    for (struct workload *workload = walk_next(&walk); workload; workload = walk_next(&walk)) {
        if (cycle->queue_log)
            queue_log_note(cycle->queue_log, cycle, pool, &walk, workload);
        if (try_workload(cycle, pool, workload) && workload->counts.pending > 0)
            walk_push_back(&walk, workload);
    }
}
