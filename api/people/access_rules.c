// Access rules: who has which role where.
#include "db/access_rules.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_query.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/roles.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_MAX = 100
};

#define PATH_CLUSTER "c.id"
#define PATH_DEPARTMENT "coalesce(p.department_id, d.id)"
#define PATH_PROJECT "p.id"

// A rule of a place that is gone has no path any more; only who sees everything sees it.
static const char *const PHASE =
    "CASE WHEN r.deleted_ms THEN 'Deleting' WHEN iif(ro.id, ro.is_enabled, 1) THEN 'Ready' ELSE 'NotReady' END";

// The source of a list. Role names are in C, so the column is made from the table of roles.
static const struct list_source *rule_list(struct arena *arena)
{
    const struct role *role;
    const char *role_name = "coalesce(ro.name, CASE r.role_id";
    for (size_t i = 0; (role = role_at(i)); i++)
        role_name = arena_printf(arena, "%s WHEN %d THEN '%s'", role_name, role->id, role->name);
    role_name = arena_printf(arena, "%s END)", role_name);
    const struct list_field fields[] = {
        {.name = "subjectId", .sql = "r.subject_id", .type = LIST_TEXT, .is_searched = true},
        {.name = "subjectType", .sql = "r.subject_type", .type = LIST_TEXT, .is_searched = true},
        {.name = "roleId", .sql = "r.role_id", .type = LIST_NUMBER},
        {.name = "scopeId", .sql = "r.scope_id", .type = LIST_TEXT},
        {.name = "scopeType", .sql = "r.scope_type", .type = LIST_TEXT, .is_searched = true},
        {.name = "roleName", .sql = role_name, .type = LIST_TEXT, .is_searched = true},
        {.name = "scopeName", .sql = DB_ACCESS_RULE_SCOPE_NAME, .type = LIST_TEXT, .is_searched = true},
        {.name = "createdAt", .sql = "r.created_ms", .type = LIST_TIME},
        {.name = "deletedAt", .sql = "r.deleted_ms", .type = LIST_TIME},
        {.name = "createdBy", .sql = "r.created_by", .type = LIST_TEXT, .is_searched = true},
        {.name = "phase", .sql = PHASE, .type = LIST_TEXT},
    };
    struct list_source *source = arena_alloc(arena, sizeof(*source));
    struct list_field *copy = arena_alloc(arena, sizeof(fields));
    memcpy(copy, fields, sizeof(fields));
    *source = (struct list_source){
        .columns = DB_ACCESS_RULE_COLUMNS,
        .from = DB_ACCESS_RULE_FROM,
        .id = "r.id",
        .order = "r.id",
        .fields = copy,
        .field_count = sizeof(fields) / sizeof(fields[0]),
    };
    return source;
}

static const char *json_list_of(struct request *req, const char **items, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(items[i]));
    char *text = json_dumps(list, JSON_COMPACT);
    const char *copy = arena_strdup(req->arena, text);
    free(text);
    json_decref(list);
    return copy;
}

static int add_conditions(struct request *req, struct list_query *query, struct error *err)
{
    static const char *const TEXTS[][2] = {{"subjectType", "r.subject_type = ?"},
                                           {"subjectIdFilter", "r.subject_id = ?"},
                                           {"clusterId", "r.cluster_uuid = ?"},
                                           {"scopeType", "r.scope_type = ?"},
                                           {"scopeId", "r.scope_id = ?"}};
    struct scope_filter shown;
    size_t subject_count;
    access_filter(req, RESOURCE_TYPE_ACCESS_RULES, ACTION_READ, &shown);
    list_query_where_scope(query, &shown, PATH_CLUSTER, PATH_DEPARTMENT, PATH_PROJECT);
    if (!request_query_boolean(req, "includeDeleted"))
        list_query_where_int(query, "r.deleted_ms = 0 AND (r.expires_ms = 0 OR r.expires_ms > ?)", req->received_ms);
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        if (request_query(req, TEXTS[i][0]))
            list_query_where_text(query, TEXTS[i][1], request_query(req, TEXTS[i][0]));
    if (request_has_query(req, "roleId"))
        list_query_where_int(query, "r.role_id = ?", request_query_integer(req, "roleId", 0));
    const char **subjects = request_query_list(req, "subjectIds", &subject_count);
    if (subject_count)
        list_query_where_text(query, "r.subject_id IN (SELECT value FROM json_each(?))",
                              json_list_of(req, subjects, subject_count));
    const char *since = request_query(req, "lastUpdated");
    int64_t since_ms;
    if (since && timestamp_parse(since, &since_ms, err) < 0)
        return error_prefix(err, "lastUpdated: ");
    if (since)
        list_query_where_int(query, "r.updated_ms >= ?", since_ms);
    return 0;
}

