// One statement, by an example: w may take v's place or move v elsewhere; the first try fails.
//
//      log                     n0 [v v]   n1 [x .]      w waits for 2 GPUs, v could do with 1 on n1
//   0  EVICT v0                n0 [r r]   n1 [x .]      r: releasing; the queue of v holds 2 GPUs less
//   1  PLACE w0 (promise)      n0 [w w]   n1 [x .]      w waits for what v still uses
//   2  PLACE v0 (promise)      n0 [w w]   n1 [x v]      v holds its old place as releasing until it is gone
//      roll back to 1          n0 [r r]   n1 [x .]      undone from the end: each record has the state before
//      commit                  EVICT v0 becomes a decision, with its reason and receipt; the log is empty
//
// A pod that was evicted here and gets just the place it had is as it was: the eviction is cancelled by a RETURN, and
// rolling that back makes it an eviction again. Every change goes through set_state, which takes away what the old
// state meant to node, workload and queue and adds what the new one means: whatever is asked in between sees the truth.
#include "scheduler/state/statement.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/free_gpu_index.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/node_scores.h"
#include "scheduler/state/people.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/receipts.h"

#include <assert.h>
#include <string.h>

static enum standing standing_of(enum snapshot_pod_status status)
{
    if (status == SNAPSHOT_POD_RELEASING)
        return STANDING_RELEASING;
    return status == SNAPSHOT_POD_PIPELINED ? STANDING_PROMISED : STANDING_STAYS;
}

static void count_pod(struct pod_counts *counts, const struct pod_state *state, int sign)
{
    enum snapshot_pod_status status = state->status;
    counts->used += (uint32_t)(pod_status_is_used(status) && !state->withdrawn ? sign : 0);
    counts->held += (uint32_t)(pod_status_is_held(status) ? sign : 0);
    counts->allocated += (uint32_t)(pod_status_is_allocated(status) ? sign : 0);
    counts->pending += (uint32_t)(status == SNAPSHOT_POD_PENDING ? sign : 0);
    counts->gated += (uint32_t)(status == SNAPSHOT_POD_GATED ? sign : 0);
    counts->returnable += (uint32_t)(state->evicted && status == SNAPSHOT_POD_RELEASING ? sign : 0);
    counts->succeeded += (uint32_t)(status == SNAPSHOT_POD_SUCCEEDED ? sign : 0);
}

// A workload holds something from its first such pod to its last.
static void count_workload(const struct workload *workload, const struct pod_state *state, int sign)
{
    if (!workload->person || !pod_status_is_held(state->status))
        return;
    if (workload->counts.held == (sign > 0 ? 1 : 0))
        workload->person->workload_count += (uint32_t)sign;
}

// Adds what a pod in this state means to its node, workload, queue and submitter, or takes it away.
static void account(struct cycle *cycle, struct pod *pod, const struct pod_state *state, int sign)
{
    struct workload *workload = &cycle->workloads[pod->workload];
    count_pod(&workload->counts, state, sign);
    count_pod(&workload->groups[pod->group].counts, state, sign);
    count_workload(workload, state, sign);
    if (place_is(state->held)) {
        (sign > 0 ? node_add : node_remove)(&cycle->nodes[state->held.node], pod, &state->held, STANDING_RELEASING);
        free_gpu_index_note(cycle, &cycle->nodes[state->held.node]);
        node_scores_note(cycle, &cycle->nodes[state->held.node]);
    }
    if (!place_is(state->place) || !pod_status_is_used(state->status))
        return;
    struct node *node = &cycle->nodes[state->place.node];
    (sign > 0 ? node_add : node_remove)(node, pod, &state->place, standing_of(state->status));
    free_gpu_index_note(cycle, node);
    node_scores_note(cycle, node);
    if (!pod_status_is_held(state->status))
        return;
    struct amounts amounts = request_amounts(&pod->request, node->gpu_memory_mib);
    queue_charge(cycle_queue(&cycle->pools[node->spec->node_pool], workload), amounts, workload->spec->preemptible,
                 sign);
    if (workload->person)
        workload->person->gpu_milli += amounts.of[RESOURCE_GPU] * sign;
}

