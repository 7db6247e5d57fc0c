#include "scheduler/state/share_log.h"

#include "base/arena.h"
#include "scheduler/state/share_log.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>

const char *share_node_kind_name(enum share_node_kind kind)
{
    static const char *const NAMES[] = {"pool", "department", "project"};
    return NAMES[kind];
}

static void add_term(struct share_recorder *recorder, size_t claim, const struct share_term *term)
{
    struct share_log *log = (struct share_log *)recorder;
    const struct queue *queue = log->level[claim];
    struct share_term_list *list =
        queue->kind == QUEUE_KIND_PROJECT ? &log->projects[queue->index] : &log->departments[queue->index];
    if (list->count == list->capacity)
        list->items = arena_grow(log->arena, list->items, &list->capacity, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = *term;
}

struct share_log share_log_make(struct arena *arena, uint32_t node_pool, enum resource resource)
{
    return (struct share_log){.recorder = {add_term}, .arena = arena, .node_pool = node_pool, .resource = resource};
}

void share_log_begin(struct share_log *log, const struct cycle *cycle, const struct pool *pool)
{
    if (pool->index != log->node_pool)
        return;
    log->departments = arena_array(log->arena, pool->department_count, sizeof(*log->departments));
    log->projects = arena_array(log->arena, cycle->snapshot->project_count, sizeof(*log->projects));
}

struct share_recorder *share_log_level(struct share_log *log, const struct pool *pool, enum resource resource,
                                       struct queue *const *level)
{
    if (pool->index != log->node_pool || resource != log->resource)
        return NULL;
    log->level = level;
    return &log->recorder;
}

static const char *word_deserved(const struct share_log *log, const struct share_node *node,
                                 const struct share_term *term)
{
    enum resource r = log->resource;
    const char *asks = wording_number(log->arena, r, node->requested);
    const char *cap = node->limit < node->requested
                          ? arena_printf(log->arena, ", limit %s", wording_number(log->arena, r, node->limit))
                          : "";
    if (node->deserved == QUANTITY_UNLIMITED && term->given < term->want)
        return arena_printf(log->arena, "Deserves what it asks for, %s%s, and there %s %s", asks, cap,
                            term->of == 1000 ? "is" : "are", wording_number(log->arena, r, term->of));
    if (node->deserved == QUANTITY_UNLIMITED)
        return arena_printf(log->arena, "Deserves what it asks for, %s%s",
                            wording_amount(log->arena, r, node->requested), cap);
    if (node->deserved == 0)
        return arena_printf(log->arena, "Deserves none and asks for %s%s",
                            wording_amount(log->arena, r, node->requested), cap);
    return arena_printf(log->arena, "Deserves %s and asks for %s%s", wording_amount(log->arena, r, node->deserved),
                        asks, cap);
}

static const char *word_over_quota(const struct share_log *log, const struct share_term *term)
{
    enum resource r = log->resource;
    int64_t part = (int64_t)((__int128)term->of * term->part / term->part_sum);
    const char *text = arena_printf(log->arena, "Rank %" PRId64 ", round %u: %s of %s weights of %s is %s", term->rank,
                                    term->round, wording_number(log->arena, RESOURCE_GPU, term->weight_milli),
                                    wording_number(log->arena, RESOURCE_GPU, term->weight_sum_milli),
                                    wording_amount(log->arena, r, term->of), wording_number(log->arena, r, part));
    if ((__int128)term->weight_milli * term->part_sum != (__int128)term->part * term->weight_sum_milli)
        text = arena_printf(log->arena, "%s, past usage counted", text);
    if (term->given == term->want)
        return arena_printf(log->arena, "%s; it wants %s", text, wording_number(log->arena, r, term->want));
    if (term->remainder_whole > 0)
        return arena_printf(log->arena, "%s, rounded down to %s", text, wording_number(log->arena, r, term->given));
    return text;
}

static const char *word_term(const struct share_log *log, const struct share_node *node, const struct share_term *term)
{
    if (term->rule == SHARE_RULE_DESERVED)
        return word_deserved(log, node, term);
    if (term->rule == SHARE_RULE_OVER_QUOTA)
        return word_over_quota(log, term);
    return arena_printf(log->arena, "Number %u in the order of rounding remainders, with %s left", term->round,
                        wording_amount(log->arena, log->resource, term->of));
}

static const char *name_of(const struct snapshot *snapshot, const struct queue *queue, bool is_everybody)
{
    if (is_everybody)
        return "default";
    return queue->kind == QUEUE_KIND_PROJECT ? snapshot->projects[queue->index].name
                                             : snapshot->departments[queue->index].name;
}

static struct share_node make_node(const struct share_log *log, const struct snapshot *snapshot,
                                   const struct queue *queue, const struct share_term_list *list, bool is_everybody)
{
    enum resource r = log->resource;
    struct share_node node = {.kind = queue->kind == QUEUE_KIND_PROJECT ? SHARE_NODE_PROJECT : SHARE_NODE_DEPARTMENT,
                              .index = is_everybody ? SNAPSHOT_NONE : queue->index,
                              .name = name_of(snapshot, queue, is_everybody),
                              .fair_share = queue->fair_share.of[r],
                              .deserved = queue->spec->deserved.of[r],
                              .limit = queue->spec->limit.of[r],
                              .requested = queue->requested.of[r],
                              .allocated = queue->allocated.of[r],
                              .rank = queue->spec->rank,
                              .weight_milli = queue->spec->over_quota_weight_milli.of[r],
                              .usage_micro = queue->spec->usage_micro.of[r],
                              .created_ms = queue->created_ms,
                              .terms = list->items,
                              .term_count = list->count};
    for (size_t i = 0; i < list->count; i++)
        list->items[i].sentence = word_term(log, &node, &list->items[i]);
    return node;
}

void share_log_end(struct share_log *log, const struct cycle *cycle, const struct pool *pool)
{
    if (pool->index != log->node_pool)
        return;
    size_t project_count = cycle->snapshot->project_count;
    bool full = cycle->snapshot->settings.full_hierarchy_fairness;
    struct share_tree *tree = arena_alloc(log->arena, sizeof(*tree));
    struct share_node *departments = arena_array(log->arena, pool->department_count, sizeof(*departments));
    *tree = (struct share_tree){.node_pool = pool->index,
                                .resource = log->resource,
                                .total = pool->total.of[log->resource],
                                .unit = log->resource == RESOURCE_GPU ? GPU_MILLI_PER_DEVICE : 1,
                                .k_micro = pool->spec->fair_share_k_micro,
                                .root = {.kind = SHARE_NODE_POOL,
                                         .index = pool->index,
                                         .name = pool->spec->name,
                                         .fair_share = pool->total.of[log->resource],
                                         .deserved = QUANTITY_UNLIMITED,
                                         .limit = QUANTITY_UNLIMITED,
                                         .children = departments,
                                         .child_count = pool->department_count}};
    for (size_t d = 0; d < pool->department_count; d++) {
        const struct queue *department = &pool->departments[d];
        departments[d] = make_node(log, cycle->snapshot, department, &log->departments[d], !full);
        struct share_node *projects = arena_array(log->arena, project_count, sizeof(*projects));
        for (size_t p = 0; p < project_count; p++) {
            if (pool->projects[p].parent == department)
                projects[departments[d].child_count++] =
                    make_node(log, cycle->snapshot, &pool->projects[p], &log->projects[p], false);
        }
        departments[d].children = projects;
        tree->root.requested = quantity_add(tree->root.requested, departments[d].requested);
        tree->root.allocated += departments[d].allocated;
    }
    log->tree = tree;
}
