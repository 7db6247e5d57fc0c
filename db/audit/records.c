#include "db/audit/records.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define PURPOSE_RECORD "prorata audit record 1"

#define COLUMN_TEXT(name, member) #name ", "
#define COLUMN_NUMBER COLUMN_TEXT
static const char SQL_INSERT[] = "INSERT INTO audit_records("
#include "db/audit/columns.def"
                                 "key_id, seq, mac) VALUES ("
#undef COLUMN_TEXT
#define COLUMN_TEXT(name, member) "?, "
#include "db/audit/columns.def"
                                 "?, ?, ?)";
#undef COLUMN_TEXT
#undef COLUMN_NUMBER

#define COLUMN_TEXT(name, member) #name ", "
#define COLUMN_NUMBER COLUMN_TEXT
const char AUDIT_RECORD_COLUMNS[] =
#include "db/audit/columns.def"
    "key_id, seq, mac";
#undef COLUMN_TEXT
#undef COLUMN_NUMBER

static const char SQL_LAST[] = "SELECT seq, mac FROM audit_records ORDER BY seq DESC LIMIT 1";
static const char SQL_BASE[] = "SELECT seq, mac FROM audit_base";
static const char SQL_FIRST[] = "SELECT seq, mac, time_ms FROM audit_records ORDER BY seq LIMIT ?";
static const char SQL_REMOVE[] = "DELETE FROM audit_records WHERE seq <= ?";
static const char SQL_SET_BASE[] = "INSERT OR REPLACE INTO audit_base(id, seq, time_ms, mac, key_id, signature) "
                                   "VALUES (1, ?, ?, ?, ?, ?)";
static const char SQL_WORKLOAD[] =
    "SELECT w.cluster_id, w.department_id, w.project_id, w.name FROM workloads w WHERE w.uuid = ?";
static const char SQL_PROJECT[] = "SELECT cluster_id, department_id, id, name FROM projects WHERE id = ?";
static const char SQL_DEPARTMENT[] = "SELECT cluster_id, id, 0, name FROM departments WHERE id = ?";
static const char SQL_CLUSTER[] = "SELECT id, 0, 0, name FROM clusters WHERE uuid = ?";

void audit_record_mac(const struct audit_key *key, const struct audit_record *record, int64_t seq,
                      const unsigned char before[AUDIT_MAC_SIZE], unsigned char out_mac[AUDIT_MAC_SIZE])
{
    struct audit_mac mac;
    audit_mac_begin(&mac, key, PURPOSE_RECORD);
    audit_mac_bytes(&mac, before, AUDIT_MAC_SIZE);
    audit_mac_number(&mac, seq);
#define COLUMN_TEXT(name, member) audit_mac_text(&mac, record->member);
#define COLUMN_NUMBER(name, member) audit_mac_number(&mac, record->member);
#include "db/audit/columns.def"
#undef COLUMN_TEXT
#undef COLUMN_NUMBER
    audit_mac_end(&mac, out_mac);
}

void audit_record_from_row(sqlite3_stmt *row, struct audit_record *out_record)
{
    size_t length;
    int column = 0;
#define COLUMN_TEXT(name, member) out_record->member = db_column_view(row, column++, &length);
#define COLUMN_NUMBER(name, member) out_record->member = db_column_int(row, column++);
#include "db/audit/columns.def"
#undef COLUMN_TEXT
#undef COLUMN_NUMBER
}

void audit_mark_from_row(sqlite3_stmt *row, int column, struct audit_mark *out_mark)
{
    const void *mac = sqlite3_column_blob(row, column + 1);
    *out_mark = (struct audit_mark){.seq = db_column_int(row, column)};
    if (mac && sqlite3_column_bytes(row, column + 1) == AUDIT_MAC_SIZE)
        memcpy(out_mark->mac, mac, AUDIT_MAC_SIZE);
}

static int find_mark(struct db_conn *conn, const char *sql, struct audit_mark *out_mark, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        audit_mark_from_row(stmt, 0, out_mark);
    db_release(conn, stmt);
    return rc;
}

int db_find_audit_end(struct db_conn *conn, struct audit_mark *out_mark, struct error *err)
{
    *out_mark = (struct audit_mark){0};
    int rc = find_mark(conn, SQL_LAST, out_mark, err);
    if (rc == 0)
        rc = find_mark(conn, SQL_BASE, out_mark, err);
    return rc < 0 ? -1 : 0;
}

