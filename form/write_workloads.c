// Workloads and pods of a written snapshot.
#include "base/json_writer.h"
#include "form/writer.h"

#include <string.h>

static void write_texts(struct json_writer *json, const char *key, const char *const *texts, size_t count)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < count; i++)
        json_value_text(json, texts[i]);
    json_end_array(json);
}

static void write_topology(struct json_writer *json, const struct snapshot *snapshot,
                           const struct snapshot_topology_constraint *constraint)
{
    if (constraint->topology == SNAPSHOT_NONE)
        return;
    const struct snapshot_topology *topology = &snapshot->topologies[constraint->topology];
    json_key(json, "topology");
    json_begin_object(json);
    json_text(json, "name", topology->name);
    if (constraint->required != SNAPSHOT_NONE)
        json_text(json, "required", topology->levels[constraint->required]);
    if (constraint->preferred != SNAPSHOT_NONE)
        json_text(json, "preferred", topology->levels[constraint->preferred]);
    json_end_object(json);
}

static bool has_children(const struct snapshot_workload *workload, uint32_t group)
{
    for (size_t i = 0; i < workload->sub_group_count; i++)
        if (workload->sub_groups[i].parent == group)
            return true;
    return false;
}

static void write_sub_groups(struct json_writer *json, const struct snapshot *snapshot,
                             const struct snapshot_workload *workload)
{
    json_key(json, "subGroups");
    json_begin_array(json);
    for (size_t i = 0; i < workload->sub_group_count; i++) {
        const struct snapshot_sub_group *group = &workload->sub_groups[i];
        json_begin_object(json);
        json_text(json, "name", group->name);
        if (group->parent != SNAPSHOT_NONE)
            json_text(json, "parent", workload->sub_groups[group->parent].name);
        if (!has_children(workload, (uint32_t)i))
            json_int(json, "minPods", group->min_pods);
        else if (group->min_sub_groups != SNAPSHOT_MIN_ALL)
            json_int(json, "minSubGroups", group->min_sub_groups);
        write_topology(json, snapshot, &group->topology);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_requirement(struct json_writer *json, const struct snapshot_requirement *requirement)
{
    json_begin_object(json);
    json_text(json, "key", requirement->key);
    json_text(json, "operator", REQUIREMENT_WORDS[requirement->operator]);
    write_texts(json, "values", requirement->values, requirement->value_count);
    json_end_object(json);
}

// What can stand in a nodeSelector: "one of these values", once a key. What else a caller put into a selector is
// written as one more expression of each affinity term, which says the same.
static bool is_plain(const struct snapshot_placement_rules *rules, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(rules->selector[i].key, rules->selector[at].key) == 0)
            return false;
    return rules->selector[at].operator== REQUIREMENT_IN;
}

static void write_affinity(struct json_writer *json, const struct snapshot_placement_rules *rules)
{
    size_t term_count = rules->affinity_term_count > 0 ? rules->affinity_term_count : 1;
    json_key(json, "nodeAffinity");
    json_begin_array(json);
    for (size_t i = 0; i < term_count; i++) {
        json_begin_object(json);
        json_key(json, "matchExpressions");
        json_begin_array(json);
        for (size_t j = 0; i < rules->affinity_term_count && j < rules->affinity_terms[i].requirement_count; j++)
            write_requirement(json, &rules->affinity_terms[i].requirements[j]);
        for (size_t j = 0; j < rules->selector_count; j++)
            if (!is_plain(rules, j))
                write_requirement(json, &rules->selector[j]);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_tolerations(struct json_writer *json, const struct snapshot_placement_rules *rules)
{
    json_key(json, "tolerations");
    json_begin_array(json);
    for (size_t i = 0; i < rules->toleration_count; i++) {
        const struct snapshot_toleration *toleration = &rules->tolerations[i];
        json_begin_object(json);
        if (toleration->key)
            json_text(json, "key", toleration->key);
        json_text(json, "operator", toleration->operator== TOLERATION_EQUAL ? "Equal" : "Exists");
        json_text(json, "value", toleration->value ? toleration->value : "");
        if (!toleration->any_effect)
            json_text(json, "effect", TAINT_EFFECT_WORDS[toleration->effect]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_rules(struct json_writer *json, const struct snapshot_placement_rules *rules)
{
    size_t other_count = 0;
    for (size_t i = 0; i < rules->selector_count; i++)
        other_count += !is_plain(rules, i);
    if (rules->selector_count > other_count) {
        json_key(json, "nodeSelector");
        json_begin_object(json);
        for (size_t i = 0; i < rules->selector_count; i++)
            if (is_plain(rules, i))
                write_texts(json, rules->selector[i].key, rules->selector[i].values, rules->selector[i].value_count);
        json_end_object(json);
    }
    if (rules->affinity_term_count + other_count > 0)
        write_affinity(json, rules);
    if (rules->toleration_count > 0)
        write_tolerations(json, rules);
    if (rules->node_type_count > 0)
        write_texts(json, "nodeTypes", rules->node_types, rules->node_type_count);
}

static void write_requests(struct json_writer *json, const struct snapshot *snapshot, const struct snapshot_pod *pod)
{
    json_int(json, "gpuDevices", pod->gpu_devices);
    if (pod->gpu_portion_milli > 0)
        json_milli(json, "gpuPortion", pod->gpu_portion_milli);
    if (pod->gpu_memory_mib > 0)
        json_int(json, "gpuMemoryMib", pod->gpu_memory_mib);
    json_milli(json, "cpuCores", pod->cpu_milli);
    json_int(json, "memoryBytes", pod->memory_bytes);
    write_extended(json, snapshot, pod->extended, pod->extended_count);
}

static void write_place(struct json_writer *json, const struct snapshot *snapshot, const struct snapshot_pod *pod)
{
    json_text(json, "status", snapshot_pod_status_name(pod->status));
    if (pod->node == SNAPSHOT_NONE)
        return;
    json_text(json, "node", snapshot->nodes[pod->node].name);
    if (pod->gpu_group_count > 0)
        write_texts(json, "gpuGroups", pod->gpu_groups, pod->gpu_group_count);
    if (pod->gpu_index_count == 0)
        return;
    json_key(json, "gpuIndices");
    json_begin_array(json);
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        json_value_int(json, pod->gpu_indices[i]);
    json_end_array(json);
}

static void write_pod(struct json_writer *json, const struct snapshot *snapshot, const struct snapshot_pod *pod)
{
    static const char *const ROLES[] = {
        [POD_ROLE_MASTER] = "master", [POD_ROLE_LAUNCHER] = "launcher", [POD_ROLE_HEAD] = "head"};
    json_begin_object(json);
    json_text(json, "name", pod->name);
    if (pod->sub_group != SNAPSHOT_NONE)
        json_text(json, "subGroup", snapshot->workloads[pod->workload].sub_groups[pod->sub_group].name);
    if (pod->priority != 0)
        json_int(json, "priority", pod->priority);
    if (pod->role != POD_ROLE_NONE)
        json_text(json, "role", ROLES[pod->role]);
    write_requests(json, snapshot, pod);
    if (pod->rules)
        write_rules(json, pod->rules);
    write_place(json, snapshot, pod);
    if (pod->started_ms != SNAPSHOT_TIME_NONE)
        write_time(json, "startedAt", pod->started_ms);
    json_end_object(json);
}

static void write_gang(struct json_writer *json, const struct snapshot *snapshot,
                       const struct snapshot_workload *workload)
{
    json_int(json, "minPods", workload->min_pods);
    json_key(json, "nodePools");
    json_begin_array(json);
    for (size_t i = 0; i < workload->node_pool_count; i++)
        json_value_text(json, snapshot->node_pools[workload->node_pools[i]].name);
    json_end_array(json);
    if (workload->min_sub_groups != SNAPSHOT_MIN_ALL)
        json_int(json, "minSubGroups", workload->min_sub_groups);
    if (workload->sub_group_count > 0)
        write_sub_groups(json, snapshot, workload);
    write_topology(json, snapshot, &workload->topology);
    if (workload->pod_affinity == POD_AFFINITY_NONE)
        return;
    json_key(json, "podAffinity");
    json_begin_object(json);
    json_text(json, "type", workload->pod_affinity == POD_AFFINITY_REQUIRED ? "required" : "preferred");
    json_text(json, "key", workload->pod_affinity_key);
    json_end_object(json);
}

static void write_past(struct json_writer *json, const struct snapshot_workload *workload)
{
    if (workload->staleness_grace_ms != SNAPSHOT_TIME_NONE && workload->staleness_grace_ms < 0)
        json_int(json, "stalenessGraceSeconds", -1);
    else if (workload->staleness_grace_ms != SNAPSHOT_TIME_NONE)
        json_milli(json, "stalenessGraceSeconds", workload->staleness_grace_ms);
    if (workload->stale_ms != SNAPSHOT_TIME_NONE)
        json_milli(json, "staleSeconds", workload->stale_ms);
    if (workload->preemption_delay_ms > 0)
        json_milli(json, "preemptionDelaySeconds", workload->preemption_delay_ms);
    if (workload->max_run_ms > 0)
        json_milli(json, "maxRunSeconds", workload->max_run_ms);
    if (workload->last_eviction_ms != SNAPSHOT_TIME_NONE)
        write_time(json, "lastEvictionAt", workload->last_eviction_ms);
    if (workload->displaced_count > 0) {
        json_int(json, "displacedTimes", workload->displaced_count);
        write_time(json, "lastDisplacedAt", workload->displaced_ms);
    }
    if (workload->deleting)
        json_bool(json, "deleting", true);
    if (workload->gate)
        json_text(json, "gate", workload->gate);
    if (workload->gate_until_ms > 0)
        write_time(json, "gateUntil", workload->gate_until_ms);
    if (workload->gate_is_final)
        json_bool(json, "gateIsFinal", true);
    if (workload->over_budget) {
        json_text(json, "overBudget", workload->over_budget);
        write_time(json, "overBudgetUntil", workload->over_budget_until_ms);
    }
    if (workload->promise != SNAPSHOT_PROMISE_NONE)
        json_int(json, "promise", workload->promise);
}

void write_workload(struct json_writer *json, const struct snapshot *snapshot, size_t index)
{
    const struct snapshot_workload *workload = &snapshot->workloads[index];
    json_begin_object(json);
    json_text(json, "name", workload->name);
    json_text(json, "project", snapshot->projects[workload->project].name);
    if (workload->person)
        json_text(json, "submittedBy", workload->person);
    write_time(json, "createdAt", workload->created_ms);
    json_int(json, "priority", workload->priority);
    json_text(json, "preemptibility", workload->preemptible ? "preemptible" : "non-preemptible");
    write_gang(json, snapshot, workload);
    write_past(json, workload);
    json_key(json, "pods");
    json_begin_array(json);
    for (size_t i = 0; i < workload->pod_count; i++)
        write_pod(json, snapshot, &snapshot->pods[workload->first_pod + i]);
    json_end_array(json);
    json_end_object(json);
}
