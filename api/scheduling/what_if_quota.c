// What a change of quotas, limits, weights or ranks would lead to: POST /scheduler/what-if/quota. The change is made on
// the writer's thread as PUT and PATCH make it, so that it is checked alike, and undone; what it leads to is planned on
// this thread over the latest cycle.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/organisation/quota_rights.h"
#include "api/scheduling/present_answer.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/org_units.h"
#include "reconciler/questions.h"

#include <string.h>

struct asked_unit {
    enum org_unit_kind kind;
    size_t position; // in its list
    int64_t id;
    const json_t *resources;
    struct org_unit before;
};

struct quota_change {
    struct request *req;
    struct asked_unit *asked;
    size_t count;
    struct org_unit *after; // result, as asked
    bool is_made;
};

static const char *list_of(enum org_unit_kind kind)
{
    return kind == ORG_UNIT_PROJECT ? "projects" : "departments";
}

// What is not there, or must not be seen, is a wrong field of the body.
static int check_unit(struct request *req, const struct asked_unit *unit, const char *id, struct error *err)
{
    int rc = unit->kind == ORG_UNIT_PROJECT
                 ? access_check_project(req, unit->id, RESOURCE_TYPE_PROJECT, ACTION_UPDATE, NULL, err)
                 : access_check_department(req, unit->id, RESOURCE_TYPE_DEPARTMENT, ACTION_UPDATE, NULL, err);
    if (rc < 0 && err->code == ERROR_NOT_FOUND)
        return error_set(err, ERROR_INVALID, "%s[%zu].id: no %s \"%.60s\"", list_of(unit->kind), unit->position,
                         org_unit_kind_text(unit->kind), id);
    return rc;
}

static int read_list(struct request *req, enum org_unit_kind kind, struct quota_change *change, struct error *err)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(req->body, list_of(kind)), i, entry) {
        const char *id = json_string_value(json_object_get(entry, "id"));
        struct asked_unit unit = {kind, i, id_from_text(id), json_object_get(entry, "resources"), {0}};
        for (size_t k = 0; k < change->count; k++)
            if (change->asked[k].kind == kind && change->asked[k].id == unit.id)
                return error_set(err, ERROR_INVALID, "%s[%zu].id: duplicate: %.60s", list_of(kind), i, id);
        if (check_unit(req, &unit, id, err) < 0)
            return -1;
        change->asked[change->count++] = unit;
    }
    return 0;
}

// Departments first: projects must fit into them.
static int read_change(struct request *req, struct quota_change *change, struct error *err)
{
    size_t most = json_array_size(json_object_get(req->body, "departments")) +
                  json_array_size(json_object_get(req->body, "projects"));
    if (most == 0)
        return error_set(err, ERROR_INVALID, "projects: expected a project or a department to change");
    change->req = req;
    change->asked = arena_array(req->arena, most, sizeof(*change->asked));
    change->after = arena_array(req->arena, most, sizeof(*change->after));
    return read_list(req, ORG_UNIT_DEPARTMENT, change, err) < 0 || read_list(req, ORG_UNIT_PROJECT, change, err) < 0
               ? -1
               : 0;
}

static int change_unit(struct db_conn *conn, struct request *req, struct asked_unit *unit, struct error *err)
{
    struct resources_change change = {
        .kind = unit->kind,
        .id = unit->id,
        .resources = unit->resources,
        .updated_by = req->caller->name,
        .now_ms = req->received_ms,
    };
    if (db_find_org_unit(conn, unit->kind, unit->id, req->arena, &unit->before, err) < 0)
        return -1;
    if (db_change_resources(conn, &change, req->arena, err) == 0)
        return 0;
    return err->code == ERROR_INVALID ? error_prefix(err, "%s[%zu].%s", list_of(unit->kind), unit->position,
                                                     err->message[0] == '[' ? "resources" : "")
                                      : -1;
}

// Always fails in the end, so that nothing stays of it.
static int make_change(struct db_conn *conn, void *context, struct error *err)
{
    struct quota_change *change = context;
    struct request *req = change->req;
    for (size_t i = 0; i < change->count; i++)
        if (change_unit(conn, req, &change->asked[i], err) < 0)
            return -1;
    for (size_t i = 0; i < change->count; i++) {
        const struct asked_unit *unit = &change->asked[i];
        if (db_find_org_unit(conn, unit->kind, unit->id, req->arena, &change->after[i], err) < 0 ||
            quota_rights_check(conn, req->caller, &unit->before, &change->after[i], err) < 0)
            return -1;
    }
    change->is_made = true;
    return error_set(err, ERROR_CONFLICT, "the change was tried and is undone");
}

static void write_answer(struct request *req, struct response *res, const struct present *present,
                         const struct quota_answer *found)
{
    struct present_answer answer;
    present_answer_open(&answer, req, res, present);
    for (size_t i = 0; i < found->workload_count; i++)
        visibility_expect(&answer.visibility, found->workloads[i].workload);
    json_begin_object(&answer.json);
    why_write_quota(&answer.json, &answer.names, found);
    present_answer_stamp(&answer);
    json_end_object(&answer.json);
    present_answer_close(&answer);
}

int op_ask_what_if_quota(struct request *req, struct response *res, struct error *err)
{
    struct quota_change change = {0};
    struct present present;
    struct quota_answer answer;
    if (read_change(req, &change, err) < 0)
        return -1;
    (void)db_write_alone(req->server->db, make_change, &change, err);
    if (!change.is_made || present_ask(req, &present, err) < 0)
        return -1;
    *err = (struct error){0};
    int rc = present_what_if_quota(&present, change.after, change.count, &answer, err);
    if (rc == 0)
        write_answer(req, res, &present, &answer);
    present_close(&present);
    return rc;
}
