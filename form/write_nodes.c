// Nodes, topologies and queues of a written snapshot.
#include "base/json_writer.h"
#include "form/writer.h"

void write_extended(struct json_writer *json, const struct snapshot *snapshot,
                    const struct snapshot_extended_amount *amounts, size_t count)
{
    for (int mig = 1; mig >= 0; mig--) {
        bool begun = false;
        for (size_t i = 0; i < count; i++) {
            const struct snapshot_extended_resource *resource = &snapshot->extended_resources[amounts[i].resource];
            if (resource->is_mig != (mig == 1))
                continue;
            if (!begun) {
                json_key(json, mig ? "migInstances" : "extended");
                json_begin_object(json);
            }
            begun = true;
            json_int(json, resource->name, amounts[i].count);
        }
        if (begun)
            json_end_object(json);
    }
}

static void write_taints(struct json_writer *json, const struct snapshot_node *node)
{
    json_key(json, "taints");
    json_begin_array(json);
    for (size_t i = 0; i < node->taint_count; i++) {
        json_begin_object(json);
        json_text(json, "key", node->taints[i].key);
        json_text(json, "value", node->taints[i].value);
        json_text(json, "effect", TAINT_EFFECT_WORDS[node->taints[i].effect]);
        json_end_object(json);
    }
    json_end_array(json);
}

void write_node(struct json_writer *json, const struct snapshot *snapshot, size_t index)
{
    static const char *const MIG_STRATEGIES[] = {"none", "single", "mixed"};
    const struct snapshot_node *node = &snapshot->nodes[index];
    json_begin_object(json);
    json_text(json, "name", node->name);
    json_text(json, "nodePool", snapshot->node_pools[node->node_pool].name);
    json_int(json, "gpus", node->gpu_count);
    if (node->unhealthy_gpu_count > 0) {
        json_key(json, "unhealthyGpus");
        json_begin_array(json);
        for (size_t i = 0; i < node->unhealthy_gpu_count; i++)
            json_value_int(json, node->unhealthy_gpus[i]);
        json_end_array(json);
    }
    json_int(json, "gpuMemoryMib", node->gpu_memory_mib);
    if (node->gpu_type)
        json_text(json, "gpuType", node->gpu_type);
    json_milli(json, "cpuCores", node->cpu_milli);
    json_int(json, "memoryBytes", node->memory_bytes);
    json_int(json, "maxPods", node->max_pods);
    if (node->mig_strategy != MIG_STRATEGY_NONE)
        json_text(json, "migStrategy", MIG_STRATEGIES[node->mig_strategy]);
    write_extended(json, snapshot, node->extended, node->extended_count);
    json_key(json, "labels");
    json_begin_object(json);
    for (size_t i = 0; i < node->label_count; i++)
        json_text(json, node->labels[i].key, node->labels[i].value);
    json_end_object(json);
    if (node->taint_count > 0)
        write_taints(json, node);
    if (!node->ready)
        json_bool(json, "ready", false);
    if (node->cordoned)
        json_bool(json, "cordoned", true);
    json_end_object(json);
}

