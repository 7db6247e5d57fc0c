// Whether a reclaim is fair: who may reclaim, from whom, and whether what a scenario takes is lawful.
// docs/scheduler.md, 6.3, 6.4 and 6.9.
#pragma once
#include "scheduler/victims/frozen_queues.h"
#include "scheduler/victims/search_state.h"

// The first resource in which the workload's project would go over its fair share (or, non-preemptible, over its quota)
// with what its unit asks for; RESOURCE_COUNT: it may reclaim.
enum resource fairness_refuses(struct cycle *cycle, const struct pool *pool, struct workload *workload);
// What keeps the victim's project out of reach; EVIDENCE_CODE_COUNT: nothing, its pods may be looked at. out_side (may
// be NULL): the project or department whose numbers decided.
enum evidence_code fairness_protects(struct queue *reclaimer, struct amounts requested, struct queue *victim,
                                     const struct queue **out_side);

// Whether rank alone lets the reclaimer's side take from the other one: see ranking.h.
bool fairness_may_take_by_rank(const struct frozen_queues *frozen, const struct queue *reclaimer,
                               const struct queue *own, struct amounts requested, const struct queue *other);
// Whether the first thing that is taken from the victim's project could be taken lawfully. Where not, nothing can.
bool fairness_may_take(const struct frozen_queues *frozen, struct queue *reclaimer, struct amounts requested,
                       struct queue *victim);
// The same for the search's pending pods.
bool fairness_may_lose(const struct search *search, const struct workload *victim);
// From whom the fairness test takes when it takes from the victim: see loss_bounds.h.
struct queue *fairness_side(struct queue *reclaimer, struct queue *victim);
// What all but the last of the pieces may sum up to that one project loses, one after the other; INT64_MAX where that
// is not known, or more than one side loses something.
int64_t fairness_most_before_last(const struct search *search, const struct loss_bounds *losses);
int64_t fairness_most_lost(const struct search *search, const struct loss_bounds *losses);
// The validator of a simulated scenario; the search's context is its struct frozen_queues.
bool fairness_allows(struct search *search, const struct scenario *scenario);
// Ours: whether a reclaim beyond what the reclaimer deserves lasts, that is no victim of it would be entitled by the
// same rules to take the place back. Else two projects could take it in turn for ever.
bool fairness_lasts(struct search *search, const struct scenario *scenario);
