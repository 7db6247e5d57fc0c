#include "api/workloads/apps.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/peers.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/accounts/external_people.h"
#include "db/db.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char SQL_EXPOSED[] = "SELECT json_extract(spec_json, '$.exposedUrls') FROM workloads WHERE id = ?";

// What is asked for: a port, or the first (0).
struct wanted {
    const char *workload;
    uint16_t port;
};

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));
        if (item && strcasecmp(item, text) == 0)
            return true;
    }
    return false;
}

static int has_group(const struct request *req, struct db_conn *conn, const json_t *list, bool *out_has,
                     struct error *err)
{
    struct external_groups groups = {0};
    if (req->caller->type == SUBJECT_USER &&
        db_list_groups_of_user(conn, req->caller->subject_id, req->arena, &groups, err) < 0)
        return -1;
    for (size_t i = 0; i < groups.count && !*out_has; i++)
        *out_has = has_text(list, groups.names[i]);
    return 0;
}

// Lists name people by e-mail, or groups. Without a list, and unless all who are signed in may, it takes what a shell
// takes: who reaches a notebook runs code in it.
static int check_item(const struct request *req, struct db_conn *conn, const struct workload_state *workload,
                      const json_t *item, struct error *err)
{
    const json_t *users = json_object_get(item, "authorizedUsers"), *groups = json_object_get(item, "authorizedGroups");
    const char *access = json_string_value(json_object_get(item, "authorizationType"));
    bool is_listed = has_text(users, req->caller->name);
    if (json_array_size(groups) > 0 && has_group(req, conn, groups, &is_listed, err) < 0)
        return -1;
    if (is_listed)
        return 0;
    if (json_array_size(users) > 0 || json_array_size(groups) > 0 || (access && strncmp(access, "authorized", 10) == 0))
        return error_set(err, ERROR_FORBIDDEN, "workload %s: you are not among those who may open it", workload->uuid);
    if (access && strcmp(access, "authenticatedUsers") == 0)
        return 0;
    return access_check(req, &workload->scope, RESOURCE_TYPE_WORKLOADS, ACTION_UPDATE,
                        arena_printf(req->arena, "workload %s", workload->uuid), err);
}

