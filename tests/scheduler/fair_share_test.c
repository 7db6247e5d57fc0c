// The division of one resource between the queues of one level: the worked examples of docs/scheduler.md, 2, and a
// second implementation that says the same more slowly, on random inputs. Run with a number to try that many.
#include "base/arena.h"
#include "scheduler/state/fair_share.h"
#include "tests/support/check.h"
#include "tests/support/plain_fair_share.h"
#include "tests/support/random_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_QUEUES = 4,
    RANDOM_INPUTS = 100000 // a million in make test-long
};

#define NO_LIMIT QUANTITY_UNLIMITED
#define G(gpus) ((int64_t)((gpus)*1000 + 0.5)) // devices in the form of the table

struct division_case {
    const char *name;
    int64_t total;
    int64_t unit;
    int64_t left;
    size_t count;
    struct share_claim claims[MOST_QUEUES];
    int64_t want[MOST_QUEUES];
};

#define CLAIM(d, w, r)                                                                              \
    {                                                                                               \
        .deserved = G(d), .limit = NO_LIMIT, .requested = G(r), .weight_milli = (w)*1000, .rank = 1 \
    }
#define RANKED(d, w, r, p)                                                                            \
    {                                                                                                 \
        .deserved = G(d), .limit = NO_LIMIT, .requested = G(r), .weight_milli = (w)*1000, .rank = (p) \
    }
#define LIMITED(d, w, r, l)                                                                     \
    {                                                                                           \
        .deserved = G(d), .limit = G(l), .requested = G(r), .weight_milli = (w)*1000, .rank = 1 \
    }
#define AGED(d, w, r, t)                                                                                               \
    {                                                                                                                  \
        .deserved = G(d), .limit = NO_LIMIT, .requested = G(r), .weight_milli = (w)*1000, .rank = 1, .created_ms = (t) \
    }
#define PLAIN(d, w, r)                                                                            \
    {                                                                                             \
        .deserved = (d), .limit = NO_LIMIT, .requested = (r), .weight_milli = (w)*1000, .rank = 1 \
    }
#define PLAIN_LIMITED(d, w, r, l)                                                            \
    {                                                                                        \
        .deserved = (d), .limit = (l), .requested = (r), .weight_milli = (w)*1000, .rank = 1 \
    }

