// Consumption reports. The file is made by the request that asks for it, from the allocations as they are then: a
// report stays as it was. It is for who made it, and for who may read consumption in the whole tenant.
#include "db/reports.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/consumption.h"
#include "db/db.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_CHARACTERS = 255
};

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "r.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "createdBy", .sql = "r.created_by", .type = LIST_TEXT, .is_searched = true},
    {.name = "createdAt", .sql = "r.created_ms", .type = LIST_TIME},
    {.name = "status", .sql = "'Ready'", .type = LIST_TEXT},
};

static const struct list_source REPORT_LIST = {
    .columns = REPORT_COLUMNS,
    .from = "reports r",
    .id = "r.id",
    .order = "r.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

// The words of the contract, and the head of the group's column.
static const struct {
    const char *word, *head;
} GROUPS[] = {
    [CONSUMPTION_BY_NOTHING] = {"", NULL},
    [CONSUMPTION_BY_NODE_POOL] = {"Nodepool", "Node pool"},
    [CONSUMPTION_BY_PROJECT] = {"Project", "Project"},
    [CONSUMPTION_BY_DEPARTMENT] = {"Department", "Department"},
    [CONSUMPTION_BY_CLUSTER] = {"Cluster", "Cluster"},
};

static void write_report(struct json_writer *json, const struct report *report)
{
    json_begin_object(json);
    json_text(json, "name", report->name);
    json_text(json, "description", report->description);
    json_time(json, "start", report->start_ms);
    json_time(json, "end", report->end_ms);
    if (report->group_by)
        json_text(json, "groupBy", report->group_by);
    else
        json_null_at(json, "groupBy");
    json_raw(json, "filterBy", report->filters_json);
    json_text(json, "id", report->uuid);
    json_int(json, "tenantId", TENANT_ID);
    json_time(json, "createdAt", report->created_ms);
    json_text(json, "createdBy", report->created_by);
    json_text(json, "status", "Ready");
    json_time(json, "statusUpdatedAt", report->created_ms);
    json_end_object(json);
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    (void)context;
    struct report report;
    report_from_row(row, req->arena, &report);
    write_report(json, &report);
}

static bool sees_all(const struct request *req)
{
    static const struct scope_path TENANT = {0};
    return access_is_held(req->caller, &TENANT, RESOURCE_TYPE_DASHBOARDS_CONSUMPTION, ACTION_READ);
}

static int init_list(struct request *req, struct list_query *query, struct error *err)
{
    if (list_query_init(query, &REPORT_LIST, req, err) < 0)
        return -1;
    if (!sees_all(req))
        list_query_where_text(query, "r.created_by = ?", req->caller->name);
    return 0;
}

int op_list_reports(struct request *req, struct response *res, struct error *err)
{
    static const struct list_form FORM = {.key = "reports", .write_row = write_row};
    struct list_query query;
    return init_list(req, &query, err) < 0 ? -1 : list_answer(req, res, &query, &FORM, NULL, err);
}

int op_count_reports(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_list(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

int op_are_reports_available(struct request *req, struct response *res, struct error *err)
{
    (void)req;
    (void)err;
    return response_json(res, json_pack("{s:b}", "isAvailable", 1));
}

static int answer_report(struct response *res, const struct report *report)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    write_report(&json, report);
    return 0;
}

static int find_report(struct request *req, struct report *out_report, struct error *err)
{
    const char *uuid = request_path(req, "reportId");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_report(conn, uuid, req->arena, out_report, err);
    db_give_back(req->server->db, conn);
    if (rc > 0 && !sees_all(req) && strcmp(out_report->created_by, req->caller->name) != 0)
        rc = 0;
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "report %.60s: not found", uuid);
    return rc < 0 ? -1 : 0;
}

int op_get_report_by_id(struct request *req, struct response *res, struct error *err)
{
    struct report report;
    return find_report(req, &report, err) < 0 ? -1 : answer_report(res, &report);
}

int op_download_report_by_id(struct request *req, struct response *res, struct error *err)
{
    struct report report;
    if (find_report(req, &report, err) < 0)
        return -1;
    response_header(res, "Content-Disposition", "attachment; filename=\"report.csv\"");
    res->content_type = "text/csv; charset=utf-8";
    buffer_text(res->body, report.file);
    return 0;
}

int op_delete_report_by_id(struct request *req, struct response *res, struct error *err)
{
    struct report report;
    if (find_report(req, &report, err) < 0 || db_delete_report(req->server->db, report.uuid, err) < 0)
        return -1;
    return response_empty(res, 204);
}

static int read_texts(const struct request *req, struct report *report, struct error *err)
{
    const json_t *description = json_object_get(req->body, "description");
    report->name = json_string_value(json_object_get(req->body, "name"));
    report->description = json_is_string(description) ? json_string_value(description) : "";
    if (!*report->name || strlen(report->name) > NAME_MAX_CHARACTERS)
        return error_set(err, ERROR_INVALID, "name: from 1 to %d characters", NAME_MAX_CHARACTERS);
    return 0;
}

static int read_period(const struct request *req, struct report *report, struct error *err)
{
    const char *start = json_string_value(json_object_get(req->body, "start"));
    const char *end = json_string_value(json_object_get(req->body, "end"));
    if (timestamp_parse(start, &report->start_ms, NULL) < 0 || timestamp_parse(end, &report->end_ms, NULL) < 0)
        return error_set(err, ERROR_INVALID, "start, end: expected ISO 8601 times");
    if (report->end_ms <= report->start_ms)
        return error_set(err, ERROR_INVALID, "end: expected a time after start");
    if (report->start_ms > req->received_ms)
        return error_set(err, ERROR_INVALID, "start: expected a time before now");
    return 0;
}

static const char *dump(const json_t *value, struct arena *arena)
{
    char *text = json_dumps(value, JSON_COMPACT);
    const char *copy = arena_strdup(arena, text);
    free(text);
    return copy;
}

// The values that a field is asked for, as a JSON list; NULL: it is not asked for.
static const char *read_filter(const json_t *filters, const char *field, struct arena *arena)
{
    json_t *values = json_array();
    size_t i, length = strlen(field);
    json_t *filter;
    json_array_foreach(filters, i, filter) {
        const char *text = json_string_value(filter);
        if (text && strncmp(text, field, length) == 0 && strncmp(text + length, "==", 2) == 0)
            json_array_append_new(values, json_string(text + length + 2));
    }
    const char *list = json_array_size(values) ? dump(values, arena) : NULL;
    json_decref(values);
    return list;
}

static enum consumption_group read_group(const struct request *req, struct report *report)
{
    const char *word = json_string_value(json_object_get(req->body, "groupBy"));
    for (size_t i = 1; word && i < sizeof(GROUPS) / sizeof(GROUPS[0]); i++) {
        if (strcmp(GROUPS[i].word, word) == 0) {
            report->group_by = word;
            return (enum consumption_group)i;
        }
    }
    return CONSUMPTION_BY_NOTHING;
}

static const char *write_file(const struct consumption_query *query, const struct consumption *rows, size_t count,
                              struct arena *arena)
{
    struct buffer file;
    char start[TIMESTAMP_SIZE], end[TIMESTAMP_SIZE];
    const char *head = GROUPS[query->group].head;
    timestamp_format(query->start_ms, start);
    timestamp_format(query->end_ms, end);
    buffer_init(&file, 0);
    buffer_printf(&file, "Start,End,%s%sGPU hours,CPU core hours,Memory GB hours\r\n", head ? head : "",
                  head ? "," : "");
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&file, "%s,%s,", start, end);
        if (head) {
            csv_cell(&file, *rows[i].name ? rows[i].name : "(deleted)");
            buffer_char(&file, ',');
        }
        buffer_printf(&file, "%.6f,%.6f,%.6f\r\n", rows[i].gpu_hours, rows[i].cpu_core_hours, rows[i].memory_gb_hours);
    }
    const char *text = arena_strdup(arena, file.data);
    buffer_done(&file);
    return text;
}

