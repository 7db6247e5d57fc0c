#include "scheduler/state/rules.h"

#include "base/arena.h"
#include "scheduler/state/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const REFUSAL_TEXTS[NODE_REFUSAL_COUNT] = {
    [NODE_ACCEPTS] = "with room",
    [NODE_NOT_READY] = "not ready",
    [NODE_CORDONED] = "cordoned",
    [NODE_MIG_STRATEGY] = "with a MIG strategy for other requests",
    [NODE_TYPE] = "of another node type",
    [NODE_SELECTOR] = "without the labels asked for",
    [NODE_AFFINITY] = "without the labels of an affinity term",
    [NODE_TAINT] = "with a taint that is not tolerated",
    [NODE_POD_AFFINITY] = "away from the workload's other pods",
    [NODE_GPU_MEMORY_UNKNOWN] = "of unknown GPU memory",
    [NODE_FEW_GPUS] = "without enough free GPUs",
    [NODE_FEW_CPU] = "without enough free CPU",
    [NODE_LITTLE_MEMORY] = "without enough free memory",
    [NODE_FEW_EXTENDED] = "without enough free MIG instances or extended resources",
    [NODE_FEW_POD_SLOTS] = "with as many pods as they take",
    [NODE_OVER_QUOTA] = "where the GPU memory asked for is more than quota or limit leave",
};

const char *node_refusal_text(enum node_refusal refusal)
{
    return REFUSAL_TEXTS[refusal];
}

// A node's type has two spellings; the first counts where a node has both.
static const char NODE_TYPE_KEY[] = "run.ai/type", NODE_TYPE_OTHER_KEY[] = "run-ai/node-type";

static const char *label_value(const struct snapshot_node *node, const char *key)
{
    const char *value = node_label(node, key);
    return value || strcmp(key, NODE_TYPE_KEY) != 0 ? value : node_label(node, NODE_TYPE_OTHER_KEY);
}

static bool is_of_type(const struct snapshot_placement_rules *rules, const struct snapshot_node *node)
{
    const char *type = rules->node_type_count > 0 ? label_value(node, NODE_TYPE_KEY) : NULL;
    for (size_t i = 0; type && i < rules->node_type_count; i++)
        if (strcmp(rules->node_types[i], type) == 0)
            return true;
    return rules->node_type_count == 0;
}

static bool lists_value(const struct snapshot_requirement *requirement, const char *value)
{
    for (size_t i = 0; i < requirement->value_count; i++) {
        if (strcmp(requirement->values[i], value) == 0)
            return true;
    }
    return false;
}

static bool is_whole_number(const char *text, long long *out_number)
{
    char *end;
    errno = 0;
    *out_number = strtoll(text, &end, 10);
    return *text && !*end && errno == 0;
}

static bool compares(const struct snapshot_requirement *requirement, const char *value)
{
    long long number, bound;
    if (requirement->value_count != 1 || !is_whole_number(value, &number) ||
        !is_whole_number(requirement->values[0], &bound))
        return false;
    return requirement->operator== REQUIREMENT_GREATER ? number > bound : number<bound;
}

static bool holds(const struct snapshot_requirement *requirement, const struct snapshot_node *node)
{
    const char *value = label_value(node, requirement->key);
    switch (requirement->operator) {
    case REQUIREMENT_IN:
        return value && lists_value(requirement, value);
    case REQUIREMENT_NOT_IN:
        return !value || !lists_value(requirement, value);
    case REQUIREMENT_EXISTS:
        return value != NULL;
    case REQUIREMENT_DOES_NOT_EXIST:
        return value == NULL;
    case REQUIREMENT_GREATER:
    case REQUIREMENT_LESS:
        return value && compares(requirement, value);
    }
    return false;
}

static bool all_hold(const struct snapshot_requirement *requirements, size_t count, const struct snapshot_node *node)
{
    for (size_t i = 0; i < count; i++) {
        if (!holds(&requirements[i], node))
            return false;
    }
    return true;
}

static bool some_term_holds(const struct snapshot_placement_rules *rules, const struct snapshot_node *node)
{
    for (size_t i = 0; i < rules->affinity_term_count; i++) {
        const struct snapshot_affinity_term *term = &rules->affinity_terms[i];
        if (term->requirement_count > 0 && all_hold(term->requirements, term->requirement_count, node))
            return true;
    }
    return rules->affinity_term_count == 0;
}

