#include "api/audit/recorder.h"

#include "api/access/audit.h"
#include "api/audit/audit.h"
#include "api/audit/before.h"
#include "api/audit/changes.h"
#include "api/http/exchange.h"
#include "api/http/idempotency.h"
#include "api/schema.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/db.h"

#include <civetweb.h>
#include <stdlib.h>
#include <string.h>

enum {
    URL_MAX = 512,
    REFUSED = 400 // the first status of a refusal
};

struct audit_work {
    struct audit_draft draft; // the first: req->audit is this
    struct db_companion companion;
    struct request *req;
    const struct route *route;
    const struct path *path;
    const char *url, *method;
    const char *changes;               // JSON
    const char *scope_type, *scope_id; // NULL: nowhere below
    const char *last_id;               // of the thing that the last record was about
    bool has_record;
};

// What is changed, by the resource of the operation's permission.
struct entity_kind {
    const char *resource, *type;
    int change; // enum change_kind; -1: none tells
};

static const struct entity_kind KINDS[] = {
    {"workloads", "workload", CHANGE_WORKLOAD},
    {"trainings", "workload", CHANGE_WORKLOAD},
    {"workspaces", "workload", CHANGE_WORKLOAD},
    {"inferences", "workload", CHANGE_WORKLOAD},
    {"project", "project", CHANGE_PROJECT},
    {"department", "department", CHANGE_DEPARTMENT},
    {"nodepools", "node-pool", CHANGE_NODE_POOL},
    {"nodes", "node", CHANGE_NODE},
    {"cluster", "cluster", CHANGE_CLUSTER},
    {"network-topologies", "network-topology", CHANGE_CLUSTER},
    {"compute-resources", "compute-asset", CHANGE_ASSET},
    {"environments", "environment-asset", CHANGE_ASSET},
    {"templates", "template", CHANGE_ASSET},
    {"policies", "policy", CHANGE_POLICY},
    {"credentials", "credential", CHANGE_ASSET},
    {"users", "user", CHANGE_ACCESS},
    {"service-account", "service-account", CHANGE_ACCESS},
    {"apps", "application", CHANGE_ACCESS},
    {"access_rules", "access-rule", CHANGE_ACCESS},
    {"roles", "role", CHANGE_ACCESS},
    {"tenant", "backup", -1},
    {"settings", "setting", CHANGE_SETTING},
    {"security-settings", "setting", CHANGE_SETTING},
    {"dashboards-consumption", "report", -1},
    {"workload-properties", "workload-type", CHANGE_SETTING},
};

// What the method doesn't tell.
static const struct {
    const char *operation;
    enum audit_action action;
} ACTIONS[] = {
    {"create_session", AUDIT_SIGN_IN},
    {"grant_token", AUDIT_SIGN_IN},
    {"grant_token_v2", AUDIT_SIGN_IN},
    {"grant_token_of_realm", AUDIT_SIGN_IN},
    {"app_token", AUDIT_SIGN_IN},
    {"delete_session", AUDIT_SIGN_OUT},
    {"end_openid_session", AUDIT_SIGN_OUT},
    {"logout_user", AUDIT_SIGN_OUT},
    {"reset_user_password", AUDIT_RESET_PASSWORD},
    {"change_user_password", AUDIT_RESET_PASSWORD},
    {"access_rules_batch", AUDIT_DELETE},
    {"downloadAuditLogs", AUDIT_READ},
};

// Operations that are no GET and write nothing, or go on with what has its record.
static const char *const NO_WRITES[] = {"get_permitted_scopes", "ask_what_if", "ask_what_if_quota",
                                        "create_exec_input"};

static bool is_write(const struct operation *operation)
{
    if (operation->method == HTTP_METHOD_GET || (operation->action && strcmp(operation->action, "read") == 0))
        return false;
    for (size_t i = 0; i < sizeof(NO_WRITES) / sizeof(NO_WRITES[0]); i++)
        if (strcmp(operation->id, NO_WRITES[i]) == 0)
            return false;
    return true;
}

