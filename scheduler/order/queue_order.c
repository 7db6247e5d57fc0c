#include "scheduler/order/queue_order.h"

#include "base/arena.h"
#include "base/compare.h"
#include "base/timestamp.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>

// What one unit of a resource is where a value stands for itself: a device, a millicore, a byte.
static const int64_t UNITS[RESOURCE_COUNT] = {[RESOURCE_GPU] = 1000, [RESOURCE_CPU] = 1, [RESOURCE_MEMORY] = 1};

static int compare_ratios(struct share_ratio a, struct share_ratio b)
{
    const __int128 left = a.part * b.whole, right = b.part * a.whole;
    return (left > right) - (left < right);
}

static struct share_ratio dominant_share(struct amounts value, struct amounts share, struct amounts total)
{
    struct share_ratio dominant = {0};
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        int64_t whole = share.of[r] == QUANTITY_UNLIMITED ? total.of[r] : share.of[r];
        struct share_ratio ratio = {value.of[r], whole, (enum resource)r};
        if (whole <= 0) // no share at all: a thousand times the value
            ratio = (struct share_ratio){(__int128)value.of[r] * 1000, UNITS[r], (enum resource)r};
        if (r == 0 || compare_ratios(ratio, dominant) > 0)
            dominant = ratio;
    }
    return dominant;
}

struct queue_key queue_key_make(const struct queue *queue, struct amounts next, struct amounts victims,
                                struct amounts pool_total)
{
    struct amounts with = amounts_add(queue->allocated, next);
    struct queue_key key = {.queue = queue, .with = with, .is_over = true, .is_starved = true};
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        key.allocatable_share.of[r] = queue_allocatable_share(queue, r);
        key.is_over = key.is_over && queue->fair_share.of[r] < queue->allocated.of[r];
        key.is_starved = key.is_starved && with.of[r] <= queue->spec->deserved.of[r];
        key.violates_zero_share = key.violates_zero_share || (key.allocatable_share.of[r] == 0 && with.of[r] > 0);
    }
    key.share_with = dominant_share(amounts_subtract(with, victims), key.allocatable_share, pool_total);
    key.share_without = dominant_share(queue->allocated, key.allocatable_share, pool_total);
    return key;
}

static int compare_over(const struct queue_key *a, const struct queue_key *b)
{
    return a->is_over - b->is_over;
}

static int compare_starved(const struct queue_key *a, const struct queue_key *b)
{
    return b->is_starved - a->is_starved;
}

static int compare_rank(const struct queue_key *a, const struct queue_key *b)
{
    return compare_numbers(b->queue->spec->rank, a->queue->spec->rank);
}

static int compare_zero_share(const struct queue_key *a, const struct queue_key *b)
{
    return a->violates_zero_share - b->violates_zero_share;
}

static int compare_share_with(const struct queue_key *a, const struct queue_key *b)
{
    return compare_ratios(a->share_with, b->share_with);
}

static int compare_share_without(const struct queue_key *a, const struct queue_key *b)
{
    return compare_ratios(a->share_without, b->share_without);
}

static int compare_allocatable_share(const struct queue_key *a, const struct queue_key *b)
{
    bool less = amounts_are_within(a->allocatable_share, b->allocatable_share);
    bool more = amounts_are_within(b->allocatable_share, a->allocatable_share);
    return more - less;
}

static int compare_age(const struct queue_key *a, const struct queue_key *b)
{
    return compare_numbers(a->queue->created_ms, b->queue->created_ms);
}

static int compare_name(const struct queue_key *a, const struct queue_key *b)
{
    return compare_numbers(a->queue->index, b->queue->index);
}

// "2 of its quota of 4 GPUs"
static const char *word_part(struct arena *arena, int64_t value, const char *of, int64_t whole, enum resource resource)
{
    return arena_printf(arena, "%s of %s %s", wording_number(arena, resource, value), of,
                        wording_amount(arena, resource, whole));
}

static const char *word_over(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    return arena_printf(arena,
                        "%s is not above its fair share in everything, %s is: it holds %s, and more than its "
                        "share of CPU and memory",
                        a->queue->name, b->queue->name,
                        word_part(arena, b->queue->allocated.of[RESOURCE_GPU], "its fair share of",
                                  b->queue->fair_share.of[RESOURCE_GPU], RESOURCE_GPU));
}