void write_topologies(struct json_writer *json, const struct snapshot *snapshot)
{
    json_key(json, "topologies");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->topology_count; i++) {
        const struct snapshot_topology *topology = &snapshot->topologies[i];
        json_begin_object(json);
        json_text(json, "name", topology->name);
        json_key(json, "levels");
        json_begin_array(json);
        for (size_t j = 0; j < topology->level_count; j++)
            json_value_text(json, topology->levels[j]);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static const char *const RESOURCE_KEYS[RESOURCE_COUNT] = {
    [RESOURCE_GPU] = "gpu", [RESOURCE_CPU] = "cpu", [RESOURCE_MEMORY] = "memory"};

static void write_amount(struct json_writer *json, const char *key, enum resource resource, int64_t amount)
{
    if (amount == QUANTITY_UNLIMITED)
        json_null_at(json, key);
    else if (resource == RESOURCE_MEMORY)
        json_int(json, key, amount);
    else
        json_milli(json, key, amount);
}

static void write_resources(struct json_writer *json, const struct snapshot *snapshot,
                            const struct snapshot_queue *queues)
{
    json_key(json, "resources");
    json_begin_array(json);
    for (size_t pool = 0; pool < snapshot->node_pool_count; pool++) {
        const struct snapshot_queue *queue = &queues[pool];
        json_begin_object(json);
        json_text(json, "nodePool", snapshot->node_pools[pool].name);
        json_int(json, "rank", queue->rank);
        for (size_t i = 0; i < RESOURCE_COUNT; i++) {
            json_key(json, RESOURCE_KEYS[i]);
            json_begin_object(json);
            write_amount(json, "deserved", (enum resource)i, queue->deserved.of[i]);
            write_amount(json, "limit", (enum resource)i, queue->limit.of[i]);
            json_milli(json, "overQuotaWeight", queue->over_quota_weight_milli.of[i]);
            json_end_object(json);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_min_run_times(struct json_writer *json, int64_t preempt_ms, int64_t reclaim_ms)
{
    if (preempt_ms != SNAPSHOT_TIME_NONE)
        json_milli(json, "preemptMinRuntimeSeconds", preempt_ms);
    if (reclaim_ms != SNAPSHOT_TIME_NONE)
        json_milli(json, "reclaimMinRuntimeSeconds", reclaim_ms);
}

void write_department(struct json_writer *json, const struct snapshot *snapshot, size_t index)
{
    const struct snapshot_department *department = &snapshot->departments[index];
    json_begin_object(json);
    json_text(json, "name", department->name);
    write_time(json, "createdAt", department->created_ms);
    write_min_run_times(json, department->preempt_min_run_time_ms, department->reclaim_min_run_time_ms);
    write_resources(json, snapshot, department->queues);
    json_end_object(json);
}

void write_project(struct json_writer *json, const struct snapshot *snapshot, size_t index)
{
    const struct snapshot_project *project = &snapshot->projects[index];
    json_begin_object(json);
    json_text(json, "name", project->name);
    json_text(json, "department", snapshot->departments[project->department].name);
    write_time(json, "createdAt", project->created_ms);
    write_min_run_times(json, project->preempt_min_run_time_ms, project->reclaim_min_run_time_ms);
    if (project->person_gpu_limit_milli != QUANTITY_UNLIMITED)
        json_milli(json, "maxGpusPerPerson", project->person_gpu_limit_milli);
    if (project->person_workload_limit != SNAPSHOT_COUNT_UNLIMITED)
        json_int(json, "maxWorkloadsPerPerson", project->person_workload_limit);
    if (project->is_fair_among_people)
        json_bool(json, "fairAmongPeople", true);
    write_resources(json, snapshot, project->queues);
    json_end_object(json);
}

static void write_usage_of(struct json_writer *json, const struct snapshot *snapshot, const char *kind,
                           const char *name, const struct snapshot_queue *queues)
{
    for (size_t pool = 0; pool < snapshot->node_pool_count; pool++) {
        const struct amounts *usage = &queues[pool].usage_micro;
        if (usage->of[RESOURCE_GPU] == 0 && usage->of[RESOURCE_CPU] == 0 && usage->of[RESOURCE_MEMORY] == 0)
            continue;
        json_begin_object(json);
        json_text(json, "kind", kind);
        json_text(json, "name", name);
        json_text(json, "nodePool", snapshot->node_pools[pool].name);
        for (size_t i = 0; i < RESOURCE_COUNT; i++)
            json_number(json, RESOURCE_KEYS[i], (double)usage->of[i] / 1e6);
        json_end_object(json);
    }
}

void write_usage(struct json_writer *json, const struct snapshot *snapshot)
{
    json_key(json, "usage");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->project_count; i++)
        write_usage_of(json, snapshot, "project", snapshot->projects[i].name, snapshot->projects[i].queues);
    for (size_t i = 0; i < snapshot->department_count; i++)
        write_usage_of(json, snapshot, "department", snapshot->departments[i].name, snapshot->departments[i].queues);
    json_end_array(json);
}

void write_people(struct json_writer *json, const struct snapshot *snapshot)
{
    bool is_open = false;
    for (size_t i = 0; i < snapshot->project_count; i++) {
        const struct snapshot_project *project = &snapshot->projects[i];
        for (size_t k = 0; k < project->person_count; k++) {
            if (!is_open) {
                json_key(json, "people");
                json_begin_array(json);
                is_open = true;
            }
            json_begin_object(json);
            json_text(json, "project", project->name);
            json_text(json, "name", project->people[k].name);
            json_milli(json, "gpuHours", project->people[k].use_gpu_hours_milli);
            json_end_object(json);
        }
    }
    if (is_open)
        json_end_array(json);
}
