#include "model/serving.h"

#include "base/arena.h"
#include "base/json_reader.h"

#include <jansson.h>
#include <string.h>

bool serving_scales(const struct serving *serving)
{
    return serving->min_replicas < serving->max_replicas;
}

const char *serving_text(const struct serving *serving, struct arena *arena)
{
    const struct pod_request *replica = &serving->replica;
    json_t *json = json_pack(
        "{s:s?, s:I, s:s, s:I, s:I, s:I, s:I, s:s?, s:f, s:I, s:I, s:I, s:I, s:s, s:{s:I, s:I, s:I, s:I, s:I, s:s?}}",
        "address", serving->address, "port", (json_int_t)serving->port, "protocol", serving->protocol, "minReplicas",
        (json_int_t)serving->min_replicas, "maxReplicas", (json_int_t)serving->max_replicas, "initialReplicas",
        (json_int_t)serving->initial_replicas, "activationReplicas", (json_int_t)serving->activation_replicas, "metric",
        serving->metric, "target", serving->target, "retentionMs", (json_int_t)serving->retention_ms,
        "scaleDownDelayMs", (json_int_t)serving->scale_down_delay_ms, "waitMs", (json_int_t)serving->wait_ms,
        "pagePort", (json_int_t)serving->page_port, "pagePath", serving->page_path, "replica", "gpuDevices",
        (json_int_t)replica->gpu_devices, "gpuPortionMilli", (json_int_t)replica->gpu_portion_milli, "gpuMemoryMib",
        (json_int_t)replica->gpu_memory_mib, "cpuMilli", (json_int_t)replica->cpu_milli, "memoryBytes",
        (json_int_t)replica->memory_bytes, "constraints", replica->constraints_json);
    char *text = json_dumps(json, JSON_COMPACT);
    const char *kept = arena_strdup(arena, text);
    free(text);
    json_decref(json);
    return kept;
}

static const char *text_of(const json_t *object, const char *key, struct arena *arena)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? arena_strdup(arena, text) : NULL;
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void read_replica(const json_t *json, struct arena *arena, struct pod_request *out)
{
    *out = (struct pod_request){
        .role = POD_ROLE_TEXT_WORKER,
        .gpu_devices = number_of(json, "gpuDevices"),
        .gpu_portion_milli = number_of(json, "gpuPortionMilli"),
        .gpu_memory_mib = number_of(json, "gpuMemoryMib"),
        .cpu_milli = number_of(json, "cpuMilli"),
        .memory_bytes = number_of(json, "memoryBytes"),
        .constraints_json = text_of(json, "constraints", arena),
    };
}

bool serving_parse(const char *text, struct arena *arena, struct serving *out)
{
    json_t *json = NULL;
    if (!text || json_reader_parse(text, strlen(text), &json, NULL) < 0)
        return false;
    *out = (struct serving){
        .address = text_of(json, "address", arena),
        .port = number_of(json, "port"),
        .protocol = text_of(json, "protocol", arena),
        .min_replicas = number_of(json, "minReplicas"),
        .max_replicas = number_of(json, "maxReplicas"),
        .initial_replicas = number_of(json, "initialReplicas"),
        .activation_replicas = number_of(json, "activationReplicas"),
        .metric = text_of(json, "metric", arena),
        .target = json_number_value(json_object_get(json, "target")),
        .retention_ms = number_of(json, "retentionMs"),
        .scale_down_delay_ms = number_of(json, "scaleDownDelayMs"),
        .wait_ms = number_of(json, "waitMs"),
        .page_port = number_of(json, "pagePort"),
        .page_path = text_of(json, "pagePath", arena),
    };
    read_replica(json_object_get(json, "replica"), arena, &out->replica);
    bool is_whole = out->protocol && out->page_path && out->max_replicas > 0;
    json_decref(json);
    return is_whole;
}