static int insert(struct db_conn *conn, const struct audit_key *key, const struct audit_record *record,
                  const struct audit_mark *mark, struct error *err)
{
    sqlite3_stmt *stmt;
    int index = 1;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
#define COLUMN_TEXT(name, member) db_bind_text(stmt, index++, record->member);
#define COLUMN_NUMBER(name, member) db_bind_int(stmt, index++, record->member);
#include "db/audit/columns.def"
#undef COLUMN_TEXT
#undef COLUMN_NUMBER
    db_bind_text(stmt, index++, key->id);
    db_bind_int(stmt, index++, mark->seq);
    db_bind_blob(stmt, index, mark->mac, sizeof(mark->mac));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_add_audit_record(struct db_conn *conn, const struct audit_key *key, const struct audit_record *record,
                        struct audit_mark *out_mark, struct error *err)
{
    struct audit_mark last, mark;
    if (db_find_audit_end(conn, &last, err) < 0)
        return -1;
    mark.seq = last.seq + 1;
    audit_record_mac(key, record, mark.seq, last.mac, mark.mac);
    if (out_mark)
        *out_mark = mark;
    return insert(conn, key, record, &mark, err);
}

static int set_base(struct db_conn *conn, const struct audit_key *key, const struct audit_mark *mark, int64_t now_ms,
                    struct error *err)
{
    unsigned char signature[AUDIT_MAC_SIZE];
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_SET_BASE, &stmt, err) < 0)
        return -1;
    audit_mark_sign(key, AUDIT_PURPOSE_BASE, mark, now_ms, signature);
    db_bind_int(stmt, 1, mark->seq);
    db_bind_int(stmt, 2, now_ms);
    db_bind_blob(stmt, 3, mark->mac, sizeof(mark->mac));
    db_bind_text(stmt, 4, key->id);
    db_bind_blob(stmt, 5, signature, sizeof(signature));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// The last of those at the front that are too old: whatever a clock did, the chain is cut at its front only.
static int find_last_old(struct db_conn *conn, int64_t before_ms, int limit, struct audit_mark *out_mark,
                         struct error *err)
{
    sqlite3_stmt *stmt;
    int rc, found = 0;
    if (db_prepare(conn, SQL_FIRST, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, limit);
    while ((rc = db_step(conn, stmt, err)) > 0 && db_column_int(stmt, 2) < before_ms) {
        audit_mark_from_row(stmt, 0, out_mark);
        found = 1;
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : found;
}

int db_remove_audit_records(struct db_conn *conn, const struct audit_key *key, int64_t before_ms, int64_t now_ms,
                            int limit, int64_t *out_count, struct error *err)
{
    struct audit_mark mark;
    sqlite3_stmt *stmt;
    *out_count = 0;
    int rc = find_last_old(conn, before_ms, limit, &mark, err);
    if (rc <= 0)
        return rc;
    if (db_prepare(conn, SQL_REMOVE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, mark.seq);
    rc = db_run(conn, stmt, err);
    *out_count = db_changed_rows(conn);
    db_release(conn, stmt);
    return rc < 0 ? -1 : set_base(conn, key, &mark, now_ms, err);
}

int db_find_audit_place(struct db_conn *conn, const char *kind, const char *id, struct arena *arena,
                        struct audit_place *out_place, struct error *err)
{
    const char *sql = strcmp(kind, "workload") == 0     ? SQL_WORKLOAD
                      : strcmp(kind, "project") == 0    ? SQL_PROJECT
                      : strcmp(kind, "department") == 0 ? SQL_DEPARTMENT
                      : strcmp(kind, "cluster") == 0    ? SQL_CLUSTER
                                                        : NULL;
    sqlite3_stmt *stmt;
    if (!sql)
        return 0;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (sql == SQL_WORKLOAD || sql == SQL_CLUSTER)
        db_bind_text(stmt, 1, id);
    else
        db_bind_int(stmt, 1, strtoll(id, NULL, 10));
    int rc = db_step(conn, stmt, err);
    if (rc > 0) {
        out_place->where = (struct scope_path){.cluster_id = db_column_int(stmt, 0),
                                               .department_id = db_column_int(stmt, 1),
                                               .project_id = db_column_int(stmt, 2)};
        out_place->name = db_column_text(stmt, 3, arena);
    }
    db_release(conn, stmt);
    return rc;
}
