#include "scheduler/actions/evidence.h"

#include "base/arena.h"
#include "base/timestamp.h"
#include "scheduler/placing/explain.h"
#include "scheduler/placing/vacancy.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/wording.h"
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/min_run_time.h"

#include <string.h>

enum {
    MEMO_COUNT = 64
};

// What was asked, and the state in which it was answered.
struct evidence_key {
    uint32_t node_pool;
    uint32_t project;
    enum scheduler_action action;
    uint32_t opened; // divisions of the cycle so far: shares are others after each
    size_t decision_count;
    int64_t priority;
    struct amounts requested;
};

struct evidence_memo {
    struct {
        bool is_known;
        struct evidence_key key;
        struct evidence evidence;
    } slots[MEMO_COUNT];
};

// What one project holds, split by what can be said about it.
struct holding {
    int64_t held;
    int64_t non_preemptible;
    int64_t protected;
    int64_t higher_priority;
    int64_t reclaimable;
    int64_t until_ms;
};

static struct evidence_key make_key(const struct search *search, struct amounts requested)
{
    const struct cycle *cycle = search->cycle;
    return (struct evidence_key){.node_pool = search->pool->index,
                                 .project = search->workload->spec->project,
                                 .action = cycle->action,
                                 .opened = cycle->opened_count,
                                 .decision_count = cycle->journal->count,
                                 .priority = cycle->action == ACTION_PREEMPT ? search->workload->spec->priority : 0,
                                 .requested = requested};
}

static bool is_same_key(const struct evidence_key *a, const struct evidence_key *b)
{
    return a->node_pool == b->node_pool && a->project == b->project && a->action == b->action &&
           a->opened == b->opened && a->decision_count == b->decision_count && a->priority == b->priority &&
           memcmp(&a->requested, &b->requested, sizeof(a->requested)) == 0;
}

static size_t slot_of(const struct evidence_key *key)
{
    uint64_t hash = key->project * UINT64_C(31) + key->action;
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        hash = (hash ^ (uint64_t)key->requested.of[r]) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ (uint64_t)key->priority) >> 58; // MEMO_COUNT slots
}

// A pod that the workload keeps although others of it may be taken: of each group so many as its minimum.
static void add_protected(const struct cycle *cycle, const struct workload *victim, enum resource r, bool can_shrink,
                          struct holding *holding)
{
    for (uint32_t g = 0; g < victim->group_count; g++) {
        const struct group *group = &victim->groups[g];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < group->pod_count && !group->is_set; i++) {
            const struct pod *pod = &cycle->pods[victim->order[group->first_pod + i]];
            if (!pod_status_is_held(pod->state.status))
                continue;
            int64_t amount = request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib).of[r];
            if (!can_shrink || kept++ < group->minimum)
                holding->protected += amount;
            else
                holding->reclaimable += amount;
        }
    }
}

static int64_t held_of(const struct cycle *cycle, const struct workload *workload, enum resource r)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (pod_status_is_held(pod->state.status))
            sum += request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib).of[r];
    }
    return sum;
}

static void add_victim(struct search *search, struct workload *victim, enum resource r, struct holding *holding)
{
    struct cycle *cycle = search->cycle;
    int64_t until_ms = min_run_time_protects_until(cycle, search->pool, victim, search->workload);
    if (until_ms == SNAPSHOT_TIME_NONE) {
        holding->reclaimable += held_of(cycle, victim, r);
        return;
    }
    if (holding->until_ms == SNAPSHOT_TIME_NONE || until_ms < holding->until_ms)
        holding->until_ms = until_ms;
    add_protected(cycle, victim, r, min_run_time_can_shrink(victim), holding);
}

static bool is_above(const struct plan_evidence *a, const struct plan_evidence *b)
{
    return a->held != b->held ? a->held > b->held : a->project < b->project;
}

