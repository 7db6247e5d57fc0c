// An event as the API writes it, from a row of EVENT_COLUMNS.
#pragma once
#include <stdbool.h>

struct arena;
struct json_writer;
struct visibility;
typedef struct sqlite3_stmt sqlite3_stmt;

// Over `events e LEFT JOIN workloads w ON w.id = e.workload_id`.
#define EVENT_COLUMNS                                                                                               \
    "e.uuid, e.time_ms, e.type, e.reason, e.message, e.source, e.object_kind, e.object_name, e.object_uuid,"        \
    " w.namespace, coalesce((SELECT uuid FROM clusters WHERE id = w.cluster_id), (SELECT uuid FROM clusters LIMIT " \
    "1)),"                                                                                                          \
    " w.uuid, w.name, coalesce(w.project_name, iif(e.object_kind = 'Project', e.object_name, NULL))"

enum {
    EVENT_COLUMN_COUNT = 14
};

// The event's members; the object is the caller's. with_workload adds workloadId, workloadName, projectName and, of
// what is no workload, objectId.
void event_write_members(struct json_writer *json, sqlite3_stmt *stmt, bool with_workload,
                         const struct visibility *visibility, struct arena *arena);