static int make_file(struct request *req, struct report *report, struct error *err)
{
    const json_t *filters = json_object_get(req->body, "filterBy");
    struct scope_filter shown;
    struct consumption *rows;
    size_t count;
    access_filter(req, RESOURCE_TYPE_DASHBOARDS_CONSUMPTION, ACTION_CREATE, &shown);
    struct consumption_query query = {
        .start_ms = report->start_ms,
        .end_ms = report->end_ms,
        .now_ms = req->received_ms,
        .group = read_group(req, report),
        .project_names_json = read_filter(filters, "projectName", req->arena),
        .department_names_json = read_filter(filters, "departmentName", req->arena),
        .cluster_uuids_json = read_filter(filters, "clusterId", req->arena),
        .shown = &shown,
    };
    report->filters_json = json_is_array(filters) ? dump(filters, req->arena) : "[]";
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_sum_consumption(conn, &query, req->arena, &rows, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    report->file = write_file(&query, rows, count, req->arena);
    return 0;
}

int op_create_report(struct request *req, struct response *res, struct error *err)
{
    char uuid[UUID_SIZE];
    struct report report = {.uuid = uuid, .created_by = req->caller->name, .created_ms = req->received_ms};
    uuid_create(uuid);
    if (read_texts(req, &report, err) < 0 || read_period(req, &report, err) < 0 || make_file(req, &report, err) < 0 ||
        db_create_report(req->server->db, &report, err) < 0)
        return -1;
    return answer_report(res, &report);
}
