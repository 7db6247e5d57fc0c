#include "model/node_pool.h"

#include "base/arena.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "model/names.h"
#include "model/scope.h"

#include <inttypes.h>
#include <string.h>

// Kept as sent: they shape nothing here, but a client reads back what it wrote.
static const char *const KEPT_SETTINGS[] = {
    "gpuNetworkAccelerationLabelKey",
    "gpuNetworkAccelerationDetection",
    "gpuResourceOptimization",
};
enum {
    KEPT_SETTING_COUNT = sizeof(KEPT_SETTINGS) / sizeof(KEPT_SETTINGS[0])
};

void node_pool_defaults(struct node_pool *pool)
{
    pool->phase_message = "";
    pool->gpu_placement = "binpack";
    pool->cpu_placement = "binpack";
    pool->min_guaranteed_runtime_ms = 0;
    pool->time_based_fairshare_json = NULL;
    pool->over_provisioning_ratio = 1;
    pool->network_topology_id = NULL;
    pool->settings_json = "{}";
}

static const char *dump(const json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    const char *copy = arena_strdup(arena, text);
    free(text);
    return copy;
}

static void take_placement(const json_t *strategy, const char *key, const char **out_placement, struct arena *arena)
{
    const json_t *value = json_object_get(strategy, key);
    if (value)
        *out_placement = json_is_string(value) ? arena_strdup(arena, json_string_value(value)) : "binpack";
}

static void take_placements(struct node_pool *pool, const json_t *strategy, struct arena *arena)
{
    take_placement(strategy, "gpu", &pool->gpu_placement, arena);
    take_placement(strategy, "cpu", &pool->cpu_placement, arena);
}

static int take_labels(struct node_pool *pool, const json_t *body, struct arena *arena, struct error *err)
{
    const char *key = json_string_value(json_object_get(body, "labelKey"));
    const char *value = json_string_value(json_object_get(body, "labelValue"));
    if (!key && !value)
        return 0;
    if (pool->is_default)
        return error_set(err, ERROR_INVALID,
                         "labelKey: the default pool takes the nodes of no other pool and has no label");
    if (key && label_key_check(key, "labelKey", err) < 0)
        return -1;
    if (value && label_value_check(value, "labelValue", err) < 0)
        return -1;
    if (key)
        pool->label_key = arena_strdup(arena, key);
    if (value)
        pool->label_value = arena_strdup(arena, value);
    return 0;
}

static int take_duration(json_t *fairshare, const char *key, const char *fallback, int64_t least_ms, struct error *err)
{
    const char *text = json_string_value(json_object_get(fairshare, key));
    int64_t ms;
    if (!text)
        json_object_set_new(fairshare, key, json_string(fallback));
    else if (duration_parse(text, &ms, err) < 0)
        return error_prefix(err, "schedulingConfiguration.timeBasedFairShare.%s: ", key);
    else if (ms < least_ms)
        return error_set(err, ERROR_INVALID, "schedulingConfiguration.timeBasedFairShare.%s: more than 0, got %.40s",
                         key, text);
    return 0;
}

static void default_to(json_t *object, const char *key, json_t *value)
{
    const json_t *old = json_object_get(object, key);
    if (old && !json_is_null(old))
        json_decref(value);
    else
        json_object_set_new(object, key, value);
}

// Stored with its defaults filled in.
static int take_fairshare(struct node_pool *pool, const json_t *given, struct arena *arena, struct error *err)
{
    if (!given)
        return 0;
    pool->time_based_fairshare_json = NULL;
    if (!json_is_object(given))
        return 0;
    json_t *fairshare = json_copy((json_t *)given);
    default_to(fairshare, "enabled", json_false());
    default_to(fairshare, "historicalUsageWeight", json_real(1));
    default_to(fairshare, "windowType", json_string("sliding"));
    int rc = take_duration(fairshare, "decayHalfLife", "0h", 0, err);
    if (rc == 0)
        rc = take_duration(fairshare, "windowDuration", "7d", 1, err);
    const char *type = json_string_value(json_object_get(fairshare, "windowType"));
    if (rc == 0 && strcmp(type, "tumbling") == 0 &&
        !json_is_string(json_object_get(fairshare, "tumblingWindowStartTime")))
        rc = error_set(err, ERROR_INVALID,
                       "schedulingConfiguration.timeBasedFairShare.tumblingWindowStartTime: required with tumbling");
    if (rc == 0)
        pool->time_based_fairshare_json = dump(fairshare, arena);
    json_decref(fairshare);
    return rc;
}

static int take_scheduling(struct node_pool *pool, json_t *settings, const json_t *configuration, struct arena *arena,
                           struct error *err)
{
    take_placements(pool, json_object_get(configuration, "placementStrategy"), arena);
    json_t *runtime = json_object_get(configuration, "minGuaranteedRuntime");
    if (json_is_string(runtime)) {
        if (duration_parse(json_string_value(runtime), &pool->min_guaranteed_runtime_ms, err) < 0)
            return error_prefix(err, "schedulingConfiguration.minGuaranteedRuntime: ");
        json_object_set(settings, "minGuaranteedRuntime", runtime);
    } else if (json_is_null(runtime)) {
        pool->min_guaranteed_runtime_ms = 0;
        json_object_del(settings, "minGuaranteedRuntime");
    }
    static const char *const SWITCHES[] = {"reservation", "reclaimByRank"};
    for (size_t i = 0; i < sizeof(SWITCHES) / sizeof(SWITCHES[0]); i++) {
        json_t *value = json_object_get(configuration, SWITCHES[i]);
        if (json_is_boolean(value))
            json_object_set(settings, SWITCHES[i], value);
        else if (value)
            json_object_del(settings, SWITCHES[i]);
    }
    return take_fairshare(pool, json_object_get(configuration, "timeBasedFairShare"), arena, err);
}