static int find_port(const struct request *req, struct db_conn *conn, const struct workload_state *workload,
                     uint16_t *port, struct error *err)
{
    sqlite3_stmt *stmt;
    const char *text = NULL;
    if (db_prepare(conn, SQL_EXPOSED, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload->id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        text = db_column_text(stmt, 0, req->arena);
    db_release(conn, stmt);
    if (rc < 0)
        return -1;
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(list) && !found; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t container = (json_int_t)json_number_value(json_object_get(item, "container"));
        if (!json_is_true(json_object_get(item, "exclude")) && (*port == 0 || container == *port))
            found = item;
    }
    if (found) {
        *port = (uint16_t)json_number_value(json_object_get(found, "container"));
        rc = check_item(req, conn, workload, found, err);
    } else {
        rc = error_set(err, ERROR_NOT_FOUND, "workload %s: none of its exposed URLs has that port", workload->uuid);
    }
    json_decref(list);
    return rc;
}

// Where all share an origin, what runs in one workload could read the others by the browser of who opens it.
static int check_origin(const struct request *req, const struct workload_state *workload, struct error *err)
{
    if (apps_domain(req->server->apps)->is_host_each || strcmp(workload->created_by, req->caller->name) == 0)
        return 0;
    error_set(err, ERROR_FORBIDDEN, "workload %s: only who submitted it can open it here", workload->uuid);
    return error_details(err, "a host name for each workload lets others in: --apps-domain '*.DOMAIN'");
}

static int find_app(const struct request *req, struct wanted *wanted, struct workload_state *out_state,
                    struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_workload(conn, wanted->workload, NULL, req->arena, out_state, err);
    const char *what = arena_printf(req->arena, "workload %s", wanted->workload);
    if (rc == 0)
        rc = access_check(req, &out_state->scope, RESOURCE_TYPE_WORKLOADS, ACTION_READ, what, err);
    if (rc == 0 && out_state->deleted_ms)
        rc = error_set(err, ERROR_NOT_FOUND, "%s: not found, it was deleted", what);
    if (rc == 0 && req->caller->must_change_password)
        rc = error_set(err, ERROR_FORBIDDEN, "the password must be changed first");
    if (rc == 0)
        rc = find_port(req, conn, out_state, &wanted->port, err);
    if (rc == 0)
        rc = check_origin(req, out_state, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_open_workload(struct request *req, struct response *res, struct error *err)
{
    struct workload_state workload;
    struct reconciler_caller caller;
    struct wanted wanted = {request_path(req, "workloadId"),
                            (uint16_t)json_integer_value(json_object_get(req->body, "port"))};
    char address[APP_ADDRESS_SIZE], invitation[APP_ADDRESS_SIZE];
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &workload, err) < 0)
        return -1;
    if (!req->server->apps) {
        error_set(err, ERROR_LATER, "no address for workloads' ports is set up");
        return error_details(err, "the server's --apps-listen gives them one");
    }
    if (find_app(req, &wanted, &workload, err) < 0 || workload_check_person(req, &workload, &caller, err) < 0)
        return -1;
    struct app_pass pass = {.place.port = wanted.port,
                            .holder.machine_uid = req->caller->is_peer ? req->peer->uid : -1};
    snprintf(pass.holder.session, sizeof(pass.holder.session), "%s", req->caller->session_id);
    snprintf(pass.holder.subject, sizeof(pass.holder.subject), "%s", req->caller->subject_uuid);
    snprintf(pass.holder.name, sizeof(pass.holder.name), "%s", req->caller->name);
    snprintf(pass.place.workload, sizeof(pass.place.workload), "%s", workload.uuid);
    if (workload_record(
            req, &workload, "Opened",
            arena_printf(req->arena, "%s opens port %u of %s", req->caller->name, wanted.port, workload.name), err) < 0)
        return -1;
    apps_invite(req->server->apps, &pass, invitation);
    app_address(apps_domain(req->server->apps), &pass.place, address);
    return response_json(res, json_pack("{s:s, s:s, s:i, s:i}", "url", invitation, "address", address, "port",
                                        (int)wanted.port, "expiresInSeconds", PASS_CODE_SECONDS));
}

// The holder as the caller of a request that came by no connection of ours.
struct visit {
    struct arena arena;
    struct peer peer;
    struct request req;
    struct workload_state workload;
};

typedef int (*authenticator)(struct request *req, const char *session_uuid, struct error *err);

static int begin_visit(struct server *server, const struct app_pass *pass, authenticator ask, struct visit *visit,
                       struct error *err)
{
    struct wanted wanted = {pass->place.workload, pass->place.port};
    *visit = (struct visit){.req = {.server = server,
                                    .arena = &visit->arena,
                                    .remote_address = "apps",
                                    .id = "apps",
                                    .received_ms = timestamp_now_ms()}};
    arena_init(&visit->arena);
    if (pass->holder.machine_uid >= 0) {
        visit->peer.uid = pass->holder.machine_uid;
        memcpy(visit->peer.session, pass->holder.session, sizeof(visit->peer.session));
        visit->req.peer = &visit->peer;
    }
    if (ask(&visit->req, pass->holder.session, err) < 0)
        return -1;
    return find_app(&visit->req, &wanted, &visit->workload, err);
}

static int check(void *context, const struct app_pass *pass, struct error *err)
{
    struct visit visit;
    int rc = begin_visit(context, pass, authenticate_session, &visit, err);
    arena_done(&visit.arena);
    return rc;
}

static int open_port(void *context, const struct app_pass *pass, int *out_fd, struct error *err)
{
    struct visit visit;
    struct reconciler_port opened;
    struct reconciler_port_request request = {.port = pass->place.port};
    int rc = begin_visit(context, pass, authenticate_use_of_session, &visit, err);
    if (rc == 0) {
        request.workload_id = visit.workload.id;
        rc = workload_check_person(&visit.req, &visit.workload, &request.caller, err);
    }
    if (rc == 0) {
        rc = reconciler_open_port(visit.req.server->reconciler, &request, &visit.arena, &opened, err);
        if (rc == 0)
            *out_fd = opened.fd;
        else if (err->code == ERROR_NOT_FOUND || err->code == ERROR_CONFLICT)
            err->code = ERROR_UNAVAILABLE; // it starts, or starts again
    }
    arena_done(&visit.arena);
    return rc;
}

struct apps_rights workload_apps_rights(struct server *server)
{
    return (struct apps_rights){.context = server, .check = check, .open = open_port};
}
