#include "api/organisation/organisation.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/organisation/quota_rights.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/org_units.h"
#include "db/queues.h"
#include "db/unit_numbers.h"

#include <stdlib.h>
#include <string.h>

int64_t id_from_text(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > 18 || strspn(text, "0123456789") != length)
        return 0;
    return strtoll(text, NULL, 10);
}

int org_units_read(struct request *req, struct db_conn *conn, enum org_unit_kind kind, struct list_query *query,
                   struct org_unit **out_units, size_t *out_count, struct error *err)
{
    struct org_unit *units = NULL;
    size_t count = 0, capacity = 0;
    int rc = list_query_open(query, conn, err);
    while (rc >= 0 && (rc = list_query_step(query, err)) == 1) {
        units = arena_grow(req->arena, units, &capacity, count + 1, sizeof(*units));
        org_unit_from_row(query->stmt, kind, req->arena, &units[count++]);
    }
    list_query_close(query);
    if (rc < 0 || db_read_queues(conn, kind, units, count, req->arena, err) < 0)
        return -1;
    *out_units = units;
    *out_count = count;
    return kind == ORG_UNIT_DEPARTMENT ? db_read_department_projects(conn, units, count, req->arena, err) : 0;
}

static bool reads_at(const struct request *req, const struct org_unit *unit, enum resource_type type)
{
    struct scope_path where = {.cluster_id = unit->cluster_id};
    where.department_id = unit->kind == ORG_UNIT_PROJECT ? unit->department_id : unit->id;
    where.project_id = unit->kind == ORG_UNIT_PROJECT ? unit->id : 0;
    return access_is_held(req->caller, &where, type, ACTION_READ);
}

