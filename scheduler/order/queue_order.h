// Which queue of a level is served next: first the one that is owed most. docs/scheduler.md, 3.2.
#pragma once
#include "scheduler/state/cycle.h"

// A value over a share, compared exactly.
struct share_ratio {
    __int128 part;
    __int128 whole; // > 0
    enum resource resource;
};

// What the rules look at, worked out once for a queue, its next workload and the victims already taken from it.
struct queue_key {
    const struct queue *queue;
    struct amounts with; // what the queue has, and what its next workload asks for
    bool is_over;
    bool is_starved;
    bool violates_zero_share;
    struct share_ratio share_with;    // dominant share with the next workload, without the victims
    struct share_ratio share_without; // dominant share as it is
    struct amounts allocatable_share;
};

// next: what the queue's next workload asks for, nothing where victims are chosen. victims: what was already taken from
// the queue and would be taken next.
struct queue_key queue_key_make(const struct queue *queue, struct amounts next, struct amounts victims,
                                struct amounts pool_total);

// <0: a first; >0: b first; 0 only where a and b are the same queue. Not transitive: the share rules may contradict
// each other in a circle. *out_rule (may be NULL) is the rule that decided, static text.
int queue_compare(const struct queue_key *a, const struct queue_key *b, const char **out_rule);
// Why a goes first, in numbers of both sides: a sentence, names no workload.
const char *queue_compare_words(struct arena *arena, const struct queue_key *a, const struct queue_key *b);
