// Fair share: divides an amount of one resource between the queues of one level.
//
// Each queue first gets what it deserves, up to what it asks for. What is left goes by rank, higher first, and inside a
// rank by over-quota weight, in rounds, until nobody wants more; a queue that is cut gets whole units in a round. What
// rounding leaves goes out at the end, a unit each, to the largest remainders. The sum exceeds the total only where the
// deserved amounts already do. Weighted max-min fairness; docs/scheduler.md, 2.
#pragma once
#include "scheduler/resource.h"
struct arena;

struct share_claim {
    int64_t deserved; // QUANTITY_UNLIMITED: all it asks for
    int64_t limit;    // QUANTITY_UNLIMITED: none
    int64_t requested;
    int64_t weight_milli; // over-quota weight
    int64_t usage_micro;  // past usage as a part of the capacity, in millionths
    int64_t rank;
    int64_t created_ms;
    int64_t fair_share; // the result
};

enum share_rule {
    SHARE_RULE_DESERVED,   // what it deserves, up to what it asks for and its limit
    SHARE_RULE_OVER_QUOTA, // its part of what is left, in a round of its rank
    SHARE_RULE_REMAINDER   // a unit of what rounding left
};

const char *share_rule_name(enum share_rule rule); // "deserved", "overQuota", "remainder"

// One step of a division for one claim, with everything that it was worked out from.
struct share_term {
    enum share_rule rule;
    int64_t rank;
    uint32_t round;       // over quota: of its rank, from 1; remainder: its place in the order, from 1
    int64_t of;           // deserved: the total; over quota: what is handed round; remainder: what is left
    int64_t want;         // deserved: what it may ask for; over quota: what it still may; remainder: one unit
    int64_t weight_milli; // over quota: of those that take part in the round, its own and all together
    int64_t weight_sum_milli;
    int64_t part; // over quota: of * part / part_sum is its part: the weights, corrected by past usage
    int64_t part_sum;
    // over quota: what rounding cut off, over remainder_whole, 0: nothing; remainder: the record that was served
    int64_t remainder;
    int64_t remainder_whole;
    int64_t given;
    const char *sentence; // NULL until somebody words it
};

// Writes a division down while it runs.
struct share_recorder {
    void (*add)(struct share_recorder *recorder, size_t claim, const struct share_term *term);
};

struct share_terms {
    int64_t total;
    int64_t unit;                    // what a cut queue's share is rounded down to: 1000 for GPUs, 1 for CPU and memory
    int64_t k_micro;                 // weight of past usage in millionths; 0: none
    struct share_recorder *recorder; // NULL: nobody asks
};

// Sets fair_share of each claim; equal remainders go by age, then by position. Returns what nobody wanted. Scratch
// memory is arena's. O(rounds * count) for each rank, rounds <= count.
int64_t fair_share_divide(struct share_claim *claims, size_t count, struct share_terms terms, struct arena *arena);
// The part of it that comes after the deserved amounts: adds to the fair_share that stands in the claims.
int64_t fair_share_divide_over_quota(struct share_claim *claims, size_t count, struct share_terms terms,
                                     struct arena *arena);
