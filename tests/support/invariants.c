#include "tests/support/invariants.h"

#include "scheduler/pod_status.h"
#include "tests/support/invariant_queues.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool breach_set(struct breach *breach, const char *rule, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    breach->rule = rule;
    vsnprintf(breach->subject, sizeof(breach->subject), format, args);
    va_end(args);
    return false;
}

static bool stands(enum snapshot_pod_status status)
{
    return status >= SNAPSHOT_POD_BINDING && status <= SNAPSHOT_POD_STUCK_IN_RELEASING;
}

static bool is_new(const struct view *view, size_t pod)
{
    return pod_status_is_held(view->plan->pods[pod].status) &&
           (!stands(view->snapshot->pods[pod].status) || view->plan->pods[pod].node != view->snapshot->pods[pod].node ||
            view->plan->pods[pod].status == SNAPSHOT_POD_PIPELINED);
}

static bool is_shared(const struct snapshot_pod *pod)
{
    return pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0;
}

// What pods take of one device; of a shared one in MiB, twice as exact as portions need.
struct device_use {
    bool is_taken;
    bool is_shared;
    bool has_new; // some pod has it since this cycle
    const char *group;
    int64_t mib;
};

static int64_t shared_mib(const struct snapshot_node *node, const struct snapshot_pod *pod)
{
    return pod->gpu_memory_mib > 0 ? pod->gpu_memory_mib : node->gpu_memory_mib * pod->gpu_portion_milli / 1000;
}

static bool use_device(struct breach *breach, const struct snapshot_node *node, const struct snapshot_pod *pod,
                       const struct plan_devices *devices, size_t i, bool has_new, struct device_use *uses)
{
    uint32_t gpu = devices->gpu_indices[i];
    const char *group = is_shared(pod) ? devices->gpu_groups[i] : "";
    if (gpu >= node->gpu_count)
        return breach_set(breach, "a device is one of the node's", "%s: device %u", pod->name, gpu);
    struct device_use *use = &uses[gpu];
    if (has_new && snapshot_gpu_is_unhealthy(node, gpu) && !use->is_taken)
        return breach_set(breach, "nothing new on a device that is not healthy", "%s: device %u of %s", pod->name, gpu,
                          node->name);
    has_new = has_new || use->has_new;
    if (use->is_taken && has_new && (!use->is_shared || !is_shared(pod) || strcmp(use->group, group) != 0))
        return breach_set(breach, "no device twice", "%s: device %u of %s", pod->name, gpu, node->name);
    *use = (struct device_use){true, is_shared(pod), has_new, group,
                               use->mib + (is_shared(pod) ? shared_mib(node, pod) : node->gpu_memory_mib)};
    if (has_new && use->mib > node->gpu_memory_mib && is_shared(pod))
        return breach_set(breach, "no device over its memory", "%s: device %u of %s", pod->name, gpu, node->name);
    return true;
}

// A pod that was placed in this cycle knows its devices; a promise that waits may not know them all yet.
static bool check_devices(const struct view *view, uint32_t index)
{
    const struct snapshot_node *node = &view->snapshot->nodes[index];
    struct device_use *uses = calloc(node->gpu_count + 1, sizeof(*uses));
    bool holds = true;
    for (size_t p = 0; p < view->snapshot->pod_count && holds; p++) {
        const struct snapshot_pod *pod = &view->snapshot->pods[p];
        const struct plan_pod *place = &view->plan->pods[p];
        const struct plan_devices *devices = &place->devices;
        if (place->node != index || !stands(place->status) || pod->gpu_devices == 0)
            continue;
        bool has_new = is_new(view, p);
        if (has_new && (devices->gpu_index_count != pod->gpu_devices ||
                        devices->gpu_group_count != (is_shared(pod) ? pod->gpu_devices : 0)))
            holds = breach_set(view->breach, "an index for each device, a group for each shared one", "%s", pod->name);
        for (size_t i = 0; i < devices->gpu_index_count && holds; i++)
            holds = use_device(view->breach, node, pod, devices, i, has_new, uses);
    }
    free(uses);
    return holds;
}

struct node_sums {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t pods;
    int64_t gpus; // whole ones
    int64_t extended[16];
};

