// A division, by an example: 10 GPUs, one rank.
//
//          deserved  asks for  weight | deserved |  round 1: 5 left  |  round 2: 1 left  | remainder | share
//      a      3         9        2    |    3     |  2/4 of 5: 2      |  2/3 of 1: 0      |     1     |   6
//      b      2         3        1    |    2     |  1/4 of 5: 1      |  wants no more    |           |   3
//      c      0         9        1    |    0     |  1/4 of 5: 1      |  1/3 of 1: 0      |           |   1
//
// A round goes over those who still want something. b wants 1, which is less than its part of 1.25: it gets what it
// wants and leaves the weights, so another round follows. Who is cut gets whole units, what is cut off is remembered.
// When a round gives nothing more, what is left goes out a unit each: to the largest remainder of the last round in
// which a queue was cut, then to the older, then by position. Each step may be written down (share_recorder).
//
// All of it is done with integers: parts are compared and cut by products of 128 bits.
#include "scheduler/state/fair_share.h"

#include "base/arena.h"

#include <stdlib.h>

typedef __int128 wide;

// Shares are scaled so that their sum stays below this: amount * share and remainder * sum then fit in 128 bits.
static const int64_t LARGEST_SHARE_SUM = INT64_C(1) << 52;

// What a queue was cut by in its last round: (part / whole) of an amount, below one unit.
struct remainder {
    bool recorded;
    wide part;
    int64_t whole;
};

struct division {
    struct share_claim *claims;
    size_t count;
    struct share_terms terms;
    struct remainder *remainders;
    int64_t *shares;   // of the round
    wide *wide_shares; // before scaling
    int64_t left;
    uint32_t round;     // of the rank
    int64_t weight_sum; // of those that take part in it
};

const char *share_rule_name(enum share_rule rule)
{
    static const char *const NAMES[] = {"deserved", "overQuota", "remainder"};
    return NAMES[rule];
}