// Keeps those that hold most, largest first.
static void insert(struct evidence *evidence, struct plan_evidence *items, struct plan_evidence one)
{
    size_t at = evidence->count;
    if (at == PLAN_EVIDENCE_MAXIMUM) {
        evidence->more++;
        if (!is_above(&one, &items[at - 1]))
            return;
        at--;
    } else {
        evidence->count++;
    }
    for (; at > 0 && is_above(&one, &items[at - 1]); at--)
        items[at] = items[at - 1];
    items[at] = one;
}

static const char *word_share(struct arena *arena, const struct search *search, const struct queue *queue,
                              const struct queue *other, enum resource r, enum evidence_code code)
{
    const char *held = wording_amount(arena, r, other->allocated.of[r]);
    const char *who = other == queue ? arena_printf(arena, "%s holds", queue->name)
                                     : arena_printf(arena, "%s of %s holds", other->name, queue->name);
    if (code == EVIDENCE_WITHIN_QUOTA)
        return arena_printf(arena, "%s %s, within its quota of %s", who, held,
                            wording_number(arena, r, other->spec->deserved.of[r]));
    return arena_printf(arena, "%s %s, within its fair share of %s, and %s would go over its own quota", who, held,
                        wording_number(arena, r, queue_allocatable_share(other, r)),
                        cycle_queue(search->pool, search->workload)->name);
}

static const char *is_or_are(enum resource r, int64_t amount)
{
    return r == RESOURCE_MEMORY || amount == 1000 ? "is" : "are";
}

static const char *word_holding(struct arena *arena, const struct queue *queue, enum resource r,
                                const struct plan_evidence *evidence, const struct holding *holding)
{
    char text[TIMESTAMP_SIZE] = "";
    if (holding->until_ms != SNAPSHOT_TIME_NONE)
        timestamp_format(holding->until_ms, text);
    switch (evidence->code) {
    case EVIDENCE_TOPOLOGY_OR_NODE:
        return arena_printf(arena, "%s of the %s that %s holds could give way, but no lawful choice makes room",
                            wording_number(arena, r, holding->reclaimable), wording_amount(arena, r, holding->held),
                            queue->name);
    case EVIDENCE_PROTECTED:
        return arena_printf(arena, "%s of %s %s protected by minimum run times, the first until %s",
                            wording_amount(arena, r, holding->protected), queue->name, is_or_are(r, holding->protected),
                            text);
    case EVIDENCE_HIGHER_PRIORITY:
        return arena_printf(arena, "%s of %s %s held by work of at least the same priority",
                            wording_amount(arena, r, holding->higher_priority), queue->name,
                            is_or_are(r, holding->higher_priority));
    default:
        return arena_printf(arena, "%s of %s %s held by non-preemptible work",
                            wording_amount(arena, r, holding->non_preemptible), queue->name,
                            is_or_are(r, holding->non_preemptible));
    }
}

// The code of the largest part; what could give way comes first.
static enum evidence_code code_of(const struct holding *holding)
{
    if (holding->reclaimable > 0)
        return EVIDENCE_TOPOLOGY_OR_NODE;
    if (holding->higher_priority > holding->protected && holding->higher_priority >= holding->non_preemptible)
        return EVIDENCE_HIGHER_PRIORITY;
    return holding->protected > holding->non_preemptible ? EVIDENCE_PROTECTED : EVIDENCE_NON_PREEMPTIBLE;
}

// What else of it cannot be taken, behind the sentence about its largest part.
static const char *add_other_parts(struct arena *arena, const char *sentence, enum resource r, enum evidence_code code,
                                   const struct holding *holding)
{
    const struct {
        enum evidence_code code;
        int64_t amount;
        const char *why;
    } parts[] = {
        {EVIDENCE_HIGHER_PRIORITY, holding->higher_priority, "held by work of at least the same priority"},
        {EVIDENCE_PROTECTED, holding->protected, "protected by minimum run times"},
        {EVIDENCE_NON_PREEMPTIBLE, holding->non_preemptible, "held by non-preemptible work"},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].code != code && parts[i].amount > 0)
            sentence =
                arena_printf(arena, "%s, %s %s", sentence, wording_number(arena, r, parts[i].amount), parts[i].why);
    }
    return sentence;
}

