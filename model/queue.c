#include "model/queue.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

const struct rank RANKS[] = {
    {"VeryLow", 50, false},     {"Low", 75, false},   {"MediumLow", 100, true}, {"Medium", 125, false},
    {"MediumHigh", 150, false}, {"High", 175, false}, {"VeryHigh", 200, false},
};
const size_t RANK_COUNT = sizeof(RANKS) / sizeof(RANKS[0]);

enum {
    DEFAULT_RANK = 2,
};
#define DEFAULT_GPU_WEIGHT 2.0
#define DEFAULT_WEIGHT 1.0
#define WEIGHT_MAX 1e6
#define CPU_MILLI_MAX 1e12
#define MEMORY_BYTES_MAX 4e18
#define UNLIMITED_IN_JSON (-1.0)

// "MediumLow", "medium-low" and "Medium low" are one name.
static bool is_same_rank(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-' || *a == ' ' || *a == '_')
            a++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

const struct rank *rank_find(const char *name)
{
    for (size_t i = 0; i < RANK_COUNT; i++)
        if (is_same_rank(name, RANKS[i].name))
            return &RANKS[i];
    return NULL;
}

void queue_defaults(struct queue *queue)
{
    *queue = (struct queue){
        .node_pool_id = queue->node_pool_id,
        .node_pool_name = queue->node_pool_name,
        .rank_name = RANKS[DEFAULT_RANK].name,
        .rank = RANKS[DEFAULT_RANK].value,
        .gpu = {.deserved = 0, .limit = QUANTITY_UNLIMITED, .over_quota_weight = DEFAULT_GPU_WEIGHT},
        .cpu = {.deserved = QUANTITY_UNLIMITED, .limit = QUANTITY_UNLIMITED, .over_quota_weight = DEFAULT_WEIGHT},
        .memory = {.deserved = QUANTITY_UNLIMITED, .limit = QUANTITY_UNLIMITED, .over_quota_weight = DEFAULT_WEIGHT},
        .memory_units = "MB",
    };
}

// How one resource is read and shown.
struct resource_form {
    const char *name;
    double per_unit; // of the column in one unit of the API
    double maximum;  // of the column
    int64_t deserved_default;
    double weight_default;
};

static const struct resource_form GPU = {"gpu", 1000, 1e9, 0, DEFAULT_GPU_WEIGHT};
static const struct resource_form CPU = {"cpu", 1, CPU_MILLI_MAX, QUANTITY_UNLIMITED, DEFAULT_WEIGHT};

static struct resource_form memory_form(const char *units)
{
    double bytes = strcmp(units, "Mib") == 0 ? 1048576 : strcmp(units, "GB") == 0 ? 1e9 : 1e6;
    return (struct resource_form){"memory", bytes, MEMORY_BYTES_MAX, QUANTITY_UNLIMITED, DEFAULT_WEIGHT};
}

static int take_amount(const json_t *object, const char *key, const struct resource_form *form, int64_t if_null,
                       int64_t *amount, const char *path, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return 0;
    double number = json_number_value(value);
    if (json_is_null(value)) {
        *amount = if_null;
        return 0;
    }
    if (number == UNLIMITED_IN_JSON) {
        *amount = QUANTITY_UNLIMITED;
        return 0;
    }
    if (form == &GPU) {
        if (quantity_gpu_from_real(number, amount, err) < 0)
            return error_prefix(err, "%s%s.%s: ", path, form->name, key);
        return 0;
    }
    double scaled = nearbyint(number * form->per_unit);
    if (!(scaled >= 0 && scaled <= form->maximum))
        return error_set(err, ERROR_INVALID, "%s%s.%s: 0 to %.0f, or -1 for no bound, got %g", path, form->name, key,
                         form->maximum / form->per_unit, number);
    *amount = (int64_t)scaled;
    return 0;
}

static int take_resource(struct queue_resource *resource, const json_t *entry, const struct resource_form *form,
                         const char *path, struct error *err)
{
    const json_t *object = json_object_get(entry, form->name);
    if (json_is_null(object)) {
        resource->deserved = form->deserved_default;
        resource->limit = QUANTITY_UNLIMITED;
        resource->over_quota_weight = form->weight_default;
    }
    if (take_amount(object, "deserved", form, form->deserved_default, &resource->deserved, path, err) < 0 ||
        take_amount(object, "limit", form, QUANTITY_UNLIMITED, &resource->limit, path, err) < 0)
        return -1;
    const json_t *weight = json_object_get(object, "overQuotaWeight");
    if (weight) {
        double number = json_is_null(weight) ? form->weight_default : json_number_value(weight);
        if (!(number >= 0 && number <= WEIGHT_MAX))
            return error_set(err, ERROR_INVALID, "%s%s.overQuotaWeight: 0 to %.0f, got %g", path, form->name,
                             WEIGHT_MAX, number);
        resource->over_quota_weight = number;
    }
    if (resource->deserved != QUANTITY_UNLIMITED && resource->limit < resource->deserved)
        return error_set(err, ERROR_INVALID, "%s%s.limit: not below the quota of %g, got %g", path, form->name,
                         (double)resource->deserved / form->per_unit, (double)resource->limit / form->per_unit);
    return 0;
}

static int take_rank(struct queue *queue, const json_t *entry, const char *key, const char *path, struct error *err)
{
    const json_t *value = json_object_get(entry, key);
    if (!value)
        return 0;
    const struct rank *rank = json_is_string(value) ? rank_find(json_string_value(value)) : &RANKS[DEFAULT_RANK];
    if (!rank)
        return error_set(err, ERROR_INVALID,
                         "%s%s: VeryLow, Low, MediumLow, Medium, MediumHigh, High or VeryHigh, got \"%.60s\"", path,
                         key, json_string_value(value));
    queue->rank_name = rank->name;
    queue->rank = rank->value;
    return 0;
}

int queue_take_pool_id(struct queue *queue, const json_t *entry, const char *path, struct error *err)
{
    const char *id = json_string_value(json_object_get(json_object_get(entry, "nodePool"), "id"));
    if (!id)
        return 0;
    size_t length = strlen(id);
    if (length == 0 || length > 18 || strspn(id, "0123456789") != length || id[0] == '0')
        return error_set(err, ERROR_INVALID, "%snodePool.id: no node pool \"%.60s\"", path, id);
    queue->node_pool_id = strtoll(id, NULL, 10);
    return 0;
}

int queue_from_json(struct queue *queue, const json_t *entry, const char *path, struct arena *arena, struct error *err)
{
    const char *units = json_string_value(json_object_get(json_object_get(entry, "memory"), "units"));
    if (units)
        queue->memory_units = arena_strdup(arena, units);
    struct resource_form memory = memory_form(queue->memory_units);
    if (take_resource(&queue->gpu, entry, &GPU, path, err) < 0 ||
        take_resource(&queue->cpu, entry, &CPU, path, err) < 0 ||
        take_resource(&queue->memory, entry, &memory, path, err) < 0 ||
        take_rank(queue, entry, "priority", path, err) < 0)
        return -1;
    return take_rank(queue, entry, "rank", path, err);
}

static void write_amount(struct json_writer *json, const char *key, int64_t amount, double per_unit)
{
    if (amount == QUANTITY_UNLIMITED)
        json_null_at(json, key);
    else
        json_number(json, key, (double)amount / per_unit);
}

static void write_resource(const struct queue_resource *resource, const struct resource_form *form, const char *units,
                           struct json_writer *json)
{
    json_key(json, form->name);
    json_begin_object(json);
    write_amount(json, "deserved", resource->deserved, form->per_unit);
    write_amount(json, "limit", resource->limit, form->per_unit);
    json_number(json, "overQuotaWeight", resource->over_quota_weight);
    if (units)
        json_text(json, "units", units);
    json_end_object(json);
}

void queue_write_node_pool(int64_t node_pool_id, const char *name, struct json_writer *json)
{
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, node_pool_id);
    json_key(json, "nodePool");
    json_begin_object(json);
    json_text(json, "id", id);
    json_text(json, "name", name);
    json_end_object(json);
}

