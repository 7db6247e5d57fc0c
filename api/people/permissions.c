// What the caller may do, and by which rules.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/access_rules.h"
#include "db/db.h"

#include <string.h>
#include <strings.h>

int op_get_permissions(struct request *req, struct response *res, struct error *err)
{
    (void)err;
    struct permission_set held;
    access_permissions(req->caller, &held);
    return response_json(res, permission_set_to_json(&held));
}

static int list_own_rules(struct request *req, struct access_rule **out_rules, size_t *out_count, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    bool is_user = req->caller->type == SUBJECT_USER;
    int rc = db_list_rules_in_force(conn, is_user, req->caller->rule_key, req->arena, out_rules, out_count, err);
    db_give_back(req->server->db, conn);
    return rc;
}

// The highest scopes in which the caller may do it; what lies in another of them is left out.
static json_t *permitted_scopes(const struct access_rule *rules, const struct role *const *roles, size_t count,
                                enum resource_type type, enum access_action action)
{
    json_t *lists[SCOPE_TYPE_COUNT];
    bool is_system = false;
    for (size_t i = 0; i < SCOPE_TYPE_COUNT; i++)
        lists[i] = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct role *role = roles[i];
        if (!role || !(role->permissions.actions[type] & action))
            continue;
        bool is_covered = false;
        for (size_t j = 0; j < count && !is_covered; j++) {
            const struct role *other = roles[j];
            bool is_above =
                rules[j].scope_type < rules[i].scope_type && scope_path_contains(&rules[j].path, &rules[i].path);
            bool is_same =
                j < i && rules[j].scope_type == rules[i].scope_type && !strcmp(rules[j].scope_id, rules[i].scope_id);
            is_covered = (is_above || is_same) && other && other->permissions.actions[type] & action;
        }
        is_system = is_system || rules[i].scope_type == SCOPE_SYSTEM;
        if (!is_covered)
            json_array_append_new(lists[rules[i].scope_type], json_string(rules[i].scope_id));
    }
    json_decref(lists[SCOPE_SYSTEM]);
    return json_pack("{s:b, s:o, s:o, s:o, s:o}", "system", is_system, "tenants", lists[SCOPE_TENANT], "clusters",
                     lists[SCOPE_CLUSTER], "departments", lists[SCOPE_DEPARTMENT], "projects", lists[SCOPE_PROJECT]);
}

int op_get_permitted_scopes(struct request *req, struct response *res, struct error *err)
{
    static const enum access_action ACTIONS[] = {ACTION_CREATE, ACTION_READ, ACTION_UPDATE, ACTION_DELETE};
    const char *only = json_string_value(json_object_get(req->body, "action"));
    struct access_rule *rules;
    size_t count;
    enum resource_type type;
    if (!resource_type_parse(json_string_value(json_object_get(req->body, "resourceType")), &type))
        return error_set(err, ERROR_INVALID, "resourceType: unknown");
    if (list_own_rules(req, &rules, &count, err) < 0)
        return -1;
    const struct role **roles = arena_array(req->arena, count + 1, sizeof(const struct role *));
    for (size_t i = 0; i < count; i++)
        roles[i] = role_of_rule(&rules[i], req->arena);
    json_t *answer = json_object();
    for (size_t i = 0; i < sizeof(ACTIONS) / sizeof(ACTIONS[0]); i++) {
        const char *name = access_action_text(ACTIONS[i]);
        bool is_asked = !only || !strcmp(only, name);
        json_object_set_new(answer, name, permitted_scopes(rules, roles, is_asked ? count : 0, type, ACTIONS[i]));
    }
    return response_json(res, answer);
}

static bool is_found(const struct access_rule *rule, const struct role *role, const char *search)
{
    return !search || !*search || strcasestr(rule->subject_id, search) || strcasestr(role->name, search) ||
           strcasestr(rule->scope_name, search) || strcasestr(scope_type_text(rule->scope_type), search);
}

static json_t *own_rule_to_json(const struct access_rule *rule, const struct role *role)
{
    json_t *json = json_pack("{s:I, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:i}", "id", (json_int_t)rule->id, "subjectId",
                             rule->subject_id, "subjectType", rule->subject_type, "roleId", role->id, "roleName",
                             role->name, "scopeId", rule->scope_id, "scopeType", scope_type_text(rule->scope_type),
                             "scopeName", rule->scope_name, "tenantId", TENANT_ID);
    if (rule->cluster_uuid)
        json_object_set_new(json, "clusterId", json_string(rule->cluster_uuid));
    char expires[TIMESTAMP_SIZE];
    if (rule->expires_ms) {
        timestamp_format(rule->expires_ms, expires);
        json_object_set_new(json, "expiresAt", json_string(expires));
    }
    return json;
}

int op_get_me_access_rules(struct request *req, struct response *res, struct error *err)
{
    struct access_rule *rules;
    size_t count;
    int64_t offset = request_query_integer(req, "offset", 0), limit = request_query_integer(req, "limit", 50),
            total = 0;
    if (list_own_rules(req, &rules, &count, err) < 0)
        return -1;
    json_t *page = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct role *role = role_of_rule(&rules[i], req->arena);
        if (!role || !is_found(&rules[i], role, request_query(req, "search")))
            continue;
        if (total >= offset && total < offset + limit)
            json_array_append_new(page, own_rule_to_json(&rules[i], role));
        total++;
    }
    json_int_t shown = (json_int_t)json_array_size(page);
    return response_json(res, json_pack("{s:{s:I, s:I, s:o}}", "accessRules", "totalRecords", (json_int_t)total,
                                        "displayRecords", shown, "accessRules", page));
}

int op_count_me_access_rules(struct request *req, struct response *res, struct error *err)
{
    struct access_rule *rules;
    size_t count;
    json_int_t total = 0;
    if (list_own_rules(req, &rules, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct role *role = role_of_rule(&rules[i], req->arena);
        total += role && is_found(&rules[i], role, request_query(req, "search"));
    }
    return response_json(res, json_pack("{s:I}", "count", total));
}
