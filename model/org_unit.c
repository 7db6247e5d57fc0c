#include "model/org_unit.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "model/names.h"

#include <inttypes.h>
#include <string.h>

enum {
    DESCRIPTION_MAX = 4096, // bytes
    DEFAULT_POOLS_MAX = 64,
    NODE_TYPES_MAX = 64,
};

static const struct {
    const char *key;
    bool is_nearest; // the project's, where it has one; else the stricter of the two
} SCHEDULING_RULES[] = {
    {"interactiveJobTimeLimitSeconds", false},
    {"interactiveJobMaxIdleDurationSeconds", false},
    {"interactiveJobPreemptIdleDurationSeconds", false},
    {"trainingJobMaxIdleDurationSeconds", false},
    {"trainingJobTimeLimitSeconds", false},
    {"preemptMinRuntimeSeconds", true},
    {"reclaimMinRuntimeSeconds", true},
    {"fairAmongPeople", true},
    {"fairHalfLifeSeconds", true},
    {"maxGpusPerPerson", true},
    {"maxWaitingGpusPerPerson", true},
    {"maxWorkloadsPerPerson", true},
    {"gpuHourBudget", true},
    {"gpuHourBudgetPerPerson", true},
    {"budgetPeriod", true},
    {"budgetEnforcement", true},
};
enum {
    SCHEDULING_RULE_COUNT = sizeof(SCHEDULING_RULES) / sizeof(SCHEDULING_RULES[0])
};

const char *org_unit_kind_text(enum org_unit_kind kind)
{
    return kind == ORG_UNIT_PROJECT ? "project" : "department";
}

static const char *dump(const json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT);
    const char *copy = arena_strdup(arena, text);
    free(text);
    return copy;
}

// The rules that are set; NULL where none is.
static const char *take_rules(const json_t *body, struct arena *arena)
{
    const json_t *rules = json_object_get(body, "schedulingRules");
    json_t *kept = json_object();
    for (size_t i = 0; i < SCHEDULING_RULE_COUNT; i++) {
        json_t *value = json_object_get(rules, SCHEDULING_RULES[i].key);
        if (json_is_number(value) || json_is_boolean(value) || json_is_string(value))
            json_object_set(kept, SCHEDULING_RULES[i].key, value);
    }
    const char *text = json_object_size(kept) ? dump(kept, arena) : NULL;
    json_decref(kept);
    return text;
}

static int take_text(const json_t *body, const char *key, const char *fallback, const char **out_text,
                     struct arena *arena, struct error *err)
{
    const json_t *value = json_object_get(body, key);
    *out_text = json_is_string(value) ? arena_strdup(arena, json_string_value(value)) : fallback;
    if (json_is_string(value) && json_string_length(value) > DESCRIPTION_MAX)
        return error_set(err, ERROR_INVALID, "%s: at most %d bytes, got %zu", key, DESCRIPTION_MAX,
                         json_string_length(value));
    return 0;
}

static int take_default_pools(struct org_unit *unit, const json_t *body, struct arena *arena, struct error *err)
{
    const json_t *pools = json_object_get(body, "defaultNodePools");
    unit->default_node_pools_json = NULL;
    if (json_array_size(pools) == 0)
        return 0;
    if (json_array_size(pools) > DEFAULT_POOLS_MAX)
        return error_set(err, ERROR_INVALID, "defaultNodePools: at most %d, got %zu", DEFAULT_POOLS_MAX,
                         json_array_size(pools));
    unit->default_node_pools_json = dump(pools, arena);
    return 0;
}

static int take_node_types(struct org_unit *unit, const json_t *body, struct arena *arena, struct error *err)
{
    const json_t *types = json_object_get(body, "nodeTypes");
    unit->node_types_json = NULL;
    if (json_object_size(types) == 0)
        return 0;
    size_t count = json_array_size(json_object_get(types, "training")) +
                   json_array_size(json_object_get(types, "workspace")) +
                   json_object_size(json_object_get(types, "names"));
    if (count > NODE_TYPES_MAX)
        return error_set(err, ERROR_INVALID, "nodeTypes: at most %d names, got %zu", NODE_TYPES_MAX, count);
    unit->node_types_json = dump(types, arena);
    return 0;
}

