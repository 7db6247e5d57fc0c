// The search for victims that reclaim, preemption and consolidation share.
//
// Victims are taken unit by unit in the order in which queues and workloads give way. From those taken so far a
// generator makes scenarios (node by node, then over several nodes); a scenario is tried on the live state: its victims
// are evicted, then everybody is served in the ordinary order, so that victims for whom there is room get it back. The
// first scenario that places the pending unit lawfully is kept. A gang is searched for with more and more of its pods,
// what was found for fewer staying evicted. After KAI's solver; docs/scheduler.md, 6.4 to 6.8.
#pragma once
#include "base/arena.h"
#include "scheduler/cycle.h"
#include "scheduler/queue_walk.h"
#include "scheduler/statement.h"

struct losses;
struct popping;
struct serving;

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
    const struct serving *serving; // the same in order; NULL: all of them are gone through
    // Whether the scenario that was just simulated is lawful; called with its outcome in place.
    bool (*is_lawful)(struct search *search, const struct scenario *scenario);
    // Whether a scenario in which this victim gets no place back can be lawful; NULL: it can. In the state before it.
    bool (*may_lose)(const struct search *search, const struct workload *victim);
    // How many GPUs of these the scenario can lose lawfully at most; NULL: not known. In the state before it.
    int64_t (*most_lost)(const struct search *search, const struct losses *losses);
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
    struct scenario solution; // after success
    struct popping *popping;  // the victims in order; NULL: not open
    struct arena walk_arena;  // of the whole search
    struct arena probe_arena; // of one probe
    struct arena arena;       // of one simulation
    struct fingerprint_set *failed;
    uint32_t scenario_count;
    bool was_cut;         // by its budget
    bool sparing_was_cut; // by half of it
    bool is_sparing;      // now
    bool has_passed;      // over a unit, to spare what is due
};

// Finds a way to place the workload's next unit and leaves it done in the open statement: true, solution is set. False:
// nothing is changed. search has its members up to context set and the rest zero; search_done frees what it took.
bool search_run(struct search *search);
void search_done(struct search *search);

// Simulates one scenario; true: it is lawful and stands in the open statement.
bool search_try(struct search *search, const struct scenario *scenario);
// The search's budgets allow no more.
bool search_is_over(const struct search *search);

// A generator's run over the victims for the search's pending_count: true once a scenario stands.
typedef bool (*scenario_generator)(struct search *search);
bool scenarios_by_node(struct search *search);
bool scenarios_over_nodes(struct search *search);