int node_pool_from_json(struct node_pool *pool, const json_t *body, struct arena *arena, struct error *err)
{
    int rc = -1;
    json_t *settings = json_loads(pool->settings_json, 0, NULL);
    for (size_t i = 0; i < KEPT_SETTING_COUNT; i++) {
        json_t *value = json_object_get(body, KEPT_SETTINGS[i]);
        if (value)
            json_object_set(settings, KEPT_SETTINGS[i], value);
    }
    const json_t *ratio = json_object_get(body, "overProvisioningRatio");
    if (ratio)
        pool->over_provisioning_ratio = json_is_number(ratio) ? json_number_value(ratio) : 1;
    const json_t *topology = json_object_get(body, "networkTopologyId");
    if (topology)
        pool->network_topology_id = arena_strdup(arena, json_string_value(topology));
    // The older place first: where both are given, schedulingConfiguration counts.
    take_placements(pool, json_object_get(body, "placementStrategy"), arena);
    if (take_labels(pool, body, arena, err) < 0 ||
        take_scheduling(pool, settings, json_object_get(body, "schedulingConfiguration"), arena, err) < 0)
        goto done;
    pool->settings_json = dump(settings, arena);
    rc = 0;
done:
    json_decref(settings);
    return rc;
}

static void write_placements(const struct node_pool *pool, struct json_writer *json)
{
    json_key(json, "placementStrategy");
    json_begin_object(json);
    json_text(json, "cpu", pool->cpu_placement);
    json_text(json, "gpu", pool->gpu_placement);
    json_end_object(json);
}

static void write_kept(const json_t *settings, const char *key, const char *fallback, struct json_writer *json)
{
    json_t *value = json_object_get(settings, key);
    if (!value || json_is_null(value)) {
        json_text(json, key, fallback);
        return;
    }
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_raw(json, key, text);
    free(text);
}

// What an object and its `status` have in common.
static void write_settings(const struct node_pool *pool, struct json_writer *json)
{
    json_t *settings = json_loads(pool->settings_json, 0, NULL);
    json_number(json, "overProvisioningRatio", pool->over_provisioning_ratio);
    write_placements(pool, json);
    write_kept(settings, "gpuNetworkAccelerationLabelKey", "nvidia.com/gpu.clique", json);
    write_kept(settings, "gpuNetworkAccelerationDetection", "Auto", json);
    write_kept(settings, "gpuResourceOptimization", NULL, json);
    json_key(json, "schedulingConfiguration");
    json_begin_object(json);
    write_placements(pool, json);
    write_kept(settings, "minGuaranteedRuntime", "0", json);
    json_bool(json, "reservation", json_is_true(json_object_get(settings, "reservation")));
    json_bool(json, "reclaimByRank", !json_is_false(json_object_get(settings, "reclaimByRank")));
    if (pool->time_based_fairshare_json)
        json_raw(json, "timeBasedFairShare", pool->time_based_fairshare_json);
    json_end_object(json);
    json_decref(settings);
}

// What there is to know about its state: NULL where there is nothing.
static const char *message_of(const struct node_pool *pool, struct arena *arena)
{
    const char *off =
        names_topology_off_json(arena, pool->network_topology_name, pool->name, pool->outside_topology_json);
    if (off || strcmp(pool->phase, "Empty") != 0)
        return off;
    if (pool->is_default)
        return "No node is in this pool: each has the label of another one, or there is none";
    return arena_printf(arena,
                        "No node is in this pool: none has the label %s=%s, or an older pool has it by another label",
                        pool->label_key, pool->label_value);
}

void node_pool_write_json(const struct node_pool *pool, struct arena *arena, struct json_writer *json)
{
    char id[24];
    const char *message = message_of(pool, arena);
    snprintf(id, sizeof(id), "%" PRId64, pool->id);
    json_begin_object(json);
    json_text(json, "id", id);
    json_text(json, "name", pool->name);
    json_text(json, "clusterId", pool->cluster_uuid);
    json_text(json, "clusterName", pool->cluster_name);
    json_int(json, "tenantId", TENANT_ID);
    json_bool(json, "isDefault", pool->is_default);
    json_text(json, "labelKey", pool->label_key ? pool->label_key : "");
    json_text(json, "labelValue", pool->label_value ? pool->label_value : "");
    write_settings(pool, json);
    json_text(json, "networkTopologyId", pool->network_topology_id);
    json_text(json, "networkTopologyName", pool->network_topology_name);
    json_text(json, "phase", pool->phase);
    json_text(json, "phaseMessage", message ? message : pool->phase_message);
    json_key(json, "status");
    json_begin_object(json);
    json_text(json, "labelKey", pool->label_key);
    json_text(json, "labelValue", pool->label_value);
    write_settings(pool, json);
    json_key(json, "conditions");
    json_begin_array(json);
    json_end_array(json);
    json_bool(json, "gpuNetworkAccelerationDetected", false);
    json_raw(json, "nodes", pool->nodes_json);
    json_end_object(json);
    json_text(json, "createdBy", pool->created_by);
    json_time(json, "createdAt", pool->created_ms);
    json_text(json, "updatedBy", pool->updated_by);
    json_time(json, "updatedAt", pool->updated_ms);
    json_null_at(json, "deletedAt");
    json_end_object(json);
}