static int take_project(struct org_unit *unit, const json_t *body, struct arena *arena, struct error *err)
{
    const json_t *enforce = json_object_get(body, "enforceRunaiScheduler");
    unit->enforce_scheduler = enforce == NULL || !json_is_false(enforce);
    const char *parent = json_string_value(json_object_get(body, "parentId"));
    if (parent) {
        size_t length = strlen(parent);
        if (length == 0 || length > 18 || strspn(parent, "0123456789") != length)
            return error_set(err, ERROR_INVALID, "parentId: no department \"%.60s\"", parent);
        unit->department_id = strtoll(parent, NULL, 10);
    }
    const json_t *name_space = json_object_get(body, "requestedNamespace");
    if (!json_is_string(name_space) || json_string_length(name_space) == 0)
        return 0;
    unit->requested_namespace = arena_strdup(arena, json_string_value(name_space));
    return name_check(unit->requested_namespace, NAME_MAX_LENGTH, "requestedNamespace", err);
}

int org_unit_from_json(struct org_unit *unit, const json_t *body, struct arena *arena, struct error *err)
{
    const char *name = json_string_value(json_object_get(body, "name"));
    bool is_project = unit->kind == ORG_UNIT_PROJECT;
    if (name && !unit->id) {
        unit->name = arena_strdup(arena, name);
        if (name_check(name, is_project ? PROJECT_NAME_MAX_LENGTH : NAME_MAX_LENGTH, "name", err) < 0)
            return -1;
    }
    unit->scheduling_rules_json = take_rules(body, arena);
    if (take_text(body, "description", "", &unit->description, arena, err) < 0 ||
        take_default_pools(unit, body, arena, err) < 0 || take_node_types(unit, body, arena, err) < 0)
        return -1;
    return is_project ? take_project(unit, body, arena, err) : 0;
}

static struct queue *find_queue(const struct org_unit *unit, int64_t node_pool_id)
{
    for (size_t i = 0; i < unit->queue_count; i++)
        if (node_pool_id == 0 || unit->queues[i].node_pool_id == node_pool_id)
            return &unit->queues[i];
    return NULL;
}

// The defaults in place of the settings; identity and figures stay.
static void reset_queue(struct queue *queue)
{
    struct queue old = *queue;
    struct queue_resource *now[] = {&queue->gpu, &queue->cpu, &queue->memory};
    const struct queue_resource *before[] = {&old.gpu, &old.cpu, &old.memory};
    queue_defaults(queue);
    queue->id = old.id;
    queue->owner_id = old.owner_id;
    for (int i = 0; i < 3; i++) {
        now[i]->fair_share = before[i]->fair_share;
        now[i]->allocated = before[i]->allocated;
        now[i]->allocated_non_preemptible = before[i]->allocated_non_preemptible;
        now[i]->requested = before[i]->requested;
    }
}

int org_unit_take_resources(struct org_unit *unit, const json_t *resources, const char *path, bool replace,
                            struct arena *arena, struct error *err)
{
    bool *is_named = arena_array(arena, unit->queue_count, sizeof(*is_named));
    for (size_t i = 0; replace && i < unit->queue_count; i++)
        reset_queue(&unit->queues[i]);
    for (size_t i = 0; i < json_array_size(resources); i++) {
        const json_t *entry = json_array_get(resources, i);
        const char *place = arena_printf(arena, "%s[%zu].", path, i);
        struct queue pool = {.memory_units = "MB"};
        if (queue_take_pool_id(&pool, entry, place, err) < 0)
            return -1;
        struct queue *queue = find_queue(unit, pool.node_pool_id);
        if (!queue)
            return error_set(err, ERROR_INVALID, "%snodePool.id: no node pool \"%" PRId64 "\"", place,
                             pool.node_pool_id);
        if (is_named[queue - unit->queues])
            return error_set(err, ERROR_INVALID, "%snodePool.id: duplicate: %s", place, queue->node_pool_name);
        is_named[queue - unit->queues] = true;
        if (queue_from_json(queue, entry, place, arena, err) < 0)
            return -1;
    }
    return 0;
}

static void write_id(struct json_writer *json, const char *key, int64_t id)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, id);
    json_text(json, key, text);
}

static void write_link(struct json_writer *json, int64_t id, const char *name)
{
    json_begin_object(json);
    write_id(json, "id", id);
    json_text(json, "name", name);
    json_end_object(json);
}