static void write_rule_members(struct json_writer *json, const struct access_rule *rule)
{
    bool is_switched_off = rule->role_name && !rule->role_rights_json;
    json_int(json, "id", rule->id);
    json_text(json, "subjectId", rule->subject_id);
    json_text(json, "subjectType", rule->subject_type);
    json_int(json, "roleId", rule->role_id);
    json_text(json, "roleName", role_name_of_rule(rule));
    json_text(json, "scopeId", rule->scope_id);
    json_text(json, "scopeType", scope_type_text(rule->scope_type));
    json_text(json, "scopeName", rule->scope_name ? rule->scope_name : "");
    if (rule->cluster_uuid)
        json_text(json, "clusterId", rule->cluster_uuid);
    json_int(json, "tenantId", TENANT_ID);
    json_text(json, "createdBy", rule->created_by);
    json_time(json, "createdAt", rule->created_ms);
    json_time(json, "updatedAt", rule->updated_ms);
    json_time(json, "deletedAt", rule->deleted_ms);
    json_time(json, "expiresAt", rule->expires_ms);
    json_key(json, "status");
    json_begin_object(json);
    json_text(json, "phase", rule->deleted_ms ? "Deleting" : is_switched_off ? "NotReady" : "Ready");
    if (is_switched_off)
        json_text(json, "message", "the role is switched off");
    json_end_object(json);
}

static void write_rule(struct json_writer *json, const struct access_rule *rule)
{
    json_begin_object(json);
    write_rule_members(json, rule);
    json_end_object(json);
}

