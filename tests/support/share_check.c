#include "tests/support/share_check.h"

#include <stdlib.h>
#include <string.h>

typedef __int128 wide;

// A node while its level is divided again.
struct claim {
    const struct share_node *node;
    size_t next; // its first term that has not been looked at
    int64_t given;
    bool has_remainder;
    wide remainder; // over whole
    wide whole;
};

struct level {
    const struct share_tree *tree;
    struct claim *claims;
    size_t count;
    int64_t total;
    int64_t left;
    const char *subject;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_wanted(const struct share_node *node)
{
    return least(node->requested, node->limit);
}

static const char *fail(struct level *level, const struct claim *claim, const char *what)
{
    level->subject = claim->node->name;
    return what;
}

// The claim's next term, if it is of this rule.
static const struct share_term *take(struct claim *claim, enum share_rule rule)
{
    if (claim->next == claim->node->term_count || claim->node->terms[claim->next].rule != rule)
        return NULL;
    return &claim->node->terms[claim->next++];
}

static const char *check_deserved(struct level *level)
{
    for (size_t i = 0; i < level->count; i++) {
        struct claim *claim = &level->claims[i];
        const struct share_node *node = claim->node;
        const struct share_term *term = take(claim, SHARE_RULE_DESERVED);
        int64_t deserved = node->deserved == QUANTITY_UNLIMITED ? level->total : node->deserved;
        if (!term)
            return fail(level, claim, "no term of what is deserved");
        if (term->given != least(deserved, most_wanted(node)) || term->of != level->total ||
            term->want != most_wanted(node))
            return fail(level, claim, "what is deserved");
        claim->given = term->given;
        level->left = level->left > term->given ? level->left - term->given : 0;
    }
    return NULL;
}

static bool takes_part(const struct claim *claim, int64_t rank)
{
    return claim->node->rank == rank && most_wanted(claim->node) > claim->given;
}

static wide divisor_of(wide a, wide b)
{
    return b == 0 ? a : divisor_of(b, a % b);
}

// n + k (n - u), times the weights' sum and 10^12, at least 0.
static wide score(const struct level *level, const struct claim *claim, wide weights, bool is_used)
{
    const wide million = 1000000, weight = claim->node->weight_milli;
    if (!is_used || level->tree->k_micro == 0)
        return weight;
    const wide sum =
        weight * million * million + (weight * million - claim->node->usage_micro * weights) * level->tree->k_micro;
    return sum > 0 ? sum : 0;
}

// The whole amounts that rounding left of the claim's part.
static int64_t rounded_part(const struct level *level, const struct share_term *term)
{
    return (int64_t)((wide)term->of * term->part / term->part_sum / level->tree->unit) * level->tree->unit;
}

static const char *check_round_term(struct level *level, struct claim *claim, const struct share_term *term,
                                    int64_t amount)
{
    int64_t want = most_wanted(claim->node) - claim->given;
    const wide part = (wide)amount * term->part;
    if (term->of != amount || term->want != want || term->weight_milli != claim->node->weight_milli)
        return fail(level, claim, "inputs of a round");
    if ((wide)want * term->part_sum <= part) {
        claim->has_remainder = false;
        return term->given == want ? NULL : fail(level, claim, "who wants less than its part gets what it wants");
    }
    if (term->given != rounded_part(level, term))
        return fail(level, claim, "who is cut gets whole units of its part");
    const wide rest = part - (wide)term->given * term->part_sum;
    if (rest > 0) {
        claim->has_remainder = true;
        claim->remainder = rest;
        claim->whole = term->part_sum;
    }
    return NULL;
}

// The weights of a round, corrected by usage, against those of the term.
static const char *check_parts(struct level *level, int64_t rank, const struct claim *claim,
                               const struct share_term *term)
{
    wide weights = 0, sum = 0, divisor = 0;
    bool is_used = false;
    for (size_t i = 0; i < level->count; i++) {
        if (takes_part(&level->claims[i], rank)) {
            weights += level->claims[i].node->weight_milli;
            is_used = is_used || level->claims[i].node->usage_micro > 0;
        }
    }
    for (size_t i = 0; i < level->count; i++) {
        if (takes_part(&level->claims[i], rank)) {
            const wide one = score(level, &level->claims[i], weights, is_used);
            sum += one;
            divisor = divisor_of(one, divisor);
        }
    }
    if (weights != term->weight_sum_milli)
        return fail(level, claim, "sum of the weights");
    // Longer ones are shortened before they are used.
    if (divisor == 0 || sum / divisor >= (wide)1 << 52)
        return NULL;
    const wide mine = score(level, claim, weights, is_used) / divisor;
    return mine * term->part_sum == sum / divisor * term->part ? NULL : fail(level, claim, "part of the weights");
}

// One round of a rank; out_again: whether there is another.
static const char *check_round(struct level *level, int64_t rank, uint32_t round, bool *out_again)
{
    int64_t amount = level->left;
    bool *is_in = calloc(level->count, sizeof(*is_in));
    const struct share_term **terms = calloc(level->count, sizeof(*terms));
    const char *wrong = NULL;
    *out_again = false;
    // Parts are fixed before anything is given.
    for (size_t i = 0; i < level->count && !wrong; i++) {
        is_in[i] = takes_part(&level->claims[i], rank) && level->claims[i].node->weight_milli > 0;
        const struct share_node *node = level->claims[i].node;
        size_t next = level->claims[i].next;
        if (is_in[i] && next < node->term_count && node->terms[next].rule == SHARE_RULE_OVER_QUOTA &&
            node->terms[next].rank == rank && node->terms[next].round == round) {
            terms[i] = take(&level->claims[i], SHARE_RULE_OVER_QUOTA);
            wrong = check_parts(level, rank, &level->claims[i], terms[i]);
        }
    }
    for (size_t i = 0; i < level->count && !wrong && level->left > 0; i++) {
        struct claim *claim = &level->claims[i];
        if (!is_in[i] || !terms[i])
            continue;
        wrong = check_round_term(level, claim, terms[i], amount);
        *out_again = *out_again || (wide)terms[i]->want * terms[i]->part_sum < (wide)amount * terms[i]->part;
        claim->given += terms[i]->given;
        level->left -= terms[i]->given;
    }
    // Either everybody who takes part has a term, or nobody: then past usage leaves no part to anybody.
    size_t in = 0, told = 0;
    for (size_t i = 0; i < level->count; i++) {
        in += is_in[i];
        told += terms[i] != NULL;
    }
    if (!wrong && told > 0 && told < in && level->left > 0)
        wrong = "a term of a round is missing";
    *out_again = *out_again && told > 0 && level->left > 0;
    free(terms);
    free(is_in);
    return wrong;
}

static const char *check_over_quota(struct level *level)
{
    int64_t bound = 0;
    for (bool is_first = true;; is_first = false) {
        bool found = false, again = true;
        int64_t rank = 0;
        for (size_t i = 0; i < level->count; i++) {
            int64_t one = level->claims[i].node->rank;
            if ((is_first || one < bound) && (!found || one > rank)) {
                rank = one;
                found = true;
            }
        }
        if (!found)
            return NULL;
        for (uint32_t round = 1; again && level->left > 0; round++) {
            const char *wrong = check_round(level, rank, round, &again);
            if (wrong)
                return wrong;
        }
        bound = rank;
    }
}

// <0 where a's remainder is served first. Claims stand in the order of names.
static int compare_remainders(const struct claim *a, const struct claim *b)
{
    if (a->node->rank != b->node->rank)
        return a->node->rank > b->node->rank ? -1 : 1;
    const wide left = a->remainder * b->whole, right = b->remainder * a->whole;
    if (left != right)
        return left > right ? -1 : 1;
    return a->node->created_ms < b->node->created_ms ? -1 : a->node->created_ms > b->node->created_ms;
}

static const char *check_remainders(struct level *level)
{
    for (uint32_t position = 1; level->left > 0; position++) {
        struct claim *first = NULL;
        for (size_t i = 0; i < level->count; i++) {
            struct claim *claim = &level->claims[i];
            if (claim->has_remainder && (!first || compare_remainders(claim, first) < 0))
                first = claim;
        }
        if (!first)
            return NULL;
        const struct share_term *term = take(first, SHARE_RULE_REMAINDER);
        if (!term || term->round != position || term->of != level->left ||
            term->given != least(level->tree->unit, level->left))
            return fail(level, first, "a unit of what rounding left");
        first->has_remainder = false;
        first->given += term->given;
        level->left -= term->given;
    }
    return NULL;
}

static const char *check_level(const struct share_tree *tree, const struct share_node *children, size_t count,
                               int64_t total, const char **out_subject)
{
    struct level level = {.tree = tree,
                          .claims = calloc(count + 1, sizeof(*level.claims)),
                          .count = count,
                          .total = total,
                          .left = total};
    for (size_t i = 0; i < count; i++)
        level.claims[i].node = &children[i];
    const char *wrong = check_deserved(&level);
    if (!wrong && level.left > 0)
        wrong = check_over_quota(&level);
    if (!wrong)
        wrong = check_remainders(&level);
    for (size_t i = 0; i < count && !wrong; i++) {
        if (level.claims[i].next != children[i].term_count)
            wrong = fail(&level, &level.claims[i], "a term too many");
        else if (level.claims[i].given != children[i].fair_share)
            wrong = fail(&level, &level.claims[i], "terms do not sum to the fair share");
    }
    *out_subject = level.subject;
    free(level.claims);
    return wrong;
}

const char *share_tree_check(const struct share_tree *tree, const char **out_subject)
{
    const char *wrong = check_level(tree, tree->root.children, tree->root.child_count, tree->total, out_subject);
    for (size_t d = 0; d < tree->root.child_count && !wrong; d++) {
        const struct share_node *department = &tree->root.children[d];
        wrong = check_level(tree, department->children, department->child_count, department->fair_share, out_subject);
    }
    return wrong;
}