static int64_t minimum(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t requestable(const struct share_claim *claim)
{
    return minimum(claim->requested, claim->limit);
}

static bool is_satisfied(const struct share_claim *claim)
{
    return claim->requested <= claim->fair_share || claim->limit <= claim->fair_share;
}

static wide greatest_common_divisor(wide a, wide b)
{
    while (b != 0) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Sets shares for the queues of a rank that are still unsatisfied; returns their sum, 0 where nobody takes part.
static int64_t weigh(struct division *division, int64_t rank)
{
    wide weights = 0;
    int64_t usage = 0;
    for (size_t i = 0; i < division->count; i++) {
        const struct share_claim *claim = &division->claims[i];
        if (claim->rank == rank && !is_satisfied(claim)) {
            weights += claim->weight_milli;
            usage |= claim->usage_micro;
        }
    }
    if (weights == 0)
        return 0;
    division->weight_sum = (int64_t)weights;
    int64_t k_micro = usage ? division->terms.k_micro : 0; // without usage k cancels
    wide sum = 0, divisor = 0;
    for (size_t i = 0; i < division->count; i++) {
        const struct share_claim *claim = &division->claims[i];
        wide share = 0;
        if (claim->rank == rank && !is_satisfied(claim)) {
            // n + k * (n - u) with n = weight / weights, times weights * 10^12
            share = claim->weight_milli;
            if (k_micro > 0) {
                wide surplus = (wide)claim->weight_milli * 1000000 - (wide)claim->usage_micro * weights;
                share = (wide)claim->weight_milli * 1000000 * 1000000 + surplus * k_micro;
            }
            if (share < 0)
                share = 0;
        }
        division->wide_shares[i] = share;
        sum += share;
        divisor = greatest_common_divisor(share, divisor);
    }
    if (sum == 0)
        return 0;
    sum /= divisor;
    unsigned shift = 0;
    while (sum >> shift >= LARGEST_SHARE_SUM)
        shift++;
    int64_t scaled_sum = 0;
    for (size_t i = 0; i < division->count; i++) {
        division->shares[i] = (int64_t)(division->wide_shares[i] / divisor >> shift);
        scaled_sum += division->shares[i];
    }
    return scaled_sum;
}

static void record_round(struct division *division, size_t claim, struct share_term term)
{
    const struct remainder *cut = &division->remainders[claim];
    const struct share_claim *queue = &division->claims[claim];
    term.rule = SHARE_RULE_OVER_QUOTA;
    term.rank = queue->rank;
    term.round = division->round;
    term.weight_milli = queue->weight_milli;
    term.weight_sum_milli = division->weight_sum;
    term.part = division->shares[claim];
    if (term.given < term.want && cut->recorded) {
        term.remainder = (int64_t)cut->part;
        term.remainder_whole = cut->whole;
    }
    division->terms.recorder->add(division->terms.recorder, claim, &term);
}

// One round over the queues of a rank. Returns whether some queue wanted less than its part, so that another may
// follow.
static bool run_round(struct division *division, int64_t rank)
{
    int64_t sum = weigh(division, rank);
    if (sum == 0)
        return false;
    division->round++;
    int64_t amount = division->left;
    int64_t unit = division->terms.unit;
    bool again = false;
    for (size_t i = 0; i < division->count && division->left > 0; i++) {
        struct share_claim *claim = &division->claims[i];
        if (claim->rank != rank || is_satisfied(claim) || claim->weight_milli == 0)
            continue;
        int64_t want = requestable(claim) - claim->fair_share;
        const wide part = (wide)amount * division->shares[i]; // of sum
        int64_t give = want;
        if ((wide)want * sum <= part) {
            division->remainders[i].recorded = false;
        } else {
            give = (int64_t)(part / ((wide)sum * unit)) * unit;
            wide rest = part - (wide)give * sum;
            if (rest > 0)
                division->remainders[i] = (struct remainder){true, rest, sum};
        }
        if (division->terms.recorder)
            record_round(division, i, (struct share_term){.of = amount, .want = want, .part_sum = sum, .given = give});
        if (give == 0)
            continue;
        claim->fair_share += give;
        division->left -= give;
        again = again || (wide)want * sum < part;
    }
    return again; // then somebody left a part of the amount
}

// <0 where a's remainder is served before b's.
static int compare_remainders(const struct division *division, size_t a, size_t b)
{
    const struct share_claim *one = &division->claims[a], *other = &division->claims[b];
    const struct remainder *mine = &division->remainders[a], *theirs = &division->remainders[b];
    if (one->rank != other->rank)
        return one->rank > other->rank ? -1 : 1;
    wide left = mine->part * theirs->whole, right = theirs->part * mine->whole;
    if (left != right)
        return left > right ? -1 : 1;
    if (one->created_ms != other->created_ms)
        return one->created_ms < other->created_ms ? -1 : 1;
    return (a > b) - (a < b);
}

static int compare_for_sort(const void *a, const void *b, void *division)
{
    return compare_remainders(division, *(const size_t *)a, *(const size_t *)b);
}

static void record_remainder(struct division *division, size_t claim, uint32_t position, int64_t given)
{
    struct share_term term = {.rule = SHARE_RULE_REMAINDER,
                              .rank = division->claims[claim].rank,
                              .round = position,
                              .of = division->left,
                              .want = division->terms.unit,
                              .remainder = (int64_t)division->remainders[claim].part,
                              .remainder_whole = division->remainders[claim].whole,
                              .given = given};
    division->terms.recorder->add(division->terms.recorder, claim, &term);
}

static void give_remainders(struct division *division, struct arena *arena)
{
    size_t *order = arena_array(arena, division->count, sizeof(*order));
    size_t recorded = 0;
    for (size_t i = 0; i < division->count; i++) {
        if (division->remainders[i].recorded)
            order[recorded++] = i;
    }
    qsort_r(order, recorded, sizeof(*order), compare_for_sort, division);
    for (size_t i = 0; i < recorded && division->left > 0; i++) {
        int64_t give = minimum(division->terms.unit, division->left);
        if (division->terms.recorder)
            record_remainder(division, order[i], (uint32_t)i + 1, give);
        division->claims[order[i]].fair_share += give;
        division->left -= give;
    }
}

// The highest rank below bound; false where there is none.
static bool next_rank(const struct division *division, bool first, int64_t bound, int64_t *out_rank)
{
    bool found = false;
    int64_t best = 0;
    for (size_t i = 0; i < division->count; i++) {
        int64_t rank = division->claims[i].rank;
        if ((first || rank < bound) && (!found || rank > best)) {
            found = true;
            best = rank;
        }
    }
    if (found)
        *out_rank = best;
    return found;
}

int64_t fair_share_divide_over_quota(struct share_claim *claims, size_t count, struct share_terms terms,
                                     struct arena *arena)
{
    if (count == 0 || terms.total <= 0)
        return terms.total > 0 ? terms.total : 0;
    struct division division = {.claims = claims, .count = count, .terms = terms, .left = terms.total};
    division.remainders = arena_array(arena, count, sizeof(*division.remainders));
    division.shares = arena_array(arena, count, sizeof(*division.shares));
    division.wide_shares = arena_array(arena, count, sizeof(*division.wide_shares));
    int64_t rank = 0;
    for (bool first = true; next_rank(&division, first, rank, &rank); first = false) {
        division.round = 0;
        while (run_round(&division, rank))
            ;
    }
    give_remainders(&division, arena);
    return division.left;
}

int64_t fair_share_divide(struct share_claim *claims, size_t count, struct share_terms terms, struct arena *arena)
{
    int64_t left = terms.total;
    for (size_t i = 0; i < count; i++) {
        struct share_claim *claim = &claims[i];
        int64_t deserved = claim->deserved == QUANTITY_UNLIMITED ? terms.total : claim->deserved;
        claim->fair_share = minimum(deserved, requestable(claim));
        if (terms.recorder) {
            struct share_term term = {.rule = SHARE_RULE_DESERVED,
                                      .rank = claim->rank,
                                      .of = terms.total,
                                      .want = requestable(claim),
                                      .given = claim->fair_share};
            terms.recorder->add(terms.recorder, i, &term);
        }
        // Nothing is scaled back where deserved amounts exceed the total.
        left = left > claim->fair_share ? left - claim->fair_share : 0;
    }
    terms.total = left;
    return fair_share_divide_over_quota(claims, count, terms, arena);
}
