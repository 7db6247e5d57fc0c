// A statement: decisions tried on the live state, to be kept or taken back as a whole.
//
// Every operation changes pods, nodes and queues at once and leaves what undoes it in the log. Checkpoint, try, roll
// back; or commit, which turns what is left into decisions. One statement is open at a time. After KAI's Statement;
// docs/scheduler.md, 1.7.
#pragma once
#include "scheduler/state/cycle.h"

enum operation_kind {
    OPERATION_EVICT,
    OPERATION_PLACE,
    OPERATION_RETURN
};

struct operation {
    enum operation_kind kind;
    uint32_t pod;
    size_t eviction;   // OPERATION_RETURN: the eviction it cancels; index into the log
    bool is_cancelled; // OPERATION_EVICT: the pod was placed back just where it stood
    struct pod_state before;
};

struct undo_log {
    struct operation *operations;
    size_t count;
    size_t capacity;
};

size_t statement_checkpoint(const struct cycle *cycle);
void statement_roll_back(struct cycle *cycle, size_t checkpoint);

// The pod gives up its place: a standing pod is releasing from now on; a promise is gone at once.
void statement_evict(struct cycle *cycle, uint32_t pod);
// The pod gets the place, as a promise or now. A pod that this statement evicted and that gets just the place it had is
// as it was; one that gets another holds the old one until that is released.
void statement_place(struct cycle *cycle, uint32_t pod, const struct place *place, bool promised);
// Turns the places that the workload was given since the checkpoint into promises.
void statement_promise_all(struct cycle *cycle, const struct workload *workload, size_t checkpoint);

// Why each decision was taken; texts in the cycle's arena.
struct statement_reasons {
    uint32_t beneficiary; // SNAPSHOT_NONE: none
    const char *(*evict)(const struct cycle *cycle, const struct pod *victim, void *context);
    // The rule under which a pod that is not moved gives way.
    enum eviction_rule (*rule)(const struct pod *victim);
    const char *(*place)(const struct cycle *cycle, const struct pod *pod, bool promised, void *context);
    void *context;
};

// Keeps everything: the journal gets the decisions in the order of the operations. The log is empty afterwards.
void statement_commit(struct cycle *cycle, uint32_t pool, struct statement_reasons reasons);

// Puts a pod of the snapshot in its place when the cycle opens.
void statement_set_up(struct cycle *cycle, struct pod *pod, struct pod_state state);