static const struct entity_kind *kind_of(const struct operation *operation)
{
    for (size_t i = 0; operation->resource && i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (strcmp(KINDS[i].resource, operation->resource) == 0)
            return &KINDS[i];
    return NULL;
}

static enum audit_action action_of(const struct operation *operation)
{
    static const enum audit_action BY_METHOD[HTTP_METHOD_COUNT] = {
        [HTTP_METHOD_GET] = AUDIT_READ,     [HTTP_METHOD_POST] = AUDIT_CREATE,   [HTTP_METHOD_PUT] = AUDIT_UPDATE,
        [HTTP_METHOD_PATCH] = AUDIT_UPDATE, [HTTP_METHOD_DELETE] = AUDIT_DELETE,
    };
    for (size_t i = 0; i < sizeof(ACTIONS) / sizeof(ACTIONS[0]); i++)
        if (strcmp(ACTIONS[i].operation, operation->id) == 0)
            return ACTIONS[i].action;
    if (operation->method == HTTP_METHOD_POST && operation->action && strcmp(operation->action, "update") == 0)
        return AUDIT_UPDATE;
    return BY_METHOD[operation->method];
}

static const char *method_name(enum http_method method)
{
    static const char *const NAMES[HTTP_METHOD_COUNT] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    return NAMES[method];
}

static struct audit_work *work_of(const struct request *req)
{
    return (struct audit_work *)(void *)req->audit;
}

// What a caller changes of his own, for which he needs no permission; and what the handler knows the permission of.
static const char *type_of_own(const struct operation *operation)
{
    return strstr(operation->path, "/access-keys")        ? "access-key"
           : strstr(operation->path, "/password")         ? "user"
           : strstr(operation->path, "/session")          ? "session"
           : strstr(operation->path, "/me/views")         ? "view"
           : strstr(operation->path, "/asset/datasource") ? "data-source"
                                                          : "";
}

void recorder_begin(struct exchange *exchange, const struct route *route, const struct path *path)
{
    struct request *req = &exchange->request;
    const struct operation *operation = req->operation;
    if (!req->server->audit || req->is_head)
        return;
    const struct entity_kind *kind = kind_of(operation);
    struct audit_work *work = arena_alloc(req->arena, sizeof(*work));
    *work = (struct audit_work){.req = req, .route = route, .path = path};
    work->draft.is_wanted = is_write(operation) || strcmp(operation->id, "downloadAuditLogs") == 0;
    work->draft.action = action_of(operation);
    work->draft.subject = work->draft.entity_id = work->draft.entity_name = "";
    work->draft.entity_type = kind ? kind->type : type_of_own(operation);
    work->url = arena_printf(req->arena, "%.*s", URL_MAX, exchange->info->request_uri);
    work->method = method_name(operation->method);
    work->changes = "[]";
    req->audit = &work->draft;
}

// A name that the object has for itself, or NULL.
static const char *name_in(const json_t *object)
{
    static const char *const KEYS[] = {"name", "email", "username", "workloadName", "key"};
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++) {
        const char *name = json_string_value(json_object_get(object, KEYS[i]));
        if (name && *name)
            return name;
    }
    const json_t *meta = json_object_get(object, "meta");
    return meta ? json_string_value(json_object_get(meta, "name")) : NULL;
}

static void note_scope(struct audit_work *work, const json_t *object)
{
    char id[40];
    const char *type = work->scope_type ? NULL : audit_find_scope(object, id);
    if (!type)
        return;
    work->scope_type = type;
    work->scope_id = arena_strdup(work->req->arena, id);
}

// The last parameter of the path names the thing; one of a project or a department says where it is, too.
static void note_path(struct audit_work *work)
{
    const struct request *req = work->req;
    for (size_t i = 0; i < req->value_count; i++) {
        const struct parameter *parameter = req->values[i].parameter;
        if (parameter->place != PARAMETER_PATH || !req->values[i].text)
            continue;
        const char *name = parameter->name;
        work->draft.entity_id = arena_printf(req->arena, "%.*s", AUDIT_TEXT_MAX, req->values[i].text);
        const char *type = strcmp(name, "projectId") == 0      ? "project"
                           : strcmp(name, "departmentId") == 0 ? "department"
                           : strcmp(name, "workloadId") == 0   ? "workload"
                           : strcmp(name, "clusterUuid") == 0  ? "cluster"
                                                               : NULL;
        if (type) {
            work->scope_type = type;
            work->scope_id = work->draft.entity_id;
        }
    }
}