static struct plan_evidence describe(const struct search *search, const struct queue *queue, enum resource r,
                                     const struct holding *holding)
{
    struct plan_evidence one = {.project = queue->index,
                                .code = code_of(holding),
                                .held = holding->held,
                                .reclaimable = holding->reclaimable,
                                .protected_until_ms = holding->until_ms};
    one.sentence = word_holding(search->cycle->arena, queue, r, &one, holding);
    if (one.code != EVIDENCE_TOPOLOGY_OR_NODE)
        one.sentence = add_other_parts(search->cycle->arena, one.sentence, r, one.code, holding);
    return one;
}

static struct holding open_holding(const struct queue *queue, enum resource r)
{
    return (struct holding){.held = queue->allocated.of[r],
                            .non_preemptible = queue->allocated_non_preemptible.of[r],
                            .until_ms = SNAPSHOT_TIME_NONE};
}

// Projects whose preemptible work may be looked at, where some of it may be protected: their holdings, by project.
static void look_at_holders(struct search *search, enum resource r, const bool *is_looked_at, struct holding *holdings)
{
    const struct pool *pool = search->pool;
    for (size_t i = 0; i < pool->holder_count; i++) {
        struct workload *victim = pool->holders[i];
        if (is_looked_at[victim->spec->project] && victim->spec->preemptible && victim->counts.held > 0 &&
            victim->home == pool->index)
            add_victim(search, victim, r, &holdings[victim->spec->project]);
    }
}

static void collect_reclaim(struct search *search, struct amounts requested, struct evidence *evidence,
                            struct plan_evidence *items, struct arena *scratch)
{
    struct cycle *cycle = search->cycle;
    const struct pool *pool = search->pool;
    size_t project_count = cycle->snapshot->project_count;
    enum resource r = wording_resource(requested);
    struct queue *own = cycle_queue(pool, search->workload);
    struct holding *holdings = arena_array(scratch, project_count, sizeof(*holdings));
    bool *is_looked_at = arena_array(scratch, project_count, sizeof(*is_looked_at));
    enum evidence_code *codes = arena_array(scratch, project_count, sizeof(*codes));
    bool looks = false;
    for (uint32_t p = 0; p < project_count; p++) {
        struct queue *queue = &pool->projects[p];
        if (queue == own || queue->allocated.of[r] <= 0)
            continue;
        holdings[p] = open_holding(queue, r);
        codes[p] = fairness_protects(own, requested, queue, NULL);
        if (codes[p] != EVIDENCE_CODE_COUNT)
            continue;
        if (holdings[p].held > holdings[p].non_preemptible && min_run_time_of(cycle, pool, p, search->workload) > 0)
            looks = is_looked_at[p] = true;
        else
            holdings[p].reclaimable = holdings[p].held - holdings[p].non_preemptible;
    }
    if (looks)
        look_at_holders(search, r, is_looked_at, holdings);
    for (uint32_t p = 0; p < project_count; p++) {
        struct queue *queue = &pool->projects[p];
        if (queue == own || queue->allocated.of[r] <= 0)
            continue;
        if (evidence->count == PLAN_EVIDENCE_MAXIMUM && holdings[p].held <= items[PLAN_EVIDENCE_MAXIMUM - 1].held) {
            evidence->more++; // without its sentence
            continue;
        }
        struct plan_evidence one = {
            .project = p, .code = codes[p], .held = holdings[p].held, .protected_until_ms = SNAPSHOT_TIME_NONE};
        if (codes[p] == EVIDENCE_CODE_COUNT) {
            one = describe(search, queue, r, &holdings[p]);
        } else {
            const struct queue *other;
            fairness_protects(own, requested, queue, &other);
            one.sentence = word_share(cycle->arena, search, queue, other, r, codes[p]);
        }
        insert(evidence, items, one);
    }
}

