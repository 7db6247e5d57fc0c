#include "scheduler/state/journal.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/devices.h"

static void add(struct cycle *cycle, const struct plan_decision *decision)
{
    struct journal *journal = cycle->journal;
    if (journal->count == journal->capacity)
        journal->decisions = arena_grow(cycle->arena, journal->decisions, &journal->capacity, journal->count + 1,
                                        sizeof(*journal->decisions));
    journal->decisions[journal->count++] = *decision;
}

void journal_add_eviction(struct cycle *cycle, struct plan_decision *decision, const struct pod_state *before)
{
    const struct pod *pod = &cycle->pods[decision->pod];
    decision->devices = devices_give_up(cycle, pod, before);
    if (pod_status_is_allocated(before->status) && pod_status_is_allocated(pod->spec->status) &&
        pod->spec->started_ms != SNAPSHOT_TIME_NONE && pod->spec->started_ms < cycle->snapshot->now_ms)
        decision->lost_ms = cycle->snapshot->now_ms - pod->spec->started_ms;
    add(cycle, decision);
}

void journal_add_placement(struct cycle *cycle, struct plan_decision *decision)
{
    decision->devices = devices_assign(cycle, &cycle->pods[decision->pod]);
    add(cycle, decision);
}
