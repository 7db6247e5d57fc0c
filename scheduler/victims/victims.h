// Victims taken so far, unit by unit in the order of giving way, and what they would free on each node.
// docs/scheduler.md, 6.5 and 6.6.
#pragma once
#include "scheduler/state/node.h"
#include "scheduler/victims/fast/loss_bounds.h"
#include "scheduler/victims/search_state.h"
#include "scheduler/victims/sparing.h"

struct victim_unit {
    const struct workload *workload;
    const uint32_t *pods;
    const uint32_t *nodes; // that they stand on
    uint32_t count;
    int64_t loss_milli;  // GPUs that may be lost with it lawfully
    int64_t whole_milli; // GPUs of it and of all before it of the workload, and recorded ones
    size_t previous;     // unit of the same workload + 1; 0: none
};

// A unit with a pod on a node.
struct unit_on_node {
    size_t unit;
    size_t next; // of the same node + 1, an earlier unit; 0: none
};

struct victim_mark {      // of a workload
    uint32_t stamp;       // of the victims it was made for
    size_t last_unit;     // its last unit + 1; 0: none yet
    size_t completed;     // the last selection whose gangs were completed
    int64_t popped_milli; // GPUs popped, and the recorded ones
};

struct node_room {
    uint32_t node;
    int64_t milli;
    size_t first_seen;
};

// Made once in a cycle.
struct victim_marks {
    struct victim_mark *workloads;
    uint32_t *recorded; // by pod: the stamp of the victims among whose recorded ones it is
    void *tables;       // by node, of the victims that were opened last
};

// What may be lost of the first units, one after the other.
struct in_turn {
    int64_t before_milli; // what all but the last may sum up to
    size_t count;
    int64_t sum_milli;
    int64_t most_milli;
};

struct victims {
    struct search *search;
    struct victim_order *order;
    size_t popped_count;    // units gone through
    struct sparing sparing; // where the search is sparing
    struct victim_marks *marks;
    uint32_t stamp;
    struct victim_unit *units; // without those that are recorded already
    size_t unit_count;
    size_t unit_capacity;
    int64_t loss_milli;                 // of all units
    int64_t recorded_loss_milli;        // of the recorded victims
    struct loss_bounds recorded_losses; // where the search knows the most that may be lost
    struct loss_bounds taken_losses;    // of these and the first units
    size_t summed_count;                // so many of them
    struct in_turn in_turn;             // of the same
    bool has_parts;                     // a workload of more than one pod is among them
    size_t tried_count;                 // how often all units seemed to suffice
    struct loss_bounds losses;          // of the scenario that is looked at
    uint32_t recorded_mark;
    uint32_t taken_mark;
    int64_t recorded_devices; // of the recorded victims, whole or in part
    int64_t *refused_devices; // by node: node_devices + 1 when its units did not suffice; 0: they did
    bool *is_spread;          // by node: some of its units, or what may go with them, have pods elsewhere too
    int64_t *node_devices;    // by node: no fewer devices than a scenario of its units may free
    struct unit_on_node *on_nodes;
    size_t on_node_count;
    size_t on_node_capacity;
    size_t *last_on_node; // by node: its last entry + 1; 0: none
    uint32_t *seen_at;    // by node: how many others had a unit before its first
    uint32_t seen_count;
    struct node_room *candidates; // nodes with a unit and room for the smallest pending pod
    size_t candidate_count;
    bool *is_candidate;      // by node
    bool prefixes_failed;    // all of them, and none is another since
    bool prefixes_refused;   // nothing came since that makes a difference to them
    int64_t *free_milli;     // by node: GPUs idle and releasing
    int64_t *freed_milli;    // by node: GPUs of recorded and taken victims
    int64_t *recorded_milli; // of recorded ones alone
    const bool **accepts;    // the different tables of nodes that the pending pods may go to
    size_t accepts_count;
    int64_t smallest_milli; // of what the pending pods ask for
    int64_t lack_milli;     // of all that they ask for, without the room on nodes that have no unit
    // The idle-GPU filter's running figures.
    int64_t same_milli;           // what each pending pod asks for, where all ask for the same; else -1
    int64_t place_count;          // places for such a pod with all of them gone
    int64_t recorded_place_count; // with the recorded ones gone
    int64_t *scratch_milli;       // by node, zero between uses
    bool *is_chosen;              // by unit, false between uses
    size_t chosen_capacity;
    size_t *selected; // room for all units
    size_t selected_capacity;
    bool was_refused; // the latest selection was filtered
    size_t selection; // how many were made
};

struct victim_mark *victims_mark(const struct victims *victims, const struct workload *workload);

// Memory is the search's probe arena.
void victims_open(struct victims *victims, struct search *search);
// Takes the next unit that need not be spared; false where nobody is left.
bool victims_take(struct victims *victims);
// Gives all units back.
void victims_close(struct victims *victims);

// Whether the units on the node could lose enough and leave room: false is certain, and found without choosing them.
bool victims_node_may_suffice(const struct victims *victims, uint32_t node);
// Whether the chosen units and the recorded victims may lose as many lawfully, each side as much as it may.
bool victims_sides_may_lose_enough(struct victims *victims, const size_t *units, size_t count);
// The same of all units together: false is certain for whatever is chosen of them.
bool victims_all_may_lose_enough(struct victims *victims);
// Inside: starts the sums with the recorded victims.
void victims_open_losses(struct victims *victims);
// What a pod counts where it stands.
static inline struct amounts victims_amounts(const struct cycle *cycle, const struct pod *pod)
{
    return request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib);
}
// Whether so many GPUs may be lost lawfully as every solution takes. loss_milli: of the units of a scenario.
static inline bool victims_may_lose_enough(const struct victims *victims, int64_t loss_milli)
{
    return victims->recorded_loss_milli + loss_milli >= victims->search->must_free_milli;
}

// Whether the pending pods could fit with the recorded victims and these units gone. False is certain: then no
// simulation can place them.
bool victims_leave_room(struct victims *victims, const size_t *units, size_t count);
// GPUs on the node with recorded and taken victims gone.
int64_t victims_node_milli(const struct victims *victims, uint32_t node);
// Whether the pending pods could possibly fit: the three cheap filters of 6.6.
bool victims_may_suffice(struct victims *victims);
// Largest demand first, each into the first of the rooms (largest first) that is left with enough. Sorts both.
bool victims_first_fit(int64_t *demands, size_t demand_count, int64_t *rooms, size_t room_count);
// What a pending pod counts in GPUs where no node is chosen yet: an amount of memory by the largest device.
int64_t victims_pending_milli(const struct search *search, const struct pod *pod);
// The filter of 6.6 for topologies: the pending GPUs of each group with a required level fit into domains of that
// level, largest first.
bool victims_domains_may_suffice(struct victims *victims);
