#include "tests/support/plain_fair_share.h"

#include <assert.h>

struct fraction {
    __int128 part, whole; // whole is positive
};

// What a queue's last cut round left it short of, below one unit.
struct remainder {
    bool is_recorded;
    struct fraction amount;
};

struct division {
    struct share_claim *claims;
    size_t count;
    int64_t unit;
    int64_t k_micro;
    int64_t left;
    struct remainder remainders[PLAIN_QUEUES];
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t requestable(const struct share_claim *claim)
{
    return least(claim->requested, claim->limit);
}

static int64_t want(const struct share_claim *claim)
{
    int64_t more = requestable(claim) - claim->fair_share;
    return more > 0 ? more : 0;
}

// Phase A: what is deserved, up to what is asked for. It may sum to more than there is.
static void give_deserved(struct division *division)
{
    int64_t total = division->left;
    for (size_t q = 0; q < division->count; q++) {
        struct share_claim *claim = &division->claims[q];
        int64_t deserved = claim->deserved == QUANTITY_UNLIMITED ? total : claim->deserved;
        claim->fair_share = least(deserved, requestable(claim));
        division->left -= least(claim->fair_share, division->left);
    }
}

static bool takes_part(const struct share_claim *claim, int64_t rank)
{
    return claim->rank == rank && want(claim) > 0;
}

// s(q) = max(0, n + k (n - u)) with n = w / W; here times W and 10^12, which leaves its part of the sum as it is.
static __int128 score(const struct share_claim *claim, __int128 weights, int64_t k_micro)
{
    const __int128 million = 1000000, weight = claim->weight_milli;
    const __int128 s = weight * million * million + k_micro * (weight * million - claim->usage_micro * weights);
    return s > 0 ? s : 0;
}

// One round over a rank. The amount and the shares stand fixed while it lasts. Whether another one may give more.
static bool give_round(struct division *division, int64_t rank)
{
    const __int128 amount = division->left;
    __int128 weights = 0, scores = 0;
    for (size_t q = 0; q < division->count; q++)
        if (takes_part(&division->claims[q], rank))
            weights += division->claims[q].weight_milli;
    for (size_t q = 0; q < division->count; q++)
        if (takes_part(&division->claims[q], rank))
            scores += score(&division->claims[q], weights, division->k_micro);
    if (weights == 0 || scores == 0)
        return false;
    bool again = false;
    for (size_t q = 0; q < division->count && division->left > 0; q++) {
        struct share_claim *claim = &division->claims[q];
        if (!takes_part(claim, rank) || claim->weight_milli == 0)
            continue;
        const __int128 share = amount * score(claim, weights, division->k_micro); // over scores
        int64_t give = want(claim);
        bool wants_less = give * scores < share;
        if (give * scores <= share) {
            division->remainders[q].is_recorded = false;
        } else {
            give = (int64_t)(share / scores / division->unit) * division->unit;
            const __int128 rest = share - give * scores;
            if (rest > 0)
                division->remainders[q] = (struct remainder){true, {rest, scores}};
        }
        claim->fair_share += give;
        division->left -= give;
        again = again || (give > 0 && wants_less);
    }
    return again && division->left > 0;
}

static bool is_served_before(const struct division *division, size_t a, size_t b)
{
    const struct fraction *mine = &division->remainders[a].amount, *theirs = &division->remainders[b].amount;
    const __int128 left = mine->part * theirs->whole, right = theirs->part * mine->whole;
    if (left != right)
        return left > right;
    if (division->claims[a].created_ms != division->claims[b].created_ms)
        return division->claims[a].created_ms < division->claims[b].created_ms;
    return a < b;
}

// Phase C for a rank: a unit for each remainder, the largest first, without asking whether it is wanted.
static void give_remainders(struct division *division, int64_t rank)
{
    while (division->left > 0) {
        size_t next = division->count;
        for (size_t q = 0; q < division->count; q++)
            if (division->claims[q].rank == rank && division->remainders[q].is_recorded &&
                (next == division->count || is_served_before(division, q, next)))
                next = q;
        if (next == division->count)
            return;
        int64_t give = least(division->unit, division->left);
        division->remainders[next].is_recorded = false;
        division->claims[next].fair_share += give;
        division->left -= give;
    }
}

// The highest rank below this one; false where there is none.
static bool next_rank(const struct division *division, int64_t below, int64_t *out_rank)
{
    bool any = false;
    for (size_t q = 0; q < division->count; q++) {
        int64_t rank = division->claims[q].rank;
        if (rank < below && (!any || rank > *out_rank)) {
            *out_rank = rank;
            any = true;
        }
    }
    return any;
}

int64_t plain_fair_share(struct share_claim *claims, size_t count, int64_t total, int64_t unit, int64_t k_micro)
{
    assert(count <= PLAIN_QUEUES);
    struct division division = {.claims = claims, .count = count, .unit = unit, .k_micro = k_micro, .left = total};
    int64_t rank = 0;
    give_deserved(&division);
    for (int64_t below = INT64_MAX; next_rank(&division, below, &rank); below = rank)
        while (division.left > 0 && give_round(&division, rank))
            ;
    for (int64_t below = INT64_MAX; next_rank(&division, below, &rank); below = rank)
        give_remainders(&division, rank);
    return division.left;
}
