#include "db/events.h"

#include "base/uuid.h"
#include "db/db.h"

static const char SQL_ADD_EVENT[] =
    "INSERT INTO events (uuid, workload_id, time_ms, type, reason, message, source, object_kind, object_name,"
    " object_uuid, department_id, project_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0))";
static const char SQL_ADD_PHASE[] =
    "INSERT INTO phase_history (workload_id, time_ms, phase, message) VALUES (?, ?, ?, ?)";

int db_add_event(struct db_conn *conn, const struct event *event, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_ADD_EVENT, &stmt, err) < 0)
        return -1;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    db_bind_text(stmt, 1, uuid);
    if (event->workload_id)
        db_bind_int(stmt, 2, event->workload_id);
    else
        db_bind_null(stmt, 2);
    db_bind_int(stmt, 3, event->time_ms);
    db_bind_text(stmt, 4, event->type);
    db_bind_text(stmt, 5, event->reason);
    db_bind_text(stmt, 6, event->message);
    db_bind_text(stmt, 7, event->source);
    db_bind_text(stmt, 8, event->object_kind);
    db_bind_text(stmt, 9, event->object_name);
    db_bind_text(stmt, 10, event->object_uuid);
    db_bind_int(stmt, 11, event->department_id);
    db_bind_int(stmt, 12, event->project_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0)
        db_touch(conn, CHANGE_EVENT,
                 event->touched         ? event->touched
                 : event->workload_uuid ? event->workload_uuid
                                        : event->object_uuid);
    return rc;
}

int db_add_phase_record(struct db_conn *conn, int64_t workload_id, int64_t time_ms, const char *phase,
                        const char *message, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_ADD_PHASE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_int(stmt, 2, time_ms);
    db_bind_text(stmt, 3, phase);
    db_bind_text(stmt, 4, message);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}