static void set_state(struct cycle *cycle, struct pod *pod, struct pod_state state)
{
    account(cycle, pod, &pod->state, -1);
    pod->state = state;
    account(cycle, pod, &pod->state, 1);
    cycle->workloads[pod->workload].unit_is_known = false;
}

void statement_set_up(struct cycle *cycle, struct pod *pod, struct pod_state state)
{
    pod->state = state;
    account(cycle, pod, &pod->state, 1);
}

size_t statement_checkpoint(const struct cycle *cycle)
{
    return cycle->log->count;
}

static struct operation *record(struct cycle *cycle, enum operation_kind kind, const struct pod *pod)
{
    struct undo_log *log = cycle->log;
    if (log->count == log->capacity)
        log->operations =
            arena_grow(cycle->scratch, log->operations, &log->capacity, log->count + 1, sizeof(*log->operations));
    struct operation *operation = &log->operations[log->count++];
    *operation = (struct operation){.kind = kind, .pod = pod->index, .before = pod->state};
    return operation;
}

void statement_roll_back(struct cycle *cycle, size_t checkpoint)
{
    struct undo_log *log = cycle->log;
    assert(checkpoint <= log->count);
    while (log->count > checkpoint) {
        const struct operation *operation = &log->operations[--log->count];
        set_state(cycle, &cycle->pods[operation->pod], operation->before);
        if (operation->kind == OPERATION_RETURN)
            log->operations[operation->eviction].is_cancelled = false;
    }
}

static const struct place NOWHERE = {.node = SNAPSHOT_NONE};

void statement_evict(struct cycle *cycle, uint32_t index)
{
    struct pod *pod = &cycle->pods[index];
    assert(pod_status_is_held(pod->state.status) && !pod->state.evicted);
    record(cycle, OPERATION_EVICT, pod);
    struct pod_state state = pod->state;
    state.origin = state.place;
    state.origin_status = state.status;
    state.evicted = true;
    state.withdrawn = state.status == SNAPSHOT_POD_PIPELINED;
    state.status = SNAPSHOT_POD_RELEASING;
    if (state.withdrawn)
        state.place = NOWHERE;
    set_state(cycle, pod, state);
}

static bool shares_contain(const struct place *place, uint32_t device)
{
    for (uint32_t i = 0; i < place->shared_count; i++) {
        if (place->shared[i] == device)
            return true;
    }
    return false;
}

static bool is_same_place(const struct place *a, const struct place *b)
{
    if (a->node != b->node || a->shared_count != b->shared_count)
        return false;
    for (uint32_t i = 0; i < a->shared_count; i++) {
        if (!shares_contain(b, a->shared[i]))
            return false;
    }
    return true;
}

static void cancel_eviction(struct cycle *cycle, struct pod *pod)
{
    struct undo_log *log = cycle->log;
    size_t eviction = log->count;
    while (log->operations[eviction - 1].kind != OPERATION_EVICT || log->operations[eviction - 1].pod != pod->index)
        eviction--;
    record(cycle, OPERATION_RETURN, pod)->eviction = eviction - 1;
    log->operations[eviction - 1].is_cancelled = true;
    set_state(cycle, pod, log->operations[eviction - 1].before);
}

void statement_place(struct cycle *cycle, uint32_t index, const struct place *place, bool promised)
{
    struct pod *pod = &cycle->pods[index];
    if (pod->state.evicted && is_same_place(&pod->state.origin, place)) {
        cancel_eviction(cycle, pod);
        return;
    }
    record(cycle, OPERATION_PLACE, pod);
    struct pod_state state = pod->state;
    if (state.evicted && !state.withdrawn)
        state.held = state.place;
    state.place = *place;
    state.status = promised ? SNAPSHOT_POD_PIPELINED : SNAPSHOT_POD_BINDING;
    state.evicted = state.withdrawn = false;
    set_state(cycle, pod, state);
}

void statement_promise_all(struct cycle *cycle, const struct workload *workload, size_t checkpoint)
{
    for (size_t i = checkpoint; i < cycle->log->count; i++) {
        struct operation *operation = &cycle->log->operations[i];
        struct pod *pod = &cycle->pods[operation->pod];
        if (operation->kind != OPERATION_PLACE || pod->workload != workload->index)
            continue;
        struct pod_state state = pod->state;
        state.status = SNAPSHOT_POD_PIPELINED;
        set_state(cycle, pod, state);
    }
}