static void add_pod(struct node_sums *sums, const struct snapshot_pod *pod)
{
    sums->cpu_milli += pod->cpu_milli;
    sums->memory_bytes += pod->memory_bytes;
    sums->pods++;
    sums->gpus += is_shared(pod) ? 0 : pod->gpu_devices;
    for (size_t i = 0; i < pod->extended_count; i++)
        if (pod->extended[i].resource < 16)
            sums->extended[pod->extended[i].resource] += pod->extended[i].count;
}

static bool exceeds(const struct snapshot_node *node, const struct node_sums *sums)
{
    if (sums->cpu_milli > node->cpu_milli || sums->memory_bytes > node->memory_bytes ||
        sums->pods > (int64_t)node->max_pods || sums->gpus > (int64_t)node->gpu_count)
        return true;
    int64_t offered[16] = {0};
    for (size_t i = 0; i < node->extended_count; i++)
        if (node->extended[i].resource < 16)
            offered[node->extended[i].resource] = node->extended[i].count;
    for (size_t r = 0; r < 16; r++)
        if (sums->extended[r] > offered[r])
            return true;
    return false;
}

// Now: what stands on the node. Later: what will, when everything that is being released is gone.
static bool check_node(const struct view *view, uint32_t index)
{
    const struct snapshot *snapshot = view->snapshot;
    struct node_sums now = {0}, later = {0}, was = {0};
    bool has_new = false, has_promise = false;
    for (size_t p = 0; p < snapshot->pod_count; p++) {
        const struct plan_pod *place = &view->plan->pods[p];
        if (snapshot->pods[p].node == index && stands(snapshot->pods[p].status))
            add_pod(&was, &snapshot->pods[p]);
        if (place->node != index)
            continue;
        if (stands(place->status))
            add_pod(&now, &snapshot->pods[p]);
        if (pod_status_is_held(place->status) || place->status == SNAPSHOT_POD_STUCK_IN_RELEASING)
            add_pod(&later, &snapshot->pods[p]);
        has_new = has_new || (place->status == SNAPSHOT_POD_BINDING && is_new(view, p));
        has_promise = has_promise || place->status == SNAPSHOT_POD_PIPELINED;
    }
    const struct snapshot_node *node = &snapshot->nodes[index];
    if (exceeds(node, &was) || view->before->nodes[index].idle_gpus < 0)
        return true; // it held too much already: what it may still take is not for these sums
    if (has_new && exceeds(node, &now))
        return breach_set(view->breach, "no node over its amounts", "%s", node->name);
    if (has_promise && exceeds(node, &later))
        return breach_set(view->breach, "no promise over a node's amounts", "%s", node->name);
    if (view->plan->nodes[index].idle_gpus < 0)
        return breach_set(view->breach, "idle GPUs are not negative", "%s", node->name);
    return true;
}

// What is being released stood there, or was bound there by this very plan; a promise leaves nothing behind.
static bool check_releasing(const struct view *view, size_t pod)
{
    const struct plan_pod *place = &view->plan->pods[pod];
    const struct snapshot_pod *before = &view->snapshot->pods[pod];
    bool stood = stands(before->status) && place->node == before->node;
    for (size_t i = 0; i < view->plan->decision_count && !stood; i++) {
        const struct plan_decision *decision = &view->plan->decisions[i];
        stood = decision->pod == pod && decision->verb == PLAN_BIND && decision->node == place->node;
    }
    if (place->status == SNAPSHOT_POD_RELEASING && !stood)
        return breach_set(view->breach, "what is being released stood there", "%s", before->name);
    return true;
}

// Members of a workload's tree: sub_group_count is the root; without sub-groups the root is a leaf.
struct gang {
    const struct view *view;
    const struct snapshot_workload *workload;
    bool after;         // as the plan leaves it, else as it was
    bool is_bound_only; // promises don't count
};

static uint32_t held_pods(const struct gang *gang, uint32_t leaf)
{
    uint32_t count = 0;
    for (uint32_t p = gang->workload->first_pod; p < gang->workload->first_pod + gang->workload->pod_count; p++) {
        const struct snapshot_pod *pod = &gang->view->snapshot->pods[p];
        enum snapshot_pod_status status = gang->after ? gang->view->plan->pods[p].status : pod->status;
        bool counts =
            gang->is_bound_only || !gang->after ? pod_status_is_allocated(status) : pod_status_is_held(status);
        count += counts && (gang->workload->sub_group_count == 0 || pod->sub_group == leaf);
    }
    return count;
}

