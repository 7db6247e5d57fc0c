// Audit records as a file: CSV or JSON. Who takes it leaves a record of that.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/people/audit_log.h"
#include "api/server.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <string.h>

enum {
    FILE_RECORDS_MAX = 100000,
    FILE_BYTES_MAX = 48 << 20
};

static int write_all(struct list_query *query, bool is_csv, struct buffer *out, struct error *err)
{
    struct json_writer json;
    int rc;
    json_writer_init(&json, out, false);
    if (is_csv)
        audit_log_write_csv_head(out);
    else
        json_begin_array(&json);
    while ((rc = list_query_step(query, err)) == 1 && out->length < FILE_BYTES_MAX) {
        if (is_csv)
            audit_log_write_csv(out, query->stmt);
        else
            audit_log_write(&json, query->stmt);
    }
    if (!is_csv)
        json_end_array(&json);
    return rc;
}

int op_downloadAuditLogs(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    const char *type = request_query(req, request_has_query(req, "fileType") ? "fileType" : "file_type");
    bool is_csv = strcmp(type, "CSV") == 0;
    if (audit_log_init(req, &query, err) < 0)
        return -1;
    query.answer = NULL;
    if (!request_has_query(req, "numberOfSamples"))
        query.request.limit = FILE_RECORDS_MAX;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_open(&query, conn, err);
    if (rc == 0)
        rc = write_all(&query, is_csv, res->body, err);
    list_query_close(&query);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    if (rc == 1 || (query.has_next && !request_has_query(req, "numberOfSamples")))
        return error_set(err, ERROR_INVALID, "start, end: more than %d records, or %d MiB: ask for a shorter time",
                         FILE_RECORDS_MAX, FILE_BYTES_MAX >> 20);
    res->content_type = "application/octet-stream";
    response_header(res, "Content-Disposition",
                    is_csv ? "attachment; filename=\"audit.csv\"" : "attachment; filename=\"audit.json\"");
    return 0;
}