static const struct division_case CASES[] = {
    {"it gets what it asks for", G(2), 1000, 0, 1, {CLAIM(3, 0, 2)}, {G(2)}},
    {"and no more", G(3), 1000, G(1), 1, {CLAIM(3, 0, 2)}, {G(2)}},
    {"a limit bounds it", G(3), 1000, G(1), 1, {LIMITED(3, 0, 9, 2)}, {G(2)}},
    {"deserved amounts are not scaled back", G(1), 1000, 0, 1, {CLAIM(3, 0, 2)}, {G(2)}},
    {"without weight nothing over quota", G(7), 1000, G(4), 1, {CLAIM(3, 0, 5)}, {G(3)}},
    {"deserved may be a fraction", G(2), 1000, G(0.5), 1, {CLAIM(1.5, 0, 2)}, {G(1.5)}},
    {"the request may be a fraction", G(2), 1000, G(0.5), 1, {CLAIM(3, 0, 1.5)}, {G(1.5)}},
    {"nothing deserved, no weight", G(2), 1000, G(2), 1, {CLAIM(0, 0, 2)}, {0}},
    {"unlimited quota: all it asks for",
     G(3),
     1000,
     0,
     1,
     {{.deserved = QUANTITY_UNLIMITED, .limit = NO_LIMIT, .requested = G(5)}},
     {G(3)}},
    {"two, all they want", G(15), 1000, G(3), 2, {CLAIM(2, 2, 6), CLAIM(2, 2, 6)}, {G(6), G(6)}},
    {"two, exactly", G(12), 1000, 0, 2, {CLAIM(2, 2, 6), CLAIM(2, 2, 6)}, {G(6), G(6)}},
    {"weights 1:3", G(8), 1000, 0, 2, {CLAIM(2, 1, 6), CLAIM(2, 3, 6)}, {G(3), G(5)}},
    {"a limit leaves some", G(12), 1000, G(1), 2, {LIMITED(2, 2, 6, 5), CLAIM(2, 2, 6)}, {G(5), G(6)}},
    {"the larger remainder gets the rest", G(11), 1000, 0, 2, {CLAIM(2, 1, 10), CLAIM(2, 4, 10)}, {G(3), G(8)}},
    {"equal remainders: the older", G(11), 1000, 0, 2, {AGED(2, 2, 6, 2), AGED(2, 2, 6, 1)}, {G(5), G(6)}},
    {"ranks, nothing over quota", G(4), 1000, 0, 2, {RANKED(2, 2, 6, 1), RANKED(2, 2, 6, 2)}, {G(2), G(2)}},
    {"the higher rank first", G(6), 1000, 0, 2, {RANKED(2, 2, 6, 1), RANKED(2, 2, 6, 2)}, {G(2), G(4)}},
    {"rank beats weight", G(6), 1000, 0, 2, {RANKED(2, 100, 6, 1), RANKED(2, 1, 6, 2)}, {G(2), G(4)}},
    {"equal in all: by name", G(5), 1000, 0, 2, {CLAIM(2, 2, 3), CLAIM(2, 2, 3)}, {G(3), G(2)}},
    {"three, ranks", G(5), 1000, 0, 3, {RANKED(2, 2, 5, 2), RANKED(2, 2, 5, 2), RANKED(1, 1, 0, 1)}, {G(3), G(2), 0}},
    {"CPU", 10000, 1, 0, 2, {PLAIN(5000, 5000, 10000), PLAIN(0, 0, 0)}, {10000, 0}},
    {"CPU, one wants more",
     10000,
     1,
     0,
     3,
     {PLAIN(5000, 1, 7000), PLAIN(5000, 1, 2000), PLAIN(5000, 1, 2000)},
     {6000, 2000, 2000}},
    {"CPU, oversubscribed",
     10000,
     1,
     0,
     3,
     {PLAIN(5000, 1, 7000), PLAIN(5000, 1, 5000), PLAIN(5000, 1, 2000)},
     {5000, 5000, 2000}},
    {"CPU, all oversubscribed",
     10000,
     1,
     0,
     3,
     {PLAIN(5000, 1, 5000), PLAIN(5000, 1, 5000), PLAIN(5000, 1, 5000)},
     {5000, 5000, 5000}},
    {"of 1000", 1000, 1, 0, 2, {PLAIN(250, 1, 5000), PLAIN(150, 1, 5000)}, {550, 450}},
    {"of 1000 with a limit", 1000, 1, 0, 2, {PLAIN(250, 1, 5000), PLAIN_LIMITED(150, 1, 5000, 400)}, {600, 400}},
    {"of 9999", 9999, 1, 0, 3, {PLAIN(1000, 1, 5000), PLAIN(1000, 1, 5000), PLAIN(1000, 1, 5000)}, {3333, 3333, 3333}},
    {"of 9999 by weight", 9999, 1, 0, 3, {PLAIN(0, 6, 9999), PLAIN(0, 2, 9999), PLAIN(0, 1, 9999)}, {6666, 2222, 1111}},
    {"everybody's request",
     G(45),
     1000,
     G(1.3),
     3,
     {CLAIM(12, 12, 32.55), CLAIM(7, 7, 9.5), LIMITED(2, 2, 1.65, 2)},
     {G(32.55), G(9.5), G(1.65)}},
    {"the rest of a unit goes to whoever wants", G(0.5), 1000, 0, 1, {CLAIM(0, 1, 2)}, {G(0.5)}},
};