// An evicted pod that got no new place: a promise leaves it pending, or releasing where it had been moved from.
static void settle(struct cycle *cycle, struct pod *pod)
{
    struct pod_state state = pod->state;
    if (state.withdrawn && place_is(state.held)) {
        state.place = state.held;
        state.held = NOWHERE;
    } else if (state.withdrawn) {
        state.status = SNAPSHOT_POD_PENDING;
    }
    state.evicted = state.withdrawn = false;
    state.origin = NOWHERE;
    set_state(cycle, pod, state);
}

// The workload holds something in the pool from now on.
static void make_home(struct cycle *cycle, struct workload *workload, uint32_t index)
{
    if (workload->home != SNAPSHOT_NONE)
        return;
    workload->home = index;
    struct pool *pool = &cycle->pools[index];
    size_t at = pool->holder_count++;
    for (; at > 0 && pool->holders[at - 1]->index > workload->index; at--)
        pool->holders[at] = pool->holders[at - 1];
    pool->holders[at] = workload;
}

void statement_commit(struct cycle *cycle, uint32_t pool, struct statement_reasons reasons)
{
    struct undo_log *log = cycle->log;
    uint32_t statement = cycle->statement_count++;
    for (size_t i = 0; i < log->count; i++) {
        const struct operation *operation = &log->operations[i];
        struct pod *pod = &cycle->pods[operation->pod];
        if (operation->kind == OPERATION_RETURN || operation->is_cancelled)
            continue;
        struct plan_decision decision = {.action = cycle->action,
                                         .workload = pod->workload,
                                         .pod = pod->index,
                                         .node_pool = pool,
                                         .statement = statement,
                                         .beneficiary = SNAPSHOT_NONE};
        if (operation->kind == OPERATION_EVICT) {
            bool was_promise = operation->before.status == SNAPSHOT_POD_PIPELINED;
            decision.verb = was_promise ? PLAN_WITHDRAW : PLAN_EVICT;
            decision.node = operation->before.place.node;
            decision.beneficiary = reasons.beneficiary;
            decision.moved = pod->state.status == SNAPSHOT_POD_PIPELINED;
            decision.why = cycle->is_silent ? "" : reasons.evict(cycle, pod, reasons.context);
            decision.gpu_milli = request_gpu_milli(&pod->request, cycle->nodes[decision.node].gpu_memory_mib);
            if (!was_promise && !cycle->is_silent)
                decision.receipt = receipt_make(cycle, &cycle->pools[pool], &decision,
                                                decision.moved ? EVICTION_MOVED : reasons.rule(pod));
            journal_add_eviction(cycle, &decision, &operation->before);
            if (!was_promise) {
                cycle->workloads[pod->workload].lost_pod = true;
                cycle->workloads[pod->workload].unit_is_known = false;
                cycle->counts[cycle->action].pods_evicted++;
            } else {
                cycle->workloads[pod->workload].lost_promise = true;
            }
        } else {
            bool promised = pod->state.status == SNAPSHOT_POD_PIPELINED;
            decision.verb = promised ? PLAN_PIPELINE : PLAN_BIND;
            decision.node = pod->state.place.node;
            decision.moved = operation->before.evicted;
            decision.gpu_milli = request_gpu_milli(&pod->request, cycle->nodes[decision.node].gpu_memory_mib);
            if (decision.moved)
                decision.beneficiary = reasons.beneficiary;
            if (cycle->is_silent)
                decision.why = "";
            else
                decision.why = decision.moved ? reasons.evict(cycle, pod, reasons.context)
                                              : reasons.place(cycle, pod, promised, reasons.context);
            journal_add_placement(cycle, &decision);
            make_home(cycle, &cycle->workloads[pod->workload], pool);
        }
    }
    for (size_t i = 0; i < log->count; i++) {
        struct pod *pod = &cycle->pods[log->operations[i].pod];
        if (pod->state.evicted)
            settle(cycle, pod);
        receipt_settle(cycle_queue(&cycle->pools[pool], &cycle->workloads[pod->workload]));
    }
    log->count = 0;
}