static bool is_satisfied(const struct gang *gang, uint32_t member)
{
    const struct snapshot_workload *workload = gang->workload;
    bool is_root = member == workload->sub_group_count;
    if (is_root && workload->sub_group_count == 0)
        return held_pods(gang, SNAPSHOT_NONE) >= workload->min_pods;
    uint32_t children = 0, satisfied = 0;
    for (uint32_t g = 0; g < workload->sub_group_count; g++) {
        if (workload->sub_groups[g].parent != (is_root ? SNAPSHOT_NONE : member))
            continue;
        children++;
        satisfied += is_satisfied(gang, g); // a tree of at most 16 levels
    }
    if (children == 0)
        return is_root || held_pods(gang, member) >= workload->sub_groups[member].min_pods;
    uint32_t needed = is_root ? workload->min_sub_groups : workload->sub_groups[member].min_sub_groups;
    return satisfied >= (needed < children ? needed : children);
}

static uint32_t parent_of(const struct snapshot_workload *workload, uint32_t member)
{
    uint32_t parent = workload->sub_groups[member].parent;
    return parent == SNAPSHOT_NONE ? (uint32_t)workload->sub_group_count : parent;
}

static bool check_gang(const struct view *view, uint32_t index)
{
    const struct snapshot_workload *workload = &view->snapshot->workloads[index];
    uint32_t root = (uint32_t)workload->sub_group_count;
    struct gang before = {view, workload, false, false}, after = {view, workload, true, false};
    struct gang bound = {view, workload, true, true};
    bool gained = false, starts = false, keeps = false, was_stale = view->evicts_stale[index];
    for (uint32_t p = workload->first_pod; p < workload->first_pod + workload->pod_count; p++) {
        uint32_t leaf = view->snapshot->pods[p].sub_group;
        keeps = keeps || pod_status_is_held(view->plan->pods[p].status);
        if (!is_new(view, p))
            continue;
        gained = true;
        starts = starts || view->plan->pods[p].status == SNAPSHOT_POD_BINDING;
        bool was_held = pod_status_is_held(view->snapshot->pods[p].status); // what stood in part may move
        for (uint32_t member = leaf == SNAPSHOT_NONE ? root : leaf;; member = parent_of(workload, member)) {
            if (!is_satisfied(&after, member) && (!was_held || is_satisfied(&before, member)))
                return breach_set(view->breach, "a gang is placed whole", "%s", workload->name);
            if (member == root)
                break;
        }
    }
    if (starts && !view->evicts[index] && !is_satisfied(&bound, root))
        return breach_set(view->breach, "nothing of a gang starts while a part of its minimum waits", "%s",
                          workload->name);
    if (!gained && !was_stale && keeps && is_satisfied(&before, root) && !is_satisfied(&after, root))
        return breach_set(view->breach, "a gang is evicted whole or keeps its minimum", "%s", workload->name);
    return true;
}

static bool has_value(const struct snapshot_requirement *requirement, const char *value)
{
    for (size_t i = 0; i < requirement->value_count; i++)
        if (strcmp(requirement->values[i], value) == 0)
            return true;
    return false;
}

static bool matches(const struct snapshot_requirement *requirement, const struct snapshot_node *node)
{
    const char *value = NULL;
    for (size_t i = 0; i < node->label_count; i++)
        if (strcmp(node->labels[i].key, requirement->key) == 0)
            value = node->labels[i].value;
    switch (requirement->operator) {
    case REQUIREMENT_IN:
        return value && has_value(requirement, value);
    case REQUIREMENT_NOT_IN:
        return !value || !has_value(requirement, value);
    case REQUIREMENT_EXISTS:
        return value != NULL;
    case REQUIREMENT_DOES_NOT_EXIST:
        return value == NULL;
    case REQUIREMENT_GREATER:
        return value && atoll(value) > atoll(requirement->values[0]);
    case REQUIREMENT_LESS:
        return value && atoll(value) < atoll(requirement->values[0]);
    }
    return false;
}

static bool match_all(const struct snapshot_requirement *requirements, size_t count, const struct snapshot_node *node)
{
    for (size_t i = 0; i < count; i++)
        if (!matches(&requirements[i], node))
            return false;
    return true;
}

