#include "reconciler/outcome/pod_record.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/adoption.h"
#include "model/pod.h"
#include "reconciler/world/cache.h"

#include <stdlib.h>
#include <string.h>

int pod_record_write(struct db_conn *conn, const struct cache_pod *pod, struct arena *arena, const char **out_text,
                     struct error *err)
{
    const char *workload;
    struct buffer text;
    struct json_writer json;
    if (db_describe_for_adoption(conn, pod->workload->id, arena, &workload, err) < 0)
        return -1;
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    json_begin_object(&json);
    json_int(&json, "version", 1);
    json_text(&json, "role", pod->is_master ? "master" : "worker");
    json_int(&json, "index", pod->pod_index);
    json_int(&json, "attempt", pod->attempt);
    json_raw(&json, "devices", cache_indices_json(pod, arena));
    json_raw(&json, "groups", pod->gpu_groups_json ? pod->gpu_groups_json : "[]");
    json_int(&json, "gpuMilli", pod->gpu_allocated_milli);
    json_int(&json, "scheduledMilliseconds", pod->scheduled_ms);
    json_raw(&json, "workload", workload);
    json_end_object(&json);
    *out_text = arena_strdup(arena, text.data);
    buffer_done(&text);
    return 0;
}

static const char *text_of(const json_t *object, const char *key, struct arena *arena)
{
    return arena_strdup(arena, json_string_value(json_object_get(object, key)));
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *copy_json(const json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT);
    const char *copy = arena_strdup(arena, text ? text : "[]");
    free(text);
    return copy;
}

static void read_devices(const json_t *devices, struct arena *arena, struct pod_record *out)
{
    out->gpu_index_count = json_array_size(devices);
    out->gpu_indices = arena_array(arena, out->gpu_index_count, sizeof(*out->gpu_indices));
    for (size_t i = 0; i < out->gpu_index_count; i++)
        out->gpu_indices[i] = (uint32_t)json_integer_value(json_array_get(devices, i));
}

static bool is_whole(const struct pod_record *record)
{
    return record->role && record->workload_uuid && uuid_is_valid(record->workload_uuid) && record->workload_name &&
           record->requested_name && record->workload_type && record->created_by && record->project_name &&
           json_is_object(record->spec) &&
           (strcmp(record->role, POD_ROLE_TEXT_MASTER) == 0 || strcmp(record->role, POD_ROLE_TEXT_WORKER) == 0);
}

int pod_record_read(const char *text, struct arena *arena, struct pod_record *out, struct error *err)
{
    json_t *json;
    if (json_reader_parse(text, strlen(text), &json, err) < 0)
        return error_prefix(err, "what was noted of it: ");
    const json_t *workload = json_object_get(json, "workload"), *master = json_object_get(workload, "masterSpec");
    *out = (struct pod_record){
        .role = text_of(json, "role", arena),
        .index = number_of(json, "index"),
        .attempt = number_of(json, "attempt"),
        .gpu_indices_json = copy_json(json_object_get(json, "devices"), arena),
        .gpu_groups_json = copy_json(json_object_get(json, "groups"), arena),
        .gpu_milli = number_of(json, "gpuMilli"),
        .scheduled_ms = number_of(json, "scheduledMilliseconds"),
        .workload_uuid = text_of(workload, "id", arena),
        .workload_name = text_of(workload, "name", arena),
        .requested_name = text_of(workload, "requestedName", arena),
        .workload_type = text_of(workload, "type", arena),
        .created_by = text_of(workload, "createdBy", arena),
        .machine_user = text_of(workload, "machineUser", arena),
        .created_ms = number_of(workload, "createdMilliseconds"),
        .grace_ms = number_of(workload, "graceMilliseconds"),
        .project_name = text_of(workload, "projectName", arena),
        .project_number = number_of(workload, "projectNumber"),
        .has_master = json_is_true(json_object_get(workload, "hasMaster")),
        .spec = json_object_get(workload, "spec"),
        .master_spec = json_is_object(master) ? master : NULL,
        .json = json,
    };
    read_devices(json_object_get(json, "devices"), arena, out);
    if (number_of(json, "version") == 1 && is_whole(out))
        return 0;
    pod_record_done(out);
    return error_set(err, ERROR_INVALID, "what was noted of it is damaged, or of another release");
}

void pod_record_done(struct pod_record *record)
{
    json_decref(record->json);
    record->json = NULL;
}
