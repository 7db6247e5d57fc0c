// What the rows of a pod and its workload can be made from again where the database has lost them: written when the pod
// is started, kept beside it by the backend, given back with a stray. A JSON object:
//
//   version            1
//   role, index, attempt, devices, groups, gpuMilli, scheduledMilliseconds     the pod's row
//   workload           the workload's, as db/adoption.h writes it
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cache_pod;
struct db_conn;
struct error;

// *out_text is the arena's. One statement.
int pod_record_write(struct db_conn *conn, const struct cache_pod *pod, struct arena *arena, const char **out_text,
                     struct error *err);

struct pod_record {
    const char *role;
    int64_t index, attempt;
    uint32_t *gpu_indices;
    size_t gpu_index_count;
    const char *gpu_indices_json, *gpu_groups_json;
    int64_t gpu_milli, scheduled_ms;
    const char *workload_uuid, *workload_name, *requested_name, *workload_type, *created_by, *machine_user;
    int64_t created_ms, grace_ms;
    const char *project_name;
    int64_t project_number;
    bool has_master;
    const json_t *spec, *master_spec; // of json; master_spec NULL: none of its own
    json_t *json;                     // the owner of what points into it
};

// Texts are the arena's. ERROR_INVALID: it is of another version, or damaged.
int pod_record_read(const char *text, struct arena *arena, struct pod_record *out, struct error *err);
void pod_record_done(struct pod_record *record);
