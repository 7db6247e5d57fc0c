#include "scheduler/queue_order.h"

#include "scheduler/queue.h"

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
        struct share_ratio ratio = {value.of[r], whole};
        if (whole <= 0) // no share at all: a thousand times the value
            ratio = (struct share_ratio){(__int128)value.of[r] * 1000, UNITS[r]};
        if (r == 0 || compare_ratios(ratio, dominant) > 0)
            dominant = ratio;
    }
    return dominant;
}

struct queue_key queue_key_make(const struct queue *queue, struct amounts next, struct amounts victims,
                                struct amounts pool_total)
{
    struct queue_key key = {.queue = queue, .is_over = true, .is_starved = true};
    const struct amounts with = amounts_add(queue->allocated, next);
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

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
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
    const bool less = amounts_are_within(a->allocatable_share, b->allocatable_share);
    const bool more = amounts_are_within(b->allocatable_share, a->allocatable_share);
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

struct queue_rule {
    const char *text;
    int (*compare)(const struct queue_key *a, const struct queue_key *b);
};

// Who is served next. The first rule that tells a and b apart decides.
static const struct queue_rule QUEUE_RULES[] = {
    {"not above its fair share in everything first", compare_over},
    {"within its deserved quota first", compare_starved},
    {"higher rank first", compare_rank},
    {"not using what it has no share of first", compare_zero_share},
    {"smaller dominant share with its next workload first", compare_share_with},
    {"smaller dominant share first", compare_share_without},
    {"smaller allocatable share first", compare_allocatable_share},
    {"older first", compare_age},
    {"name, to break every tie", compare_name},
};

int queue_compare(const struct queue_key *a, const struct queue_key *b, const char **out_rule)
{
    int order = 0;
    for (size_t i = 0; i < sizeof QUEUE_RULES / sizeof QUEUE_RULES[0] && order == 0; i++) {
        order = QUEUE_RULES[i].compare(a, b);
        if (out_rule)
            *out_rule = QUEUE_RULES[i].text;
    }
    return order;
}
