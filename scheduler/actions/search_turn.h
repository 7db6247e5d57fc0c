// A turn: everybody who waits for a node pool is searched victims for once. Where the steps of a cycle do not last for
// all, the next cycle goes on with whoever it had not come to, so that nobody waits for ever.
//
// An action has two in each node pool. The quick one gives each search few steps: most that find room need no more, so
// it comes round soon. The thorough one follows with what steps are left, and gives eight times as many in each turn
// until no search is cut: so what can be found is found. One in which something has changed is followed by another.
// Without a bound on steps there is the first alone, and it is over in its cycle. docs/scheduler.md, 6.14.
#pragma once
#include "scheduler/state/cycle.h"

struct search_turn {
    struct cycle *cycle;
    const struct pool *pool;
    bool is_thorough;
    int64_t steps;                // of each search; SNAPSHOT_STEPS_UNLIMITED
    const struct workload *next;  // to go on with; NULL: from the beginning
    const struct workload *first; // with which the turn began; NULL: with whoever comes first
    bool first_has_come;
    bool was_kept;                 // it began in an earlier cycle
    bool is_done;                  // then, and nothing has changed: nobody has a turn
    bool was_cut;                  // a search took all of its steps
    bool has_changed;              // something, since the turn began
    int64_t taken_before;          // steps of the cycle
    const struct workload *opened; // the first that had its turn in this cycle
    struct workload **later;       // those who come before next: they have their turn at the end
    size_t later_count;
    bool is_over;                   // nobody else has a turn in this cycle
    const struct workload *goes_on; // the first who would have had one, if steps had been left; NULL: nobody
};

// Begins the quick turn, with its part of the steps that are left: as much as for each other action and node pool that
// is to come.
void search_turn_open(struct search_turn *turn, struct cycle *cycle, const struct pool *pool, size_t waiting_count);
// Whether a thorough turn is to follow on it; begins that one.
bool search_turn_deepens(struct search_turn *turn);
// False: the workload is kept for the end, in turn->later.
bool search_turn_comes_to(struct search_turn *turn, struct workload *workload);
// From here on it comes to those.
void search_turn_comes_back(struct search_turn *turn);
// Whether the workload may be searched victims for; sets the steps that it has.
bool search_turn_allows(struct search_turn *turn, const struct workload *workload);
// A search was cut: it had taken all of its steps, or so many scenarios that the action is over.
void search_turn_note_cut(struct search_turn *turn);
// How many steps a search took that was cut: 0 where not its own bound cut it, and an equal one may come further.
int64_t search_turn_cut_at(const struct search_turn *turn, bool was_cut);
// Leaves for the next cycle where to go on.
void search_turn_close(struct search_turn *turn);
