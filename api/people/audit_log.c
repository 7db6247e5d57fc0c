#include "api/people/audit_log.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/audit/records.h"
#include "db/db.h"
#include "db/scopes.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES_DEFAULT = 20,
    ID_SIZE = 37
};

#define RESULT "iif(r.status < 400, 'Succeeded', 'Failed')"
#define CLUSTER_NAME "(SELECT name FROM clusters WHERE id = r.cluster_id)"
#define CLUSTER_ID "(SELECT uuid FROM clusters WHERE id = r.cluster_id)"

static const struct list_field FIELDS[] = {
    {.name = "timestamp", .sql = "r.time_ms", .type = LIST_TIME},
    {.name = "subject", .sql = "r.subject", .type = LIST_TEXT},
    {.name = "subject_type", .sql = "r.subject_type", .type = LIST_TEXT},
    {.name = "source_ip", .sql = "r.address", .type = LIST_TEXT},
    {.name = "action", .sql = "r.action", .type = LIST_TEXT},
    {.name = "http_method", .sql = "r.method", .type = LIST_TEXT},
    {.name = "result", .sql = RESULT, .type = LIST_TEXT},
    {.name = "url", .sql = "r.url", .type = LIST_TEXT},
    {.name = "entity_type", .sql = "r.entity_type", .type = LIST_TEXT},
    {.name = "entity_name", .sql = "r.entity_name", .type = LIST_TEXT},
    {.name = "entity_id", .sql = "r.entity_id", .type = LIST_TEXT},
    {.name = "cluster_name", .sql = CLUSTER_NAME, .type = LIST_TEXT},
};

// What a record says comes first, so that it is read as everywhere else.
static struct list_source make_source(struct arena *arena)
{
    return (struct list_source){
        .columns = arena_printf(arena, "%s, " CLUSTER_NAME ", " CLUSTER_ID, AUDIT_RECORD_COLUMNS),
        .from = "audit_records r",
        .id = "r.seq",
        .order = "r.time_ms DESC, r.seq DESC",
        .fields = FIELDS,
        .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
    };
}

static int where_time(const struct request *req, struct list_query *query, struct error *err)
{
    int64_t start_ms, end_ms;
    if (timestamp_parse(request_query(req, "start"), &start_ms, NULL) < 0 ||
        timestamp_parse(request_query(req, "end"), &end_ms, NULL) < 0)
        return error_set(err, ERROR_INVALID, "start, end: expected ISO 8601 times");
    if (end_ms <= start_ms)
        return error_set(err, ERROR_INVALID, "end: expected a time after start");
    list_query_where_int(query, "r.time_ms >= ?", start_ms);
    list_query_where_int(query, "r.time_ms <= ?", end_ms);
    return 0;
}

// Who sees one kind of scope has his records by its index, in the range of time, before a wide row is read. Others walk
// the times: they see nearly all, or are few.
static void narrow(struct list_source *source, const struct scope_filter *filter)
{
    if (filter->is_all || filter->cluster_count || (filter->department_count && filter->project_count))
        return;
    source->from = filter->department_count ? "audit_records r INDEXED BY audit_records_department"
                                            : "audit_records r INDEXED BY audit_records_project";
    source->late = "audit_records r";
}

static void where_scope(struct list_query *query, const struct scope_filter *filter)
{
    const char *lists[3];
    if (!query->source->late) {
        list_query_where_scope(query, filter, "r.cluster_id", "r.department_id", "r.project_id");
        return;
    }
    scope_filter_lists(filter, query->arena, lists);
    if (filter->department_count)
        list_query_where_text(query, "r.department_id IN (SELECT value FROM json_each(?))", lists[1]);
    else
        list_query_where_text(query, "r.project_id IN (SELECT value FROM json_each(?))", lists[2]);
}

int audit_log_init(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_filter filter;
    struct list_source *source = arena_alloc(req->arena, sizeof(*source));
    const char *sort = request_query(req, "sortBy"), *order = request_query(req, "sortOrder");
    bool is_ordered = request_has_query(req, "sortOrder");
    *source = make_source(req->arena);
    access_filter(req, RESOURCE_TYPE_EVENTS_HISTORY, ACTION_READ, &filter);
    narrow(source, &filter);
    struct list_request request = {
        .filters = req->filters,
        .filter_count = req->filter_count,
        .sort_by = sort ? sort : "timestamp",
        .is_descending = is_ordered ? strcmp(order, "desc") == 0 : !sort,
        .offset = request_query_integer(req, "offset", 0),
        .limit = LIST_LIMIT_MAX,
    };
    if (list_query_build(query, source, &request, req->arena, err) < 0 || where_time(req, query, err) < 0)
        return -1;
    query->request.limit = request_query_integer(req, "numberOfSamples", SAMPLES_DEFAULT);
    where_scope(query, &filter);
    return 0;
}

static const int RECORD_COLUMNS = 20; // what it says; then the key, number and MAC, cluster's name and id

static const char *column(sqlite3_stmt *row, int index)
{
    return (const char *)sqlite3_column_text(row, RECORD_COLUMNS + index);
}