// Two statements, whatever there is. A number stands only where the caller may read all that it counts.
static int read_numbers(struct request *req, struct db_conn *conn, struct org_unit *units, size_t count,
                        struct error *err)
{
    struct scope_filter shown;
    int64_t *workloads = arena_array(req->arena, count, sizeof(*workloads)),
            *subjects = arena_array(req->arena, count, sizeof(*subjects));
    struct org_unit_numbers *numbers = arena_array(req->arena, count, sizeof(*numbers));
    access_filter(req, RESOURCE_TYPE_ACCESS_RULES, ACTION_READ, &shown);
    if (db_count_unit_workloads(conn, units, count, req->arena, workloads, err) < 0 ||
        db_count_unit_subjects(conn, units, count, &shown, req->received_ms, req->arena, subjects, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        numbers[i].workloads = reads_at(req, &units[i], RESOURCE_TYPE_WORKLOADS) ? workloads[i] : -1;
        numbers[i].subjects = reads_at(req, &units[i], RESOURCE_TYPE_ACCESS_RULES) ? subjects[i] : -1;
        units[i].numbers = &numbers[i];
    }
    return 0;
}

int org_unit_answer_list(struct request *req, struct response *res, enum org_unit_kind kind, struct list_query *query,
                         struct error *err)
{
    struct org_unit *units = NULL;
    size_t count = 0;
    const char *verbosity = request_query(req, "verbosity");
    bool is_verbose = !verbosity || strcmp(verbosity, "verbose") == 0;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = org_units_read(req, conn, kind, query, &units, &count, err);
    if (rc == 0 && is_verbose)
        rc = read_numbers(req, conn, units, count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, kind == ORG_UNIT_PROJECT ? "projects" : "departments");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        org_unit_write_json(&units[i], is_verbose, &json);
    json_end_array(&json);
    list_query_write_next(query, &json);
    json_end_object(&json);
    return 0;
}

static int find_unit(struct request *req, enum org_unit_kind kind, int64_t id, struct org_unit *out_unit,
                     struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_org_unit(conn, kind, id, req->arena, out_unit, err);
    if (rc == 0 && kind == ORG_UNIT_DEPARTMENT)
        rc = db_read_department_projects(conn, out_unit, 1, req->arena, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int org_unit_answer(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id, struct error *err)
{
    struct org_unit unit;
    struct json_writer json;
    if (find_unit(req, kind, id, &unit, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    org_unit_write_json(&unit, true, &json);
    return 0;
}

// What a write function needs; it runs on the writer's thread while the request waits.
struct unit_write {
    struct request *req;
    struct org_unit *unit;
    const json_t *resources;
    bool replace;
    bool is_finished;
};

static int create_unit(struct db_conn *conn, void *context, struct error *err)
{
    struct unit_write *write = context;
    return db_create_org_unit(conn, write->unit, json_object_get(write->req->body, "resources"), write->req->arena,
                              err);
}

int org_unit_create(struct request *req, struct response *res, struct org_unit *unit, struct error *err)
{
    struct unit_write write = {.req = req, .unit = unit};
    if (org_unit_from_json(unit, req->body, req->arena, err) < 0)
        return -1;
    unit->created_by = unit->updated_by = req->caller->name;
    unit->created_ms = unit->updated_ms = req->received_ms;
    if (db_write(req->server->db, create_unit, &write, err) < 0)
        return -1;
    return org_unit_answer(req, res, unit->kind, unit->id, err);
}

// After the change, so that what the database filled in counts as well.
static int check_quota_rights(struct db_conn *conn, struct request *req, const struct org_unit *before,
                              struct error *err)
{
    struct org_unit after;
    if (db_find_org_unit(conn, before->kind, before->id, req->arena, &after, err) < 0)
        return -1;
    return quota_rights_check(conn, req->caller, before, &after, err);
}

// Reads and changes on the writer's thread, so that what was read is not stale.
static int update_unit(struct db_conn *conn, void *context, struct error *err)
{
    struct unit_write *write = context;
    struct request *req = write->req;
    struct org_unit unit, before; // with queues of its own: the unit's are changed in place
    if (db_find_org_unit(conn, write->unit->kind, write->unit->id, req->arena, &unit, err) < 0 ||
        db_find_org_unit(conn, write->unit->kind, write->unit->id, req->arena, &before, err) < 0)
        return -1;
    if (org_unit_from_json(&unit, req->body, req->arena, err) < 0)
        return -1;
    unit.department_id = before.department_id;
    unit.updated_by = req->caller->name;
    unit.updated_ms = req->received_ms;
    if (db_update_org_unit(conn, &unit, json_object_get(req->body, "resources"), req->arena, err) < 0)
        return -1;
    return check_quota_rights(conn, req, &before, err);
}

int org_unit_update(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id, struct error *err)
{
    struct org_unit unit = {.kind = kind, .id = id};
    struct unit_write write = {.req = req, .unit = &unit};
    if (db_write(req->server->db, update_unit, &write, err) < 0)
        return -1;
    return org_unit_answer(req, res, kind, id, err);
}

static int change_resources(struct db_conn *conn, void *context, struct error *err)
{
    struct unit_write *write = context;
    struct resources_change change = {
        .kind = write->unit->kind,
        .id = write->unit->id,
        .resources = write->resources,
        .replace = write->replace,
        .updated_by = write->req->caller->name,
        .now_ms = write->req->received_ms,
    };
    struct org_unit before;
    if (db_find_org_unit(conn, change.kind, change.id, write->req->arena, &before, err) < 0 ||
        db_change_resources(conn, &change, write->req->arena, err) < 0)
        return -1;
    return check_quota_rights(conn, write->req, &before, err);
}

int org_unit_set_resources(struct request *req, enum org_unit_kind kind, int64_t id, const json_t *resources,
                           bool replace, struct error *err)
{
    struct org_unit unit = {.kind = kind, .id = id};
    struct unit_write write = {.req = req, .unit = &unit, .resources = resources, .replace = replace};
    return db_write(req->server->db, change_resources, &write, err);
}

int org_unit_change_resources(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id,
                              bool replace, struct error *err)
{
    struct org_unit unit;
    struct json_writer json;
    if (org_unit_set_resources(req, kind, id, req->body, replace, err) < 0 || find_unit(req, kind, id, &unit, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    org_unit_write_resources(&unit, &json);
    return 0;
}

static int delete_unit(struct db_conn *conn, void *context, struct error *err)
{
    struct unit_write *write = context;
    const struct request *req = write->req;
    if (write->unit->kind == ORG_UNIT_PROJECT)
        return db_delete_project(conn, write->unit->id, req->caller->name, req->received_ms, &write->is_finished, err);
    return db_delete_department(conn, write->unit->id, req->caller->name, req->received_ms, &write->is_finished, err);
}

int org_unit_delete(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id, struct error *err)
{
    struct org_unit unit = {.kind = kind, .id = id};
    struct unit_write write = {.req = req, .unit = &unit};
    if (db_write(req->server->db, delete_unit, &write, err) < 0)
        return -1;
    // The contract of departments has no 202; their last projects may take a moment longer.
    if (write.is_finished || kind == ORG_UNIT_DEPARTMENT)
        return response_empty(res, 204);
    return response_message(res, 202, "the project is deleted when its workloads are gone");
}