static bool tolerates(const struct snapshot_placement_rules *rules, const struct snapshot_taint *taint)
{
    for (size_t i = 0; rules && i < rules->toleration_count; i++) {
        const struct snapshot_toleration *toleration = &rules->tolerations[i];
        if ((!toleration->key || strcmp(toleration->key, taint->key) == 0) &&
            (toleration->operator== TOLERATION_EXISTS || strcmp(toleration->value, taint->value) == 0) &&
            (toleration->any_effect || toleration->effect == taint->effect))
            return true;
    }
    return false;
}

static bool may_take(const struct snapshot_node *node, const struct snapshot_placement_rules *rules)
{
    for (size_t i = 0; i < node->taint_count; i++)
        if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE && !tolerates(rules, &node->taints[i]))
            return false;
    if (!rules)
        return true;
    if (rules->node_type_count > 0 &&
        !match_all(
            &(struct snapshot_requirement){"run.ai/type", REQUIREMENT_IN, rules->node_types, rules->node_type_count}, 1,
            node))
        return false;
    bool any = rules->affinity_term_count == 0;
    for (size_t i = 0; i < rules->affinity_term_count && !any; i++)
        any = rules->affinity_terms[i].requirement_count > 0 && // a term that says nothing matches nothing
              match_all(rules->affinity_terms[i].requirements, rules->affinity_terms[i].requirement_count, node);
    return any && match_all(rules->selector, rules->selector_count, node);
}

static bool check_places(const struct view *view)
{
    for (size_t i = 0; i < view->plan->decision_count; i++) {
        const struct plan_decision *decision = &view->plan->decisions[i];
        const struct snapshot_workload *workload = &view->snapshot->workloads[decision->workload];
        const struct snapshot_pod *pod = &view->snapshot->pods[decision->pod];
        const struct snapshot_node *node = &view->snapshot->nodes[decision->node];
        if (!decision->why || !*decision->why)
            return breach_set(view->breach, "every decision says why", "%s", pod->name);
        if (decision->verb != PLAN_BIND && decision->verb != PLAN_PIPELINE)
            continue;
        if (!node->ready || node->cordoned)
            return breach_set(view->breach, "nothing new on a node that takes nothing", "%s", node->name);
        if (workload->deleting)
            return breach_set(view->breach, "what is being deleted gets nothing", "%s", workload->name);
        if (!may_take(node, pod->rules))
            return breach_set(view->breach, "selectors, affinity and taints hold", "%s on %s", pod->name, node->name);
        bool wanted = false;
        for (size_t p = 0; p < workload->node_pool_count; p++)
            wanted = wanted || workload->node_pools[p] == node->node_pool;
        if (!wanted)
            return breach_set(view->breach, "a workload stays in its pools", "%s on %s", pod->name, node->name);
    }
    return true;
}

// Of a workload that holds pods in one pool, new ones are in that pool too.
static bool check_pool(const struct view *view, uint32_t index)
{
    const struct snapshot_workload *workload = &view->snapshot->workloads[index];
    uint32_t pool = SNAPSHOT_NONE;
    bool mixed = false, gained = false, was_mixed = false;
    uint32_t was = SNAPSHOT_NONE;
    for (uint32_t p = workload->first_pod; p < workload->first_pod + workload->pod_count; p++) {
        const struct plan_pod *place = &view->plan->pods[p];
        const struct snapshot_pod *pod = &view->snapshot->pods[p];
        if (pod_status_is_allocated(pod->status)) {
            uint32_t of = view->snapshot->nodes[pod->node].node_pool;
            was_mixed = was_mixed || (was != SNAPSHOT_NONE && was != of);
            was = of;
        }
        if (!pod_status_is_held(place->status))
            continue;
        uint32_t of = view->snapshot->nodes[place->node].node_pool;
        mixed = mixed || (pool != SNAPSHOT_NONE && pool != of);
        pool = of;
        gained = gained || is_new(view, p);
    }
    if (gained && mixed && !was_mixed)
        return breach_set(view->breach, "a workload's pods are in one pool", "%s", workload->name);
    return true;
}

static const char *label_value(const struct snapshot_node *node, const char *key)
{
    for (size_t i = 0; i < node->label_count; i++)
        if (strcmp(node->labels[i].key, key) == 0)
            return node->labels[i].value;
    return NULL;
}

// Labels that pods of a group have to share. A node without one of all labels agrees with none, itself included.
struct together {
    const char *const *keys;
    size_t shared; // the first so many
    size_t all;
};

