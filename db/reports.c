#include "db/reports.h"

#include "base/error.h"
#include "db/db.h"

static const char SQL_FIND[] = "SELECT " REPORT_COLUMNS ", r.file FROM reports r WHERE r.uuid = ?";
static const char SQL_COUNT[] = "SELECT count(*) FROM reports";
static const char SQL_INSERT[] =
    "INSERT INTO reports (uuid, name, description, start_ms, end_ms, group_by, filters_json, file, created_by, "
    "created_ms) VALUES (:uuid, :name, :description, :start_ms, :end_ms, :group_by, :filters_json, :file, "
    ":created_by, :created_ms)";
static const char SQL_DELETE[] = "DELETE FROM reports WHERE uuid = ?";

enum {
    COLUMN_COUNT = 9
};

void report_from_row(sqlite3_stmt *row, struct arena *arena, struct report *out_report)
{
    *out_report = (struct report){
        .uuid = db_column_text(row, 0, arena),
        .name = db_column_text(row, 1, arena),
        .description = db_column_text(row, 2, arena),
        .start_ms = db_column_int(row, 3),
        .end_ms = db_column_int(row, 4),
        .group_by = db_column_text(row, 5, arena),
        .filters_json = db_column_text(row, 6, arena),
        .created_by = db_column_text(row, 7, arena),
        .created_ms = db_column_int(row, 8),
    };
}

int db_find_report(struct db_conn *conn, const char *uuid, struct arena *arena, struct report *out_report,
                   struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_step(conn, stmt, err);
    if (rc > 0) {
        report_from_row(stmt, arena, out_report);
        out_report->file = db_column_text(stmt, COLUMN_COUNT, arena);
    }
    db_release(conn, stmt);
    return rc;
}

static int create_report(struct db_conn *conn, void *context, struct error *err)
{
    const struct report *report = context;
    sqlite3_stmt *stmt = NULL;
    int64_t count = 0;
    if (db_read_number(conn, SQL_COUNT, &count, err) < 0)
        return -1;
    if (count >= REPORTS_MAX)
        return error_set(err, ERROR_INVALID, "there are %d reports already: delete some first", REPORTS_MAX);
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", report->uuid);
    db_set_text(stmt, ":name", report->name);
    db_set_text(stmt, ":description", report->description);
    db_set_int(stmt, ":start_ms", report->start_ms);
    db_set_int(stmt, ":end_ms", report->end_ms);
    db_set_text(stmt, ":group_by", report->group_by);
    db_set_text(stmt, ":filters_json", report->filters_json);
    db_set_text(stmt, ":file", report->file);
    db_set_text(stmt, ":created_by", report->created_by);
    db_set_int(stmt, ":created_ms", report->created_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_create_report(struct db *db, const struct report *report, struct error *err)
{
    struct report copy = *report;
    return db_write(db, create_report, &copy, err);
}

static int delete_report(struct db_conn *conn, void *context, struct error *err)
{
    const char *const *uuid = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, *uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "report %.60s: not found", *uuid);
    return rc;
}

int db_delete_report(struct db *db, const char *uuid, struct error *err)
{
    return db_write(db, delete_report, &uuid, err);
}