// The stricter of two limits: a project can tighten what its department says, not loosen it. A protection is the
// project's own affair.
static void write_effective_rules(const char *own_json, const char *inherited_json, struct json_writer *json)
{
    json_t *own = own_json ? json_loads(own_json, 0, NULL) : NULL;
    json_t *inherited = inherited_json ? json_loads(inherited_json, 0, NULL) : NULL;
    json_key(json, "schedulingRules");
    json_begin_object(json);
    for (size_t i = 0; i < SCHEDULING_RULE_COUNT; i++) {
        const char *key = SCHEDULING_RULES[i].key;
        const json_t *mine = json_object_get(own, key), *theirs = json_object_get(inherited, key);
        bool takes_mine = mine && (!theirs || SCHEDULING_RULES[i].is_nearest ||
                                   json_integer_value(mine) < json_integer_value(theirs));
        const json_t *value = takes_mine ? mine : theirs;
        if (json_is_boolean(value))
            json_bool(json, key, json_is_true(value));
        else if (json_is_string(value))
            json_text(json, key, json_string_value(value));
        else if (value)
            json_number(json, key, json_number_value(value));
    }
    json_end_object(json);
    json_decref(own);
    json_decref(inherited);
}

// Kind by kind the project's list, else the department's; what their ids are called comes from both.
static void write_effective_node_types(const struct org_unit *unit, struct json_writer *json)
{
    json_t *own = unit->node_types_json ? json_loads(unit->node_types_json, 0, NULL) : NULL;
    json_t *types = unit->department_node_types_json ? json_loads(unit->department_node_types_json, 0, NULL) : NULL;
    if (!types)
        types = json_object();
    json_t *names = json_incref(json_object_get(types, "names"));
    const char *key;
    json_t *value;
    json_object_foreach(own, key, value)
        if (strcmp(key, "names") == 0 || json_array_size(value) > 0)
            json_object_set(types, key, value);
    if (names && json_object_get(types, "names"))
        json_object_update_missing(json_object_get(types, "names"), names);
    char *text = json_dumps(types, JSON_COMPACT | JSON_SORT_KEYS);
    json_raw(json, "nodeTypes", text);
    free(text);
    json_decref(names);
    json_decref(types);
    json_decref(own);
}

static void write_effective(const struct org_unit *unit, struct json_writer *json)
{
    json_key(json, "effective");
    json_begin_object(json);
    write_effective_rules(unit->scheduling_rules_json, unit->department_scheduling_rules_json, json);
    json_raw(json, "defaultNodePools", unit->effective_node_pools_json);
    write_effective_node_types(unit, json);
    json_end_object(json);
}

// What nobody measured is left out.
static void write_measured(struct json_writer *json, const char *key, double value)
{
    if (value >= 0)
        json_number(json, key, value);
}

static void write_overtime(const struct overtime *overtime, struct json_writer *json)
{
    static const char *const RANGE[] = {
        [OVERTIME_24H] = "range24hData", [OVERTIME_7D] = "range7dData", [OVERTIME_30D] = "range30dData"};
    json_key(json, "overtimeData");
    json_begin_object(json);
    for (int i = 0; i < OVERTIME_RANGE_COUNT && overtime->updated_ms; i++) {
        json_key(json, RANGE[i]);
        json_begin_object(json);
        json_number(json, "averageGpuAllocation", overtime->gpu_allocation[i]);
        write_measured(json, "averageGpuUtilization", overtime->gpu_utilization[i]);
        write_measured(json, "averageGpuMemoryUtilization", overtime->gpu_memory_utilization[i]);
        json_time(json, "updatedAt", overtime->updated_ms);
        json_end_object(json);
    }
    json_end_object(json);
}

static void write_total(struct json_writer *json, const char *key, int64_t amount, double per_unit)
{
    if (amount == QUANTITY_UNLIMITED)
        json_null_at(json, key);
    else
        json_number(json, key, (double)amount / per_unit);
}

static void write_totals(const struct org_unit *unit, struct json_writer *json)
{
    int64_t gpu_milli = 0, cpu_milli = 0, memory_bytes = 0;
    for (size_t i = 0; i < unit->queue_count; i++) {
        gpu_milli = quantity_add(gpu_milli, unit->queues[i].gpu.deserved);
        cpu_milli = quantity_add(cpu_milli, unit->queues[i].cpu.deserved);
        memory_bytes = quantity_add(memory_bytes, unit->queues[i].memory.deserved);
    }
    json_key(json, "totalResources");
    json_begin_object(json);
    write_total(json, "gpuQuota", gpu_milli, 1000);
    write_total(json, "cpuQuota", cpu_milli, 1);
    write_total(json, "memoryQuota", memory_bytes, 1e6);
    json_end_object(json);
}