static void note_changes(struct audit_work *work, const json_t *before, const json_t *after)
{
    struct buffer text;
    if (!before && !after)
        return;
    buffer_init(&text, 2 * CHANGES_BYTES_MAX);
    audit_changes_write(before, after, &text);
    if (!text.overflow)
        work->changes = arena_strdup(work->req->arena, text.data);
    buffer_done(&text);
}

// Runs on the writer thread, while the request's thread waits for it.
static int write_with(struct db_conn *conn, const struct db_change *changes, size_t count, void *context,
                      struct error *err);

static void note_caller(struct audit_work *work)
{
    const struct identity *caller = work->req->caller;
    if (!caller || work->draft.is_certain)
        return;
    work->draft.is_certain = true;
    work->draft.subject_type = caller->type;
    work->draft.subject = caller->name;
}

// A workload that was deleted is still there to be looked at, and its row says where it was.
static bool reads_before(const struct operation *operation)
{
    const struct entity_kind *kind = kind_of(operation);
    return !(operation->method == HTTP_METHOD_DELETE && kind && kind->change == CHANGE_WORKLOAD);
}

void recorder_before(struct exchange *exchange)
{
    struct request *req = &exchange->request;
    struct audit_work *work = work_of(req);
    if (!work)
        return;
    note_caller(work);
    if (work->draft.is_wanted && req->operation->access != OPERATION_ACCESS_OPEN) {
        json_t *before = reads_before(req->operation) ? before_read(req, work->route, work->path) : NULL;
        const json_t *after = req->operation->method == HTTP_METHOD_DELETE ? NULL : req->body;
        const char *name = name_in(req->body) ? name_in(req->body) : name_in(before);
        audit_entity(req, NULL, NULL, name);
        note_path(work);
        note_scope(work, req->body);
        note_scope(work, before);
        note_changes(work, before, after);
        json_decref(before);
    }
    work->companion = (struct db_companion){.fn = write_with, .context = work};
    db_accompany(req->server->db, &work->companion);
}

static const char *details_json(const struct audit_work *work, const char *reason)
{
    json_t *details = json_object();
    for (size_t i = 0; i < work->draft.detail_count; i++)
        json_object_set_new(details, work->draft.details[i].key, json_string(work->draft.details[i].value));
    if (reason)
        json_object_set_new(details, "reason", json_string(reason));
    char *text = json_dumps(details, JSON_COMPACT);
    const char *copy = arena_strdup(work->req->arena, text ? text : "{}");
    free(text);
    json_decref(details);
    return copy;
}

static void fill(const struct audit_work *work, int status, const char *reason, struct audit_record *out_record)
{
    const struct audit_draft *draft = &work->draft;
    const struct request *req = work->req;
    *out_record = (struct audit_record){
        .time_ms = req->received_ms,
        .subject_type = draft->subject_type == SUBJECT_SERVICE_ACCOUNT ? "App" : "User",
        .subject = draft->subject,
        .address = req->remote_address,
        .operation = req->operation->id,
        .action = audit_action_text(draft->action),
        .method = work->method,
        .url = work->url,
        .entity_type = draft->entity_type,
        .entity_id = draft->entity_id,
        .entity_name = draft->entity_name,
        .status = status,
        .count = 1,
        .last_ms = req->received_ms,
        .request = req->id,
        .details_json = details_json(work, reason),
        .changes_json = work->changes,
    };
}

