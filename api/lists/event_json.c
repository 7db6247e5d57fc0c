#include "api/lists/event_json.h"

#include "api/lists/visibility.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"

#include <string.h>

// The contract has an id for everything that something happens to (RFC 9562, the nil UUID).
#define NO_UUID "00000000-0000-0000-0000-000000000000"

void event_write_members(struct json_writer *json, sqlite3_stmt *stmt, bool with_workload,
                         const struct visibility *visibility, struct arena *arena)
{
    const char *uid = db_column_text(stmt, 8, arena), *namespace = db_column_text(stmt, 9, arena);
    json_text(json, "id", db_column_text(stmt, 0, arena));
    json_time(json, "createdAt", db_column_int(stmt, 1));
    json_text(json, "type", db_column_text(stmt, 2, arena));
    json_text(json, "reason", db_column_text(stmt, 3, arena));
    json_text(json, "message", visibility_event(visibility, db_column_text(stmt, 4, arena)));
    json_text(json, "source", db_column_text(stmt, 5, arena));
    json_text(json, "clusterId", db_column_text(stmt, 10, arena));
    json_key(json, "involvedObject");
    json_begin_object(json);
    json_text(json, "kind", db_column_text(stmt, 6, arena));
    json_text(json, "name", db_column_text(stmt, 7, arena));
    json_text(json, "uid", uid && strlen(uid) == UUID_SIZE - 1 ? uid : NO_UUID);
    json_text(json, "namespace", namespace ? namespace : "");
    json_end_object(json);
    if (!with_workload)
        return;
    json_text(json, "workloadId", db_column_text(stmt, 11, arena));
    json_text(json, "workloadName", db_column_text(stmt, 12, arena));
    json_text(json, "projectName", db_column_text(stmt, 13, arena));
    json_text(json, "objectId", uid && *uid && db_column_is_null(stmt, 11) ? uid : NULL);
}
