// What a search for victims is asked, and what it knows while it runs. search.h has the search itself.
#pragma once
#include "base/arena.h"
#include "scheduler/state/cycle.h"

struct loss_bounds;
struct victim_order;
struct serving_order;

struct scenario {
    const uint32_t *pods; // in the order in which they were taken
    size_t count;
};

struct search {
    struct cycle *cycle;
    const struct pool *pool;
    struct workload *workload;    // the one that waits
    struct workload **candidates; // whose pods may be victims, by name; or, with candidate_first, in order
    size_t candidate_count;
    const bool *gives; // by project: all that it holds may go, and candidates are not listed; NULL: they are
    const size_t *candidate_first; // by project, and one more; NULL: they are by name
    struct workload **waiting;     // those that allocate would consider, by name
    size_t waiting_count;
    const struct serving_order *serving; // the same in order; NULL: all of them are gone through
    // Whether the scenario that was just simulated is lawful; called with its outcome in place.
    bool (*is_lawful)(struct search *search, const struct scenario *scenario);
    // Whether a scenario in which this victim gets no place back can be lawful; NULL: it can. In the state before it.
    bool (*may_lose)(const struct search *search, const struct workload *victim);
    // How many GPUs of these the scenario can lose lawfully at most; NULL: not known. In the state before it.
    int64_t (*most_lost)(const struct search *search, const struct loss_bounds *losses);
    const void *context;      // of is_lawful, may_lose and most_lost
    bool spares;              // what is due to others is spared first: see sparing.h
    struct amounts requested; // by the whole unit, an amount of GPU memory by the smallest device

    uint32_t unit_count;       // pods of the whole unit
    uint32_t pending_count;    // of them, those of this probe
    struct amounts pending;    // what those ask for, an amount of GPU memory by the smallest device
    int64_t must_free_milli;   // GPUs that victims lose for good in every solution, at least; INT64_MIN: not known
    int64_t must_free_devices; // whole devices, where every pending pod asks for such; INT64_MIN: not known
    int64_t *free_milli;       // by position in the pool: GPUs idle and releasing
    bool *feasible;            // by node: may be used without victims of its own
    uint64_t *feasible_bits;   // the same by position in the pool
    struct scenario recorded;
    struct scenario solution;   // after success
    struct victim_order *order; // the victims in order; NULL: not open
    struct arena walk_arena;    // of the whole search
    struct arena probe_arena;   // of one probe
    struct arena arena;         // of one simulation
    struct fingerprint_set *failed;
    uint32_t scenario_count;
    bool was_cut;         // by its budget
    bool sparing_was_cut; // by half of it
    bool is_sparing;      // now
    bool has_passed;      // over a unit, to spare what is due
};