static void collect_preemption(struct search *search, struct amounts requested, struct evidence *evidence,
                               struct plan_evidence *items, struct arena *scratch)
{
    (void)scratch;
    const struct pool *pool = search->pool;
    enum resource r = wording_resource(requested);
    const struct queue *own = cycle_queue(pool, search->workload);
    struct holding holding = open_holding(own, r);
    if (holding.held <= 0)
        return;
    const struct holders *holders = &search_bounds_of(search->cycle, pool)->holders;
    for (size_t i = 0; i < holders->count[own->index]; i++) {
        struct workload *victim = holders->workloads[holders->first[own->index] + i];
        if (victim == search->workload || !holders_has(holders, victim))
            continue;
        if (victim->spec->priority >= search->workload->spec->priority)
            holding.higher_priority += held_of(search->cycle, victim, r);
        else
            add_victim(search, victim, r, &holding);
    }
    insert(evidence, items, describe(search, own, r, &holding));
}

typedef void (*asking)(struct search *search, struct amounts requested, struct evidence *evidence,
                       struct plan_evidence *items, struct arena *scratch);

// When some of it ends by itself.
static void add_end(const struct search *search, struct plan_evidence *one)
{
    char text[TIMESTAMP_SIZE];
    one->ends_ms = vacancy_first_end_ms(search->cycle, search->pool, one->project);
    if (one->ends_ms == SNAPSHOT_TIME_NONE)
        return;
    timestamp_format(one->ends_ms, text);
    one->sentence =
        arena_printf(search->cycle->arena, "%s; the first of it ends at %s by its time limit", one->sentence, text);
}

static struct evidence collect(struct search *search, struct amounts requested, asking ask)
{
    struct cycle *cycle = search->cycle;
    struct evidence_key key = make_key(search, requested);
    size_t slot = slot_of(&key);
    if (!cycle->evidence_memo)
        cycle->evidence_memo = arena_alloc(cycle->arena, sizeof(*cycle->evidence_memo));
    struct evidence_memo *memo = cycle->evidence_memo;
    if (memo->slots[slot].is_known && is_same_key(&memo->slots[slot].key, &key))
        return memo->slots[slot].evidence;
    struct evidence evidence = {.first_end_ms = SNAPSHOT_TIME_NONE};
    struct plan_evidence *items = arena_array(cycle->arena, PLAN_EVIDENCE_MAXIMUM, sizeof(*items));
    struct arena scratch;
    arena_init(&scratch);
    ask(search, requested, &evidence, items, &scratch);
    arena_done(&scratch);
    evidence.items = items;
    for (size_t i = 0; i < evidence.count; i++) {
        add_end(search, &items[i]);
        int64_t until_ms = items[i].protected_until_ms;
        if (until_ms != SNAPSHOT_TIME_NONE &&
            (evidence.first_end_ms == SNAPSHOT_TIME_NONE || until_ms < evidence.first_end_ms))
            evidence.first_end_ms = until_ms;
    }
    memo->slots[slot].is_known = true;
    memo->slots[slot].key = key;
    memo->slots[slot].evidence = evidence;
    return evidence;
}

struct evidence evidence_of_reclaim(struct search *search, struct amounts requested)
{
    return collect(search, requested, collect_reclaim);
}

struct evidence evidence_of_preemption(struct search *search, struct amounts requested)
{
    return collect(search, requested, collect_preemption);
}

void evidence_attach(struct plan_explanation *explanation, const struct evidence *evidence)
{
    explanation->evidence = evidence->items;
    explanation->evidence_count = evidence->count;
    explanation->evidence_more = evidence->more;
    explanation->until_ms = evidence->first_end_ms;
}