static bool tolerates(const struct snapshot_toleration *toleration, const struct snapshot_taint *taint)
{
    if (!toleration->any_effect && toleration->effect != taint->effect)
        return false;
    if (!toleration->key || !*toleration->key)
        return toleration->operator== TOLERATION_EXISTS;
    if (strcmp(toleration->key, taint->key) != 0)
        return false;
    return toleration->operator== TOLERATION_EXISTS ||
           strcmp(toleration->value ? toleration->value : "", taint->value ? taint->value : "") == 0;
}

static bool tolerates_all(const struct snapshot_placement_rules *rules, const struct snapshot_node *node)
{
    for (size_t i = 0; i < node->taint_count; i++) {
        bool tolerated = node->taints[i].effect == TAINT_PREFER_NO_SCHEDULE;
        for (size_t t = 0; rules && t < rules->toleration_count && !tolerated; t++)
            tolerated = tolerates(&rules->tolerations[t], &node->taints[i]);
        if (!tolerated)
            return false;
    }
    return true;
}

static bool mig_strategy_takes(const struct request *request, const struct snapshot_node *node)
{
    if (!request->needs_gpu)
        return true;
    switch (node->mig_strategy) {
    case MIG_STRATEGY_NONE:
        return !request->is_mig;
    case MIG_STRATEGY_SINGLE:
        return !request->is_mig && request->shared_devices == 0;
    case MIG_STRATEGY_MIXED:
        return request->is_mig;
    }
    return false;
}

enum node_refusal rules_check(const struct cycle *cycle, const struct pod *pod, const struct node *node)
{
    (void)cycle;
    if (!node->spec->ready)
        return NODE_NOT_READY;
    return node->spec->cordoned ? NODE_CORDONED : rules_refusal(pod, node);
}

enum node_refusal rules_refusal(const struct pod *pod, const struct node *node)
{
    const struct snapshot_node *spec = node->spec;
    const struct snapshot_placement_rules *rules = pod->spec->rules;
    if (!mig_strategy_takes(&pod->request, spec))
        return NODE_MIG_STRATEGY;
    if (pod->request.shared_devices > 0 && node->gpu_memory_mib == 0 && node->capacity[DIMENSION_GPU] > 0)
        return NODE_GPU_MEMORY_UNKNOWN;
    if (rules && !is_of_type(rules, spec))
        return NODE_TYPE;
    if (rules && !all_hold(rules->selector, rules->selector_count, spec))
        return NODE_SELECTOR;
    if (rules && !some_term_holds(rules, spec))
        return NODE_AFFINITY;
    return tolerates_all(rules, spec) ? NODE_ACCEPTS : NODE_TAINT;
}

// What rules_check looks at in a pod: the kind of GPU request, and the rules by address.
struct rules_entry {
    unsigned kind;
    const struct snapshot_placement_rules *rules;
    bool *accepts;
};

struct rules_cache {
    struct rules_entry *entries;
    size_t count;
    size_t capacity;
    size_t last; // found last: neighbours mostly ask for the same
};

static unsigned request_kind(const struct request *request)
{
    if (!request->needs_gpu)
        return 0;
    if (request->is_mig)
        return 1;
    return request->shared_devices > 0 ? 2 : 3;
}

const bool *rules_accepting_nodes(struct cycle *cycle, const struct pod *pod)
{
    if (!cycle->rules)
        cycle->rules = arena_alloc(cycle->scratch, sizeof(*cycle->rules));
    struct rules_cache *cache = cycle->rules;
    unsigned kind = request_kind(&pod->request);
    const struct snapshot_placement_rules *rules = pod->spec->rules;
    for (size_t i = 0; i < cache->count; i++) {
        size_t at = (cache->last + i) % cache->count;
        const struct rules_entry *entry = &cache->entries[at];
        if (entry->kind == kind && entry->rules == rules) {
            cache->last = at;
            return entry->accepts;
        }
    }
    if (cache->count == cache->capacity)
        cache->entries =
            arena_grow(cycle->scratch, cache->entries, &cache->capacity, cache->count + 1, sizeof(*cache->entries));
    struct rules_entry *entry = &cache->entries[cache->count];
    *entry = (struct rules_entry){.kind = kind, .rules = rules};
    entry->accepts = arena_array(cycle->scratch, cycle->snapshot->node_count, sizeof(*entry->accepts));
    for (size_t n = 0; n < cycle->snapshot->node_count; n++)
        entry->accepts[n] = rules_check(cycle, pod, &cycle->nodes[n]) == NODE_ACCEPTS;
    cache->last = cache->count++;
    return entry->accepts;
}