static const char *word_starved(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    enum resource r = RESOURCE_GPU;
    while (r + 1 < RESOURCE_COUNT && b->with.of[r] <= b->queue->spec->deserved.of[r])
        r++;
    return arena_printf(arena, "With its next workload %s holds %s, %s %s", a->queue->name,
                        word_part(arena, a->with.of[r], "its quota of", a->queue->spec->deserved.of[r], r),
                        b->queue->name,
                        word_part(arena, b->with.of[r], "its quota of", b->queue->spec->deserved.of[r], r));
}

static const char *word_rank(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    return arena_printf(arena, "%s has rank %" PRId64 ", %s %" PRId64, a->queue->name, a->queue->spec->rank,
                        b->queue->name, b->queue->spec->rank);
}

static const char *word_zero_share(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    enum resource r = RESOURCE_GPU;
    while (r + 1 < RESOURCE_COUNT && (b->allocatable_share.of[r] > 0 || b->with.of[r] == 0))
        r++;
    return arena_printf(arena, "With its next workload %s holds %s without any share of it, %s does not",
                        b->queue->name, wording_amount(arena, r, b->with.of[r]), a->queue->name);
}

static const char *word_share(struct arena *arena, const struct queue_key *key, enum resource r, bool is_with)
{
    return word_part(arena, is_with ? key->with.of[r] : key->queue->allocated.of[r], "a share of",
                     key->allocatable_share.of[r], r);
}

static const char *word_share_with(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    return arena_printf(arena, "With its next workload %s holds %s, %s %s", a->queue->name,
                        word_share(arena, a, a->share_with.resource, true), b->queue->name,
                        word_share(arena, b, b->share_with.resource, true));
}

static const char *word_share_without(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    return arena_printf(arena, "%s holds %s, %s %s", a->queue->name,
                        word_share(arena, a, a->share_without.resource, false), b->queue->name,
                        word_share(arena, b, b->share_without.resource, false));
}

static const char *word_allocatable_share(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    enum resource r = RESOURCE_GPU;
    while (r + 1 < RESOURCE_COUNT && a->allocatable_share.of[r] == b->allocatable_share.of[r])
        r++;
    return arena_printf(arena, "The share of %s is %s, the share of %s is %s", a->queue->name,
                        wording_amount(arena, r, a->allocatable_share.of[r]), b->queue->name,
                        wording_amount(arena, r, b->allocatable_share.of[r]));
}

static const char *word_age(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    char older[TIMESTAMP_SIZE], younger[TIMESTAMP_SIZE];
    timestamp_format(a->queue->created_ms, older);
    timestamp_format(b->queue->created_ms, younger);
    return arena_printf(arena, "%s was made at %s, %s at %s", a->queue->name, older, b->queue->name, younger);
}

static const char *word_name(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    return arena_printf(arena, "%s comes before %s by name", a->queue->name, b->queue->name);
}

struct queue_rule {
    const char *text;
    int (*compare)(const struct queue_key *a, const struct queue_key *b);
    const char *(*word)(struct arena *arena, const struct queue_key *a, const struct queue_key *b);
};

// Who is served next. The first rule that tells a and b apart decides.
static const struct queue_rule QUEUE_RULES[] = {
    {"not above its fair share in everything first", compare_over, word_over},
    {"within its deserved quota first", compare_starved, word_starved},
    {"higher rank first", compare_rank, word_rank},
    {"not using what it has no share of first", compare_zero_share, word_zero_share},
    {"smaller dominant share with its next workload first", compare_share_with, word_share_with},
    {"smaller dominant share first", compare_share_without, word_share_without},
    {"smaller allocatable share first", compare_allocatable_share, word_allocatable_share},
    {"older first", compare_age, word_age},
    {"name, to break every tie", compare_name, word_name},
};

int queue_compare(const struct queue_key *a, const struct queue_key *b, const char **out_rule)
{
    int order = 0;
#pragma GCC unroll 16 // so that the rules are called directly: this is where searches spend much of their time
    for (size_t i = 0; i < sizeof(QUEUE_RULES) / sizeof(QUEUE_RULES[0]) && order == 0; i++) {
        order = QUEUE_RULES[i].compare(a, b);
        if (out_rule)
            *out_rule = QUEUE_RULES[i].text;
    }
    return order;
}

const char *queue_compare_words(struct arena *arena, const struct queue_key *a, const struct queue_key *b)
{
    for (size_t i = 0; i < sizeof(QUEUE_RULES) / sizeof(QUEUE_RULES[0]); i++) {
        if (QUEUE_RULES[i].compare(a, b) != 0)
            return QUEUE_RULES[i].word(arena, a, b);
    }
    return "";
}
