#include "scheduler/order/workload_order.h"

#include "base/arena.h"
#include "base/compare.h"
#include "base/timestamp.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>

static int compare_priority(const struct workload *a, const struct workload *b)
{
    return compare_numbers(b->spec->priority, a->spec->priority);
}

// 0: some gang lacks pods; 1: all have just their minimum; 2: some has more.
static int elastic_state(const struct workload *workload, bool without_taken)
{
    int state = 1;
    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct group *group = &workload->groups[i];
        uint32_t left = group->counts.held - (without_taken ? group->taken : 0);
        if (group->is_set)
            continue;
        if (left < group->minimum)
            return 0;
        if (left > group->minimum)
            state = 2;
    }
    return state;
}

int workload_rest_state(const struct workload *workload)
{
    return elastic_state(workload, true);
}

static int compare_elastic_state(const struct workload *a, const struct workload *b)
{
    return elastic_state(a, false) - elastic_state(b, false);
}

static int compare_elastic_rest(const struct workload *a, const struct workload *b)
{
    return elastic_state(a, true) - elastic_state(b, true);
}

static int compare_age(const struct workload *a, const struct workload *b)
{
    return compare_numbers(a->spec->created_ms, b->spec->created_ms);
}

static int compare_name(const struct workload *a, const struct workload *b)
{
    return compare_numbers(a->index, b->index);
}

static int compare_turn(const struct workload *a, const struct workload *b)
{
    return compare_numbers(a->turn, b->turn);
}

static const char *word_priority(struct arena *arena, const struct workload *a, const struct workload *b)
{
    return arena_printf(arena, "Its priority is %" PRId64 ", the next workload's is %" PRId64, a->spec->priority,
                        b->spec->priority);
}

static const char *word_turn(struct arena *arena, const struct workload *a, const struct workload *b)
{
    return arena_printf(arena,
                        "Its submitter comes to %s GPU hours, the next one's to %s: past use, and an hour of what they "
                        "hold and of what of theirs comes first",
                        wording_number(arena, RESOURCE_GPU, a->turn), wording_number(arena, RESOURCE_GPU, b->turn));
}

static const char *word_elastic_state(struct arena *arena, const struct workload *a, const struct workload *b)
{
    static const char *const STATES[] = {"below its minimum", "at its minimum", "above its minimum"};
    return arena_printf(arena, "It is %s with %u pods, the next %s with %u", STATES[elastic_state(a, false)],
                        a->counts.held, STATES[elastic_state(b, false)], b->counts.held);
}

static const char *word_age(struct arena *arena, const struct workload *a, const struct workload *b)
{
    char older[TIMESTAMP_SIZE], younger[TIMESTAMP_SIZE];
    timestamp_format(a->spec->created_ms, older);
    timestamp_format(b->spec->created_ms, younger);
    return arena_printf(arena, "It was submitted at %s, the next at %s", older, younger);
}

static const char *word_name(struct arena *arena, const struct workload *a, const struct workload *b)
{
    (void)arena, (void)a, (void)b;
    return "Its name comes before the next workload's";
}

struct workload_rule {
    const char *text;
    int (*compare)(const struct workload *a, const struct workload *b);
    const char *(*word)(struct arena *arena, const struct workload *a, const struct workload *b);
};

// Who of a project is served next. The first rule that tells a and b apart decides.
static const struct workload_rule WORKLOAD_RULES[] = {
    {"higher priority first", compare_priority, word_priority},
    {"fair among people: who has used least first", compare_turn, word_turn},
    {"below its minimum before at its minimum before above", compare_elastic_state, word_elastic_state},
    {"older first", compare_age, word_age},
    {"name, to break every tie", compare_name, word_name},
};

// Who of a project gives way first is the last of this order: the same rules on what is left of a workload.
static const struct workload_rule VICTIM_RULES[] = {
    {"higher priority stays", compare_priority, NULL},
    {"fair among people: who has used least stays", compare_turn, NULL},
    {"what is left below its minimum stays before at its minimum before above", compare_elastic_rest, NULL},
    {"older stays", compare_age, NULL},
    {"name, to break every tie", compare_name, NULL},
};

enum {
    WORKLOAD_RULE_COUNT = sizeof(WORKLOAD_RULES) / sizeof(WORKLOAD_RULES[0])
};

static inline int compare_by(const struct workload_rule *rules, const struct workload *a, const struct workload *b,
                             const char **out_rule)
{
    int order = 0;
#pragma GCC unroll 8 // as in queue_order.c
    for (size_t i = 0; i < WORKLOAD_RULE_COUNT && order == 0; i++) {
        order = rules[i].compare(a, b);
        if (out_rule)
            *out_rule = rules[i].text;
    }
    return order;
}

int workload_compare(const struct workload *a, const struct workload *b, const char **out_rule)
{
    return compare_by(WORKLOAD_RULES, a, b, out_rule);
}

const char *workload_compare_words(struct arena *arena, const struct workload *a, const struct workload *b)
{
    for (size_t i = 0; i < WORKLOAD_RULE_COUNT; i++) {
        if (WORKLOAD_RULES[i].compare(a, b) != 0)
            return WORKLOAD_RULES[i].word(arena, a, b);
    }
    return "";
}

int workload_compare_victims(const struct workload *a, const struct workload *b, const char **out_rule)
{
    return compare_by(VICTIM_RULES, b, a, out_rule);
}

size_t workload_place_among_victims(struct workload *const *sorted, size_t count, const struct workload *workload)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (workload_compare_victims(sorted[middle], workload, NULL) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct amounts workload_left(const struct cycle *cycle, const struct workload *workload)
{
    struct amounts sum = {0};
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (pod_status_is_held(pod->state.status) && !pod->taken)
            sum = amounts_add(sum, request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib));
    }
    return sum;
}

uint32_t workload_count_left(const struct workload *workload)
{
    uint32_t left = workload->counts.held;
    for (uint32_t g = 0; g < workload->group_count; g++)
        left -= workload->groups[g].taken;
    return left;
}
