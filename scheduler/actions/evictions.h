// The actions that make room: reclaim from other projects, preemption inside a project, consolidation (moving), and
// stale gang eviction. docs/scheduler.md, 6.1, 7, 8 and 9.1.
#pragma once
#include "scheduler/victims/search_state.h"

void reclaim_run(struct cycle *cycle, struct pool *pool);
void preempt_run(struct cycle *cycle, struct pool *pool);
void consolidation_run(struct cycle *cycle, struct pool *pool);
void stale_run(struct cycle *cycle, struct pool *pool);

// Whether some gang of the workload has lost pods below its minimum, so that what is left runs for nothing.
bool stale_is(const struct workload *workload);

// What reclaim, preemption and consolidation do alike: everybody who waits, in order, is searched victims for.
struct eviction_action {
    // Whether the workload may trigger the action at all; where not, it explains why.
    bool (*may_try)(struct cycle *cycle, struct pool *pool, struct workload *workload);
    // Whether workloads of the project can be candidates for it at all, and whether this one of them is.
    bool (*may_take_from)(const struct pool *pool, const struct workload *workload, struct amounts requested,
                          uint32_t project);
    bool takes_all; // without minimum run times every one of them is
    bool (*is_victim)(struct cycle *cycle, struct pool *pool, struct workload *workload, struct workload *victim);
    bool (*is_lawful)(struct search *search, const struct scenario *scenario);
    bool spares; // what is due to others first: see search.h
    // See search.h; NULL: anything may be lost.
    bool (*may_lose)(const struct search *search, const struct workload *victim);
    int64_t (*most_lost)(const struct search *search, const struct loss_bounds *losses);
    // Whether it is certain that no choice of victims makes room; NULL: it never is. How many candidates there are all
    // the same is counted where that is no work, else left SIZE_MAX.
    bool (*is_hopeless)(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                        struct amounts requested, size_t *out_candidates);
    const char *(*why)(const struct cycle *cycle, const struct pod *victim, void *search);
    enum eviction_rule (*rule)(const struct pod *victim); // of one that is not moved
    // Says why no victims were found; NULL: it goes without saying.
    void (*explain_nobody)(struct search *search);
};

// Whether its submitter may have no more of the project: room that others leave does not help it then.
bool evictions_submitter_refuses(struct cycle *cycle, const struct pool *pool, struct workload *workload);
// Whether a budget that is used up keeps it from going beyond the quota, as much as it asks for on this pool.
bool evictions_budget_refuses(struct cycle *cycle, const struct pool *pool, struct workload *workload);
// Whether either does, whatever other projects give.
bool evictions_would_not_help(struct cycle *cycle, const struct pool *pool, struct workload *workload);

void evictions_run(struct cycle *cycle, struct pool *pool, const struct eviction_action *action);