static void write_resources(const struct queue *queue, struct json_writer *json)
{
    struct resource_form memory = memory_form(queue->memory_units);
    write_resource(&queue->gpu, &GPU, NULL, json);
    write_resource(&queue->cpu, &CPU, NULL, json);
    write_resource(&queue->memory, &memory, queue->memory_units, json);
}

void queue_write_quotas(const struct queue *queue, struct json_writer *json)
{
    json_text(json, "rank", queue->rank_name);
    json_key(json, "resources");
    json_begin_object(json);
    write_resources(queue, json);
    json_end_object(json);
}

void queue_write_json(const struct queue *queue, struct json_writer *json)
{
    json_begin_object(json);
    queue_write_node_pool(queue->node_pool_id, queue->node_pool_name, json);
    write_resources(queue, json);
    json_text(json, "priority", queue->rank_name);
    json_text(json, "rank", queue->rank_name);
    json_end_object(json);
}

static void write_quantities(struct json_writer *json, const char *key, int64_t gpu_milli, int64_t cpu_milli,
                             int64_t memory_bytes)
{
    json_key(json, key);
    json_begin_object(json);
    json_milli(json, "gpu", gpu_milli);
    json_int(json, "cpu", cpu_milli);
    json_number(json, "memory", (double)memory_bytes / 1e6);
    json_end_object(json);
}

void queue_write_quota_status(const struct queue *queues, size_t count, struct json_writer *json)
{
    struct queue sum = {.id = 0};
    for (size_t i = 0; i < count; i++) {
        const struct queue_resource *from[] = {&queues[i].gpu, &queues[i].cpu, &queues[i].memory};
        struct queue_resource *to[] = {&sum.gpu, &sum.cpu, &sum.memory};
        for (int r = 0; r < 3; r++) {
            to[r]->fair_share = quantity_add(to[r]->fair_share, from[r]->fair_share);
            to[r]->allocated += from[r]->allocated;
            to[r]->allocated_non_preemptible += from[r]->allocated_non_preemptible;
            to[r]->requested = quantity_add(to[r]->requested, from[r]->requested);
        }
    }
    write_quantities(json, "allocated", sum.gpu.allocated, sum.cpu.allocated, sum.memory.allocated);
    write_quantities(json, "allocatedNonPreemptible", sum.gpu.allocated_non_preemptible,
                     sum.cpu.allocated_non_preemptible, sum.memory.allocated_non_preemptible);
    write_quantities(json, "requested", sum.gpu.requested, sum.cpu.requested, sum.memory.requested);
    json_key(json, "prorata");
    json_begin_object(json);
    json_key(json, "fairShare");
    json_begin_object(json);
    write_amount(json, "gpu", sum.gpu.fair_share, 1000);
    write_amount(json, "cpu", sum.cpu.fair_share, 1);
    write_amount(json, "memory", sum.memory.fair_share, 1e6);
    json_end_object(json);
    json_end_object(json);
}