static int write_page(struct request *req, struct response *res, struct list_query *query, struct db_conn *conn,
                      int64_t total, struct error *err)
{
    struct json_writer json;
    int rc;
    if (list_query_open(query, conn, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_int(&json, "totalRecords", total);
    json_key(&json, "accessRules");
    json_begin_array(&json);
    int64_t shown = 0;
    for (; (rc = list_query_step(query, err)) == 1; shown++) {
        struct access_rule rule;
        db_access_rule_from_row(query->stmt, req->arena, &rule);
        write_rule(&json, &rule);
    }
    json_end_array(&json);
    json_int(&json, "displayRecords", shown);
    json_end_object(&json);
    list_query_close(query);
    return rc;
}

int op_get_access_rules(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    int64_t total = 0;
    if (list_query_init(&query, rule_list(req->arena), req, err) < 0 || add_conditions(req, &query, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_count(&query, conn, &total, err);
    if (rc == 0)
        rc = write_page(req, res, &query, conn, total, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_count_access_rules(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    int64_t total = 0;
    if (list_query_init(&query, rule_list(req->arena), req, err) < 0 || add_conditions(req, &query, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_count(&query, conn, &total, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : response_json(res, json_pack("{s:I}", "count", (json_int_t)total));
}

// A rule that the caller may do this to; a deleted one is none.
static int find_rule(struct request *req, int64_t id, enum access_action action, struct access_rule *out_rule,
                     struct error *err)
{
    const char *what = arena_printf(req->arena, "access rule %" PRId64, id);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_access_rule(conn, id, req->arena, out_rule, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    if (rc == 0 || out_rule->deleted_ms || (out_rule->expires_ms && out_rule->expires_ms <= req->received_ms))
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    return access_check(req, &out_rule->path, RESOURCE_TYPE_ACCESS_RULES, action, what, err);
}

int op_get_access_rule(struct request *req, struct response *res, struct error *err)
{
    struct access_rule rule;
    struct json_writer json;
    if (find_rule(req, request_path_integer(req, "accessRuleId"), ACTION_READ, &rule, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    write_rule_members(&json, &rule);
    json_text(&json, "scopePath", rule.scope_name);
    json_end_object(&json);
    return 0;
}

// What is done inside a project is the matter of its administrators, whether they do such work themselves or not; so
// are the keys that everybody has for himself.
static bool is_work(enum resource_type type)
{
    const char *group = resource_type_group(type);
    return strcmp(group, "workload") == 0 || strcmp(group, "workload-asset") == 0 || type == RESOURCE_TYPE_ACCESS_KEYS;
}

// The role of that id, in the arena; ERROR_INVALID where there is none.
static int find_role(const struct request *req, int64_t role_id, const struct role **out_role, struct error *err)
{
    struct custom_role made;
    *out_role = role_find(role_id);
    if (*out_role)
        return 0;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_role(conn, role_id, req->arena, &made, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "roleId: there is no role %" PRId64, role_id);
    if (rc < 0)
        return -1;
    struct role *role = arena_alloc(req->arena, sizeof(*role));
    *role = (struct role){.id = (int)made.id, .name = made.name, .description = made.description};
    custom_role_permissions(made.rights_json, &role->permissions);
    *out_role = role;
    return 0;
}

// The caller with those of his rights that last as long as what he gives; expires_ms 0: for ever.
static const struct identity *with_lasting_rights(const struct request *req, int64_t expires_ms)
{
    const struct grants *all = req->caller->grants;
    struct grant *items = arena_array(req->arena, all->count + 1, sizeof(*items));
    struct grants *lasting = arena_alloc(req->arena, sizeof(*lasting));
    struct identity *giver = arena_alloc(req->arena, sizeof(*giver));
    *lasting = (struct grants){.items = items};
    for (size_t i = 0; i < all->count; i++)
        if (!all->items[i].expires_ms || (expires_ms && expires_ms <= all->items[i].expires_ms))
            items[lasting->count++] = all->items[i];
    *giver = *req->caller;
    giver->grants = lasting;
    return giver;
}

static int refuse_role(const struct request *req, const struct role *role, const struct scope_path *where,
                       enum resource_type type, enum access_action action, struct error *err)
{
    if (access_is_held(req->caller, where, type, action))
        return error_set(err, ERROR_FORBIDDEN, "expiresAt: your own right to %s %s here ends before that",
                         access_action_text(action), resource_type_text(type));
    if (role->id == ROLE_SYSTEM_ADMINISTRATOR)
        return error_set(err, ERROR_FORBIDDEN, "roleId: only a system administrator gives this role");
    return error_set(err, ERROR_FORBIDDEN, "roleId: %s may %s %s, and you may not here", role->name,
                     access_action_text(action), resource_type_text(type));
}

// Nobody gives more than he has, nor for longer: a role may hold no right that its giver lacks in that scope. A
// predefined administrator is there to give people their work: that he hands on without doing it himself. The first
// role can do everything, so only those who have it there pass it on.
static int check_role(const struct request *req, const struct access_rule *rule, const struct scope_path *where,
                      struct error *err)
{
    const struct role *role;
    const struct identity *giver = with_lasting_rights(req, rule->expires_ms);
    if (find_role(req, rule->role_id, &role, err) < 0)
        return -1;
    bool gives_work = rule->role_id != ROLE_SYSTEM_ADMINISTRATOR && access_is_rule_giver(giver, where);
    for (enum resource_type type = 0; type < RESOURCE_TYPE_COUNT; type++) {
        if (gives_work && is_work(type))
            continue;
        for (enum access_action action = ACTION_CREATE; action <= ACTION_DELETE; action *= 2) {
            if (role->permissions.actions[type] & action && !access_is_held(giver, where, type, action))
                return refuse_role(req, role, where, type, action, err);
        }
    }
    return 0;
}

static int check_creation(struct request *req, const struct access_rule *rule, struct error *err)
{
    struct scope_path where = {0};
    int rc = 0;
    if (rule->scope_type == SCOPE_PROJECT)
        rc = access_check_project(req, atoll(rule->scope_id), RESOURCE_TYPE_ACCESS_RULES, ACTION_CREATE, &where, err);
    else if (rule->scope_type == SCOPE_DEPARTMENT)
        rc =
            access_check_department(req, atoll(rule->scope_id), RESOURCE_TYPE_ACCESS_RULES, ACTION_CREATE, &where, err);
    else if (rule->scope_type == SCOPE_CLUSTER)
        rc = access_check_cluster(req, rule->scope_id, RESOURCE_TYPE_ACCESS_RULES, ACTION_CREATE, &where, err);
    else
        rc = access_check_tenant(req, RESOURCE_TYPE_ACCESS_RULES, ACTION_CREATE, err);
    if (rc < 0 && err && err->code == ERROR_NOT_FOUND)
        return error_set(err, ERROR_INVALID, "scopeId: there is no %s %.60s", scope_type_text(rule->scope_type),
                         rule->scope_id);
    return rc < 0 ? -1 : check_role(req, rule, &where, err);
}

// Makes one rule and reads it as it is now.
static int create_rule(struct request *req, struct access_rule *rule, struct error *err)
{
    rule->created_by = req->caller->name;
    rule->created_ms = req->received_ms;
    if (!*rule->subject_id)
        return error_set(err, ERROR_INVALID, "subjectId: required");
    if (rule->expires_ms && rule->expires_ms <= req->received_ms)
        return error_set(err, ERROR_INVALID, "expiresAt: expected a time to come");
    if (check_creation(req, rule, err) < 0 || db_create_access_rule(req->server->db, rule, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_access_rule(conn, rule->id, req->arena, rule, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : 0;
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

// The document's schema has checked the members.
static void rule_from_json(const json_t *subject, const json_t *scope, const json_t *role, struct access_rule *out_rule)
{
    *out_rule = (struct access_rule){
        .subject_id = text_of(subject, "subjectId"),
        .subject_type = text_of(subject, "subjectType"),
        .role_id = json_integer_value(json_object_get(role, "roleId")),
        .scope_id = text_of(scope, "scopeId"),
    };
    const char *expires = text_of(role, "expiresAt");
    if (expires && timestamp_parse(expires, &out_rule->expires_ms, NULL) < 0)
        out_rule->expires_ms = -1; // a time before 1970 is past as well
    scope_type_parse(text_of(scope, "scopeType"), &out_rule->scope_type);
}

int op_create_access_rule(struct request *req, struct response *res, struct error *err)
{
    struct access_rule rule;
    struct json_writer json;
    rule_from_json(req->body, req->body, req->body, &rule);
    if (create_rule(req, &rule, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_rule(&json, &rule);
    return 0;
}

int op_delete_access_rule(struct request *req, struct response *res, struct error *err)
{
    struct access_rule rule;
    if (find_rule(req, request_path_integer(req, "accessRuleId"), ACTION_DELETE, &rule, err) < 0 ||
        db_delete_access_rule(req->server->db, rule.id, req->received_ms, err) < 0)
        return -1;
    return response_empty(res, 204);
}

// An id as a number or as text; 0 where it is neither.
static int64_t batch_id(const json_t *value)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    const char *text = json_string_value(value);
    char *end = NULL;
    errno = 0;
    int64_t id = text ? strtoll(text, &end, 10) : 0;
    return text && !errno && end != text && !*end ? id : 0;
}

static json_t *batch_id_json(const json_t *value)
{
    return json_is_string(value) ? json_string(json_string_value(value)) : json_sprintf("%" PRId64, batch_id(value));
}

int op_access_rules_batch(struct request *req, struct response *res, struct error *err)
{
    const json_t *ids = json_object_get(req->body, "ids");
    bool is_trial = strcmp(text_of(req->body, "action"), "delete");
    size_t count = json_array_size(ids);
    char batch[UUID_SIZE];
    if (count < 1 || count > BATCH_MAX)
        return error_set(err, ERROR_INVALID, "ids: 1 to %d, got %zu", BATCH_MAX, count);
    json_t *succeeded = json_array(), *failed = json_array();
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(ids, i);
        struct access_rule rule;
        struct error cause = {0};
        int rc = find_rule(req, batch_id(value), ACTION_DELETE, &rule, &cause);
        if (rc == 0 && !is_trial)
            rc = db_delete_access_rule(req->server->db, rule.id, req->received_ms, &cause);
        if (rc == 0)
            json_array_append_new(succeeded, batch_id_json(value));
        else
            json_array_append_new(failed, json_pack("{s:o, s:i, s:s}", "id", batch_id_json(value), "code",
                                                    error_status(cause.code), "message", cause.message));
    }
    uuid_create(batch);
    return response_json(res, json_pack("{s:s, s:o, s:o}", "id", batch, "succeeded", succeeded, "failed", failed));
}

static void write_failure(struct json_writer *json, const struct access_rule *rule, const struct error *cause)
{
    json_begin_object(json);
    json_key(json, "payload");
    json_begin_object(json);
    json_text(json, "subjectId", rule->subject_id);
    json_text(json, "subjectType", rule->subject_type);
    json_int(json, "roleId", rule->role_id);
    json_text(json, "scopeId", rule->scope_id);
    json_text(json, "scopeType", scope_type_text(rule->scope_type));
    json_time(json, "expiresAt", rule->expires_ms > 0 ? rule->expires_ms : 0);
    json_end_object(json);
    json_int(json, "code", error_status(cause->code));
    json_text(json, "message", cause->message);
    json_end_object(json);
}

// Every subject in every scope.
int op_access_rules_batch_create(struct request *req, struct response *res, struct error *err)
{
    const json_t *payload = json_object_get(req->body, "payload");
    const json_t *subjects = json_object_get(payload, "subjects"), *scopes = json_object_get(payload, "scopes");
    size_t scope_count = json_array_size(scopes), count = json_array_size(subjects) * scope_count;
    if (count < 1 || count > BATCH_MAX)
        return error_set(err, ERROR_INVALID, "payload: 1 to %d rules, got %zu", BATCH_MAX, count);
    struct access_rule *rules = arena_array(req->arena, count, sizeof(*rules));
    struct error *causes = arena_array(req->arena, count, sizeof(*causes));
    for (size_t i = 0; i < count; i++) {
        rule_from_json(json_array_get(subjects, i / scope_count), json_array_get(scopes, i % scope_count), payload,
                       &rules[i]);
        create_rule(req, &rules[i], &causes[i]);
    }
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "succeeded");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        if (causes[i].code == ERROR_NONE)
            write_rule(&json, &rules[i]);
    json_end_array(&json);
    json_key(&json, "failed");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        if (causes[i].code != ERROR_NONE)
            write_failure(&json, &rules[i], &causes[i]);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}