// What the change touched of the operation's own kind; NULL: nothing that has an id.
static const struct db_change *find_touched(const struct request *req, const struct db_change *changes, size_t count)
{
    const struct entity_kind *kind = kind_of(req->operation);
    for (size_t i = 0; kind && i < count; i++)
        if ((int)changes[i].kind == kind->change)
            return &changes[i];
    return NULL;
}

// Where it was: by its row, or by what the request and the thing itself said.
static int find_place(struct db_conn *conn, const struct audit_work *work, const struct db_change *touched,
                      struct audit_record *record, struct error *err)
{
    struct audit_place place = {0};
    struct arena *arena = work->req->arena;
    int rc = 0;
    if (touched)
        rc = db_find_audit_place(conn, change_kind_text(touched->kind), touched->id, arena, &place, err);
    if (rc == 0 && work->scope_type)
        rc = db_find_audit_place(conn, work->scope_type, work->scope_id, arena, &place, err);
    else if (rc > 0 && !record->entity_name[0] && place.name)
        record->entity_name = place.name;
    record->where = place.where;
    return rc < 0 ? -1 : 0;
}

static int write_record(struct db_conn *conn, struct audit_work *work, const struct db_change *touched, int status,
                        struct error *err)
{
    struct audit_record record;
    fill(work, status, NULL, &record);
    if (touched && !record.entity_id[0])
        record.entity_id = touched->id;
    if (find_place(conn, work, touched, &record, err) < 0)
        return -1;
    return db_add_audit_record(conn, &work->req->server->audit->key, &record, NULL, err);
}

static int write_with(struct db_conn *conn, const struct db_change *changes, size_t count, void *context,
                      struct error *err)
{
    struct audit_work *work = context;
    const struct db_change *touched = find_touched(work->req, changes, count);
    if (idempotency_write(conn, work->req, touched ? touched->id : "", err) < 0)
        return -1;
    if (!work->draft.is_wanted || !work->draft.is_certain)
        return 0;
    bool is_another = touched && work->last_id && strcmp(touched->id, work->last_id) != 0;
    if (work->has_record && !is_another)
        return 0;
    if (write_record(conn, work, touched, work->req->operation->success_status, err) < 0)
        return -1;
    work->has_record = true;
    work->last_id = touched ? arena_strdup(work->req->arena, touched->id) : NULL;
    return 0;
}

struct late {
    struct audit_work *work;
    int status;
};

static int write_late(struct db_conn *conn, void *context, struct error *err)
{
    const struct late *late = context;
    return write_record(conn, late->work, NULL, late->status, err);
}

// What changed no row has its record before the answer all the same.
static void record_success(struct audit_work *work, int status)
{
    struct error err = {0};
    struct late late = {work, status};
    note_caller(work);
    bool is_on_disk = work->has_record && work->companion.committed > 0;
    if (work->draft.is_wanted && !is_on_disk && db_write_alone(work->req->server->db, write_late, &late, &err) < 0)
        log_write(LOG_ERROR, "audit", "no record of a request: %s request=%s", err.message, work->req->id);
}

static void record_refusal(struct audit_work *work, int status, const struct error *err)
{
    struct audit_record record;
    if (!work->draft.is_wanted)
        return;
    note_caller(work);
    if (!work->draft.entity_id[0])
        note_path(work);
    // What a refusal of the body says may be a part of the body.
    bool is_told = err && err->message[0] && status != 400 && status != 422;
    fill(work, status, is_told ? err->message : NULL, &record);
    audit_refuse(work->req->server->audit, &record, work->scope_type, work->scope_id);
}

void recorder_end(struct exchange *exchange, int rc, const struct error *err)
{
    struct audit_work *work = work_of(&exchange->request);
    if (!work)
        return;
    db_accompany(exchange->server->db, NULL);
    int status = rc < 0 ? error_status(err->code) : exchange->response.status;
    // A browser that is not signed in by its issuer is sent on, with a word in the address.
    bool is_failed_try = work->draft.is_tried && !work->draft.is_certain;
    if (status < REFUSED && !is_failed_try)
        record_success(work, status);
    else
        record_refusal(work, status < REFUSED ? 401 : status, rc < 0 ? err : NULL);
}