// The record's id is its MAC, in the form of a UUID of version 8.
static void write_id(sqlite3_stmt *row, char out[ID_SIZE])
{
    struct audit_mark mark;
    audit_mark_from_row(row, RECORD_COLUMNS + 1, &mark);
    unsigned char *b = mark.mac;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x80);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(out, ID_SIZE, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
             b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static void write_metadata(struct json_writer *json, const struct audit_record *record)
{
    size_t length = strlen(record->details_json);
    json_key(json, "metadata");
    json_begin_object(json);
    json_text(json, "operation", record->operation);
    if (record->request[0])
        json_text(json, "request", record->request);
    if (length > 2) { // what stands between the braces
        char *inner = memory_strdup(record->details_json + 1);
        inner[length - 2] = '\0';
        json_members(json, inner);
        free(inner);
    }
    json_end_object(json);
}

static const char *result_of(const struct audit_record *record)
{
    return record->status < 400 ? "Succeeded" : "Failed";
}

void audit_log_write(struct json_writer *json, sqlite3_stmt *row)
{
    struct audit_record record;
    struct in_addr address;
    char id[ID_SIZE];
    audit_record_from_row(row, &record);
    write_id(row, id);
    json_begin_object(json);
    json_text(json, "id", id);
    json_time(json, "timestamp", record.time_ms);
    json_text(json, "tenant_id", "1");
    json_text(json, "subject", record.subject);
    json_text(json, "subject_type", record.subject_type);
    if (inet_pton(AF_INET, record.address, &address) == 1)
        json_text(json, "source_ip", record.address);
    json_text(json, "action", record.action);
    if (*record.method) { // who comes by the socket has asked for nothing yet
        json_text(json, "http_method", record.method);
        json_text(json, "url", record.url);
    }
    json_text(json, "entity_type", record.entity_type);
    json_text(json, "entity_name", record.entity_name);
    json_text(json, "entity_id", record.entity_id);
    json_text(json, "result", result_of(&record));
    json_int(json, "http_status_code", record.status);
    if (column(row, 3)) {
        json_text(json, "cluster_name", column(row, 3));
        json_text(json, "cluster_id", column(row, 4));
    }
    write_metadata(json, &record);
    json_int(json, "count", record.count);
    json_time(json, "last_timestamp", record.last_ms);
    json_raw(json, "changes", record.changes_json);
    json_end_object(json);
}

void audit_log_write_csv_head(struct buffer *out)
{
    buffer_text(out, "timestamp,id,subject,subject_type,source_ip,action,http_method,url,entity_type,entity_name,"
                     "entity_id,result,http_status_code,cluster_name,operation,request,count,last_timestamp,details,"
                     "changes\r\n");
}

void audit_log_write_csv(struct buffer *out, sqlite3_stmt *row)
{
    struct audit_record record;
    char id[ID_SIZE], time[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE], status[24], count[24];
    audit_record_from_row(row, &record);
    write_id(row, id);
    timestamp_format(record.time_ms, time);
    timestamp_format(record.last_ms, last);
    snprintf(status, sizeof(status), "%" PRId64, record.status);
    snprintf(count, sizeof(count), "%" PRId64, record.count);
    const char *cells[] = {time,
                           id,
                           record.subject,
                           record.subject_type,
                           record.address,
                           record.action,
                           record.method,
                           record.url,
                           record.entity_type,
                           record.entity_name,
                           record.entity_id,
                           result_of(&record),
                           status,
                           column(row, 3) ? column(row, 3) : "",
                           record.operation,
                           record.request,
                           count,
                           last,
                           record.details_json,
                           record.changes_json};
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        if (i > 0)
            buffer_char(out, ',');
        csv_cell(out, cells[i]);
    }
    buffer_text(out, "\r\n");
}

// The list stands under both names that the contract has for it.
static void write_page(struct response *res, const struct list_query *query, const char *rows, int64_t total)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_raw(&json, "audit_logs", rows);
    json_raw(&json, "logs", rows);
    json_int(&json, "total", total);
    if (query->request.limit > 0)
        list_query_write_next(query, &json);
    json_end_object(&json);
}

static int read_page(struct request *req, struct list_query *query, struct buffer *rows, int64_t *out_total,
                     struct error *err)
{
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_open(query, conn, err);
    json_writer_init(&json, rows, false);
    json_begin_array(&json);
    if (rc == 0)
        while ((rc = list_query_step(query, err)) == 1)
            audit_log_write(&json, query->stmt);
    json_end_array(&json);
    list_query_close(query);
    if (rc == 0)
        rc = list_query_count(query, conn, out_total, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_getAuditLogs(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct buffer rows;
    if (audit_log_init(req, &query, err) < 0)
        return -1;
    buffer_init(&rows, 0);
    query.answer = &rows;
    int64_t total = 0;
    int rc = read_page(req, &query, &rows, &total, err);
    if (rc == 0)
        write_page(res, &query, rows.data, total);
    buffer_done(&rows);
    return rc;
}