static bool are_together(const struct snapshot_node *a, const struct snapshot_node *b, const struct together *labels)
{
    for (size_t i = 0; i < labels->all; i++) {
        const char *mine = label_value(a, labels->keys[i]), *theirs = label_value(b, labels->keys[i]);
        if (!mine || !theirs || (i < labels->shared && strcmp(mine, theirs) != 0))
            return false;
    }
    return true;
}

static bool is_in_group(const struct snapshot_workload *workload, uint32_t leaf, uint32_t member)
{
    uint32_t root = (uint32_t)workload->sub_group_count;
    uint32_t at = leaf == SNAPSHOT_NONE ? root : leaf;
    while (at != member && at != root)
        at = parent_of(workload, at);
    return at == member;
}

// Pods of a member of a workload that have to be together are so after something was placed, if they were before.
static bool check_together(const struct view *view, const struct snapshot_workload *workload, uint32_t member,
                           const struct together *labels)
{
    const struct snapshot_node *nodes = view->snapshot->nodes, *first = NULL, *first_before = NULL;
    bool gained = false, together = true, were_together = true;
    for (uint32_t p = workload->first_pod; p < workload->first_pod + workload->pod_count; p++) {
        const struct snapshot_pod *pod = &view->snapshot->pods[p];
        const struct plan_pod *place = &view->plan->pods[p];
        if (!is_in_group(workload, pod->sub_group, member))
            continue;
        if (pod_status_is_allocated(pod->status)) {
            first_before = first_before ? first_before : &nodes[pod->node];
            were_together = were_together && are_together(first_before, &nodes[pod->node], labels);
        }
        if (!pod_status_is_held(place->status))
            continue;
        first = first ? first : &nodes[place->node];
        together = together && are_together(first, &nodes[place->node], labels);
        gained = gained || is_new(view, p);
    }
    return !gained || !were_together || together;
}

static bool check_required_together(const struct view *view, uint32_t index)
{
    const struct snapshot_workload *workload = &view->snapshot->workloads[index];
    uint32_t root = (uint32_t)workload->sub_group_count;
    struct together affinity = {&workload->pod_affinity_key, 1, 1};
    if (workload->pod_affinity == POD_AFFINITY_REQUIRED && !check_together(view, workload, root, &affinity))
        return breach_set(view->breach, "pods that must be together are", "%s", workload->name);
    for (uint32_t g = 0; g <= root; g++) {
        const struct snapshot_topology_constraint *constraint =
            g == root ? &workload->topology : &workload->sub_groups[g].topology;
        if (constraint->topology == SNAPSHOT_NONE || constraint->required == SNAPSHOT_NONE)
            continue;
        const struct snapshot_topology *topology = &view->snapshot->topologies[constraint->topology];
        struct together level = {topology->levels, constraint->required + 1, topology->level_count};
        if (!check_together(view, workload, g, &level))
            return breach_set(view->breach, "a required level holds all pods of its group", "%s", workload->name);
    }
    return true;
}

bool invariants_hold(const struct snapshot *snapshot, const struct plan *before, const struct plan *plan,
                     struct breach *out_breach)
{
    bool *evicts_stale = calloc(snapshot->workload_count + 1, sizeof(*evicts_stale));
    bool *evicts = calloc(snapshot->workload_count + 1, sizeof(*evicts));
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        bool takes = decision->verb == PLAN_EVICT || decision->verb == PLAN_WITHDRAW;
        evicts[decision->workload] = evicts[decision->workload] || takes;
        if (takes && decision->action == ACTION_STALE_GANG_EVICTION)
            evicts_stale[decision->workload] = true;
    }
    struct view view = {snapshot, before, plan, evicts, evicts_stale, out_breach};
    bool holds = check_places(&view) && invariant_statements_hold(&view);
    for (uint32_t n = 0; n < snapshot->node_count && holds; n++)
        holds = check_node(&view, n) && check_devices(&view, n);
    for (size_t p = 0; p < snapshot->pod_count && holds; p++)
        holds = check_releasing(&view, p);
    for (uint32_t w = 0; w < snapshot->workload_count && holds; w++)
        holds = check_gang(&view, w) && check_pool(&view, w) && check_required_together(&view, w);
    free(evicts);
    free(evicts_stale);
    return holds;
}