static void check_cases(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct division_case *row = &CASES[i];
        struct share_claim claims[MOST_QUEUES];
        struct arena arena;
        arena_init(&arena);
        memcpy(claims, row->claims, sizeof(claims));
        int64_t left = fair_share_divide(
            claims, row->count, (struct share_terms){.total = row->total, .unit = row->unit, .k_micro = 0}, &arena);
        for (size_t q = 0; q < row->count; q++)
            check_int(claims[q].fair_share, row->want[q], "%s: queue %zu", row->name, q + 1);
        check_int(left, row->left, "%s: left", row->name);
        arena_done(&arena);
    }
}

struct surplus_case {
    const char *name;
    int64_t total, left, want;
    struct share_claim claim;
};

#define HAVING(d, w, r, l, fs)                                                                           \
    {                                                                                                    \
        .deserved = G(d), .limit = (l), .requested = G(r), .weight_milli = (w)*1000, .fair_share = G(fs) \
    }

static const struct surplus_case SURPLUS_CASES[] = {
    {"all of it", G(2), 0, G(5), HAVING(3, 1, 5, NO_LIMIT, 3)},
    {"up to the request", G(3), G(1), G(5), HAVING(3, 1, 5, NO_LIMIT, 3)},
    {"up to the limit", G(2), G(1), G(4), HAVING(3, 1, 5, 4000, 3)},
    {"up to the limit, more left", G(3), G(2), G(4), HAVING(3, 1, 5, 4000, 3)},
    {"no weight", G(2), G(2), G(3), HAVING(3, 0, 5, NO_LIMIT, 3)},
    {"a fraction", G(2), G(0.5), G(4.5), HAVING(3, 1, 4.5, NO_LIMIT, 3)},
    {"less than a unit", G(0.5), 0, G(3.5), HAVING(3, 1, 5, NO_LIMIT, 3)},
    {"nothing before", G(6), G(1), G(5), HAVING(0, 1, 5, NO_LIMIT, 0)},
};

static void check_surplus(void)
{
    for (size_t i = 0; i < COUNT(SURPLUS_CASES); i++) {
        const struct surplus_case *row = &SURPLUS_CASES[i];
        struct share_claim claim = row->claim;
        struct arena arena;
        arena_init(&arena);
        int64_t left = fair_share_divide_over_quota(
            &claim, 1, (struct share_terms){.total = row->total, .unit = 1000, .k_micro = 0}, &arena);
        check_int(claim.fair_share, row->want, "over quota: %s", row->name);
        check_int(left, row->left, "over quota: %s: left", row->name);
        arena_done(&arena);
    }
}

struct usage_case {
    const char *name;
    int64_t weights[2]; // thousandths
    int64_t usage_micro[2];
    int64_t k_micro;
    int64_t want[2]; // of 9000 units
};

static const struct usage_case USAGE_CASES[] = {
    {"no usage: k cancels", {1000, 1000}, {0, 0}, 1000000, {4500, 4500}},
    {"half a capacity used", {1000, 1000}, {500000, 0}, 1000000, {3000, 6000}},
    {"all used: nothing over quota", {1000, 1000}, {1000000, 0}, 1000000, {0, 9000}},
    {"k of 0: plain weights", {1000, 1000}, {1000000, 0}, 0, {4500, 4500}},
    // n = .9999 and .0001; s = .9899 and .0101 of 1
    {"a heavy past against a heavy weight", {10000000, 1000}, {1000000, 0}, 100000000, {8909, 91}},
};

static void check_usage(void)
{
    for (size_t i = 0; i < COUNT(USAGE_CASES); i++) {
        const struct usage_case *row = &USAGE_CASES[i];
        struct share_claim claims[2] = {0};
        struct arena arena;
        arena_init(&arena);
        for (size_t q = 0; q < 2; q++) {
            claims[q].limit = NO_LIMIT;
            claims[q].requested = 100000;
            claims[q].weight_milli = row->weights[q];
            claims[q].usage_micro = row->usage_micro[q];
        }
        fair_share_divide(claims, 2, (struct share_terms){.total = 9000, .unit = 1, .k_micro = row->k_micro}, &arena);
        for (size_t q = 0; q < 2; q++)
            check_int(claims[q].fair_share, row->want[q], "usage: %s: queue %zu", row->name, q + 1);
        arena_done(&arena);
    }
}

