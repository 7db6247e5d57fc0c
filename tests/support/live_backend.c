#include "tests/support/live.h"

#include <stdio.h>
#include <string.h>

// Between the reconciler and the simulated backend: orders may be lost on their way, as in a crash after the commit.

static struct live *live_of(void *self)
{
    return self;
}

static int pass_start(void *self, backend_wake_fn wake, void *context, struct error *err)
{
    return live_of(self)->simulated.ops->start(live_of(self)->simulated.self, wake, context, err);
}

static int pass_adopt(void *self, const struct backend_rows *rows, struct error *err)
{
    return live_of(self)->simulated.ops->adopt(live_of(self)->simulated.self, rows, err);
}

static void pass_apply(void *self, const struct backend_order *orders, size_t count)
{
    struct live *live = self;
    if (++live->applies == live->lose_at)
        live->crashes = true;
    else
        live->simulated.ops->apply(live->simulated.self, orders, count);
}

static void pass_nodes_changed(void *self, const struct backend_node *nodes, size_t count)
{
    live_of(self)->simulated.ops->nodes_changed(live_of(self)->simulated.self, nodes, count);
}

static size_t pass_take_facts(void *self, struct arena *arena, struct backend_fact **out_facts)
{
    struct live *live = live_of(self);
    struct backend_fact *facts;
    size_t count = live->simulated.ops->take_facts(live->simulated.self, arena, &facts);
    if (!live->used_pod) {
        *out_facts = facts;
        return count;
    }
    *out_facts = arena_array(arena, count + 1, sizeof(*facts));
    if (count)
        memcpy(*out_facts, facts, count * sizeof(*facts));
    struct backend_fact *use = &(*out_facts)[count];
    *use = (struct backend_fact){
        .kind = BACKEND_POD_USAGE, .time_ms = live->now_ms, .gpu_utilization = live->gpu_utilization};
    snprintf(use->pod_uuid, sizeof(use->pod_uuid), "%s", live->used_pod);
    live->used_pod = NULL;
    return count + 1;
}

static int pass_logs(void *self, const struct backend_log_request *request, struct buffer *out, int64_t *out_position,
                     bool *out_ended, struct error *err)
{
    return live_of(self)->simulated.ops->logs(live_of(self)->simulated.self, request, out, out_position, out_ended,
                                              err);
}

static void pass_stop(void *self)
{
    live_of(self)->simulated.ops->stop(live_of(self)->simulated.self);
}

static void pass_destroy(void *self)
{
    live_of(self)->simulated.ops->destroy(live_of(self)->simulated.self);
}

const struct backend_ops LIVE_BACKEND = {
    .name = "simulated",
    .start = pass_start,
    .adopt = pass_adopt,
    .apply = pass_apply,
    .nodes_changed = pass_nodes_changed,
    .take_facts = pass_take_facts,
    .logs = pass_logs,
    .stop = pass_stop,
    .destroy = pass_destroy,
};