static void write_status(const struct org_unit *unit, bool with_quota, struct json_writer *json)
{
    json_key(json, "status");
    json_begin_object(json);
    json_text(json, "phase", unit->phase);
    if (unit->kind == ORG_UNIT_PROJECT) {
        json_text(json, "namespace", unit->name_space);
        json_null_at(json, "phaseMessage");
        json_time(json, "lastUpdatedTime", unit->updated_ms);
    }
    if (with_quota) {
        json_key(json, "quotaStatus");
        json_begin_object(json);
        queue_write_quota_status(unit->queues, unit->queue_count, json);
        json_end_object(json);
        json_key(json, "nodePoolQuotaStatuses");
        json_begin_array(json);
        for (size_t i = 0; i < unit->queue_count; i++) {
            json_begin_object(json);
            json_text(json, "nodePoolName", unit->queues[i].node_pool_name);
            write_id(json, "nodePoolId", unit->queues[i].node_pool_id);
            queue_write_quota_status(&unit->queues[i], 1, json);
            json_end_object(json);
        }
        json_end_array(json);
    }
    json_end_object(json);
}

void org_unit_write_resources(const struct org_unit *unit, struct json_writer *json)
{
    json_begin_array(json);
    for (size_t i = 0; i < unit->queue_count; i++)
        queue_write_json(&unit->queues[i], json);
    json_end_array(json);
}

static void write_project_fields(const struct org_unit *unit, struct json_writer *json)
{
    write_id(json, "parentId", unit->department_id);
    json_key(json, "parent");
    write_link(json, unit->department_id, unit->department_name);
    json_text(json, "requestedNamespace", unit->requested_namespace);
    json_bool(json, "enforceRunaiScheduler", unit->enforce_scheduler);
    write_effective(unit, json);
}

static void write_department_fields(const struct org_unit *unit, struct json_writer *json)
{
    json_key(json, "children");
    json_begin_array(json);
    for (size_t i = 0; i < unit->child_count; i++)
        write_link(json, unit->children[i].id, unit->children[i].name);
    json_end_array(json);
    json_key(json, "projectsAggregatedResources");
    json_begin_array(json);
    for (size_t i = 0; i < unit->sum_count; i++) {
        const struct org_unit_sum *sum = &unit->sums[i];
        json_begin_object(json);
        queue_write_node_pool(sum->node_pool_id, sum->node_pool_name, json);
        json_key(json, "gpu");
        json_begin_object(json);
        write_total(json, "deserved", sum->gpu_deserved_milli, 1000);
        json_end_object(json);
        json_key(json, "cpu");
        json_begin_object(json);
        write_total(json, "deserved", sum->cpu_deserved_milli, 1);
        json_end_object(json);
        json_key(json, "memory");
        json_begin_object(json);
        write_total(json, "deserved", sum->memory_deserved_bytes, 1e6);
        json_text(json, "units", "MB");
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_numbers(const struct org_unit_numbers *numbers, struct json_writer *json)
{
    json_key(json, "prorata");
    json_begin_object(json);
    if (numbers->workloads >= 0)
        json_int(json, "workloads", numbers->workloads);
    if (numbers->subjects >= 0)
        json_int(json, "subjects", numbers->subjects);
    json_end_object(json);
}

void org_unit_write_json(const struct org_unit *unit, bool with_status, struct json_writer *json)
{
    bool is_project = unit->kind == ORG_UNIT_PROJECT;
    json_begin_object(json);
    write_id(json, "id", unit->id);
    json_text(json, "name", unit->name);
    json_text(json, "description", unit->description);
    json_text(json, "clusterId", unit->cluster_uuid);
    json_raw(json, "schedulingRules", unit->scheduling_rules_json);
    json_raw(json, "defaultNodePools", unit->default_node_pools_json);
    json_raw(json, "nodeTypes", unit->node_types_json ? unit->node_types_json : "{}");
    json_key(json, "resources");
    org_unit_write_resources(unit, json);
    write_totals(unit, json);
    write_overtime(&unit->overtime, json);
    if (is_project)
        write_project_fields(unit, json);
    else
        write_department_fields(unit, json);
    if (is_project || with_status)
        write_status(unit, with_status, json);
    if (unit->numbers)
        write_numbers(unit->numbers, json);
    json_text(json, "createdBy", unit->created_by);
    json_time(json, "createdAt", unit->created_ms);
    json_text(json, "updatedBy", unit->updated_by);
    json_time(json, "updatedAt", unit->updated_ms);
    json_end_object(json);
}