static void check_random(uint64_t seed)
{
    enum {
        MOST = 8
    };
    static const int64_t SCALES[] = {1000, 130, INT64_C(1) << 30}; // devices, parts of devices, bytes
    struct share_claim claims[MOST], plain[MOST];
    uint64_t random = seed;
    size_t count = 1 + random_below(&random, MOST);
    int64_t unit = random_below(&random, 2) ? 1000 : 1;
    int64_t scale = SCALES[random_below(&random, 3)];
    int64_t total = random_below(&random, 64) * scale;
    int64_t k_micro = random_below(&random, 3) ? 0 : random_below(&random, 9) * 500000;
    for (size_t i = 0; i < count; i++) {
        claims[i] = (struct share_claim){.deserved = random_below(&random, 16) * scale / 2,
                                         .limit = NO_LIMIT,
                                         .requested = random_below(&random, 200) * scale / 10,
                                         .weight_milli = random_below(&random, 5) * 700,
                                         .usage_micro = random_below(&random, 11) * 100000,
                                         .rank = random_below(&random, 4),
                                         .created_ms = random_below(&random, 3)};
        if (random_below(&random, 6) == 0)
            claims[i].deserved = QUANTITY_UNLIMITED;
        if (random_below(&random, 4) == 0)
            claims[i].limit = random_below(&random, 16) * scale * 7 / 10;
        plain[i] = claims[i];
    }
    struct arena arena;
    arena_init(&arena);
    struct share_terms terms = {.total = total, .unit = unit, .k_micro = k_micro};
    int64_t left = fair_share_divide(claims, count, terms, &arena);
    arena_done(&arena);
    check_int(left, plain_fair_share(plain, count, total, unit, k_micro), "seed %" PRIu64 ": left", seed);
    for (size_t i = 0; i < count; i++)
        check_int(claims[i].fair_share, plain[i].fair_share, "seed %" PRIu64 ": queue %zu", seed, i);
}

// Weights, usage and k whose exact shares would not fit: they are scaled down, and nothing is lost by that.
static void check_large(void)
{
    struct share_claim claims[3] = {0};
    struct arena arena;
    arena_init(&arena);
    for (size_t q = 0; q < 3; q++) {
        claims[q].limit = NO_LIMIT;
        claims[q].requested = INT64_C(1) << 60;
        claims[q].weight_milli = 1000000000000 - (int64_t)q;
        claims[q].usage_micro = 1000000 + 7 * (int64_t)q;
    }
    claims[2].weight_milli = 999;
    struct share_terms terms = {.total = INT64_C(1) << 50, .unit = 1, .k_micro = 1000};
    int64_t left = fair_share_divide(claims, 3, terms, &arena);
    check_int(left, 0, "large: everything is handed out");
    check_int(claims[0].fair_share + claims[1].fair_share + claims[2].fair_share, terms.total, "large: and no more");
    check_true(claims[0].fair_share > claims[1].fair_share, "large: more weight, less usage");
    check_true(claims[0].fair_share - claims[1].fair_share < terms.total / 1000, "large: by a little");
    check_int(fair_share_divide(NULL, 0, terms, &arena), terms.total, "nobody is there: all of it is left");
    arena_done(&arena);
}

int main(int argc, char **argv)
{
    check_cases();
    check_surplus();
    check_usage();
    check_large();
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : RANDOM_INPUTS;
    for (uint64_t seed = 1; seed <= count; seed++)
        check_random(seed);
    return check_finish();
}
