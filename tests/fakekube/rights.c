#include "tests/fakekube/rights.h"
#include <civetweb.h>
#include <string.h>

// What somebody wants to do.
struct wish {
    const char *verb, *group, *resource, *subresource;
    const char *namespace; // "": in all, or of none
};

static const json_t *find_user(struct call *call)
{
    const char *header = mg_get_header(call->connection, "Authorization");
    const char *token = header && strncmp(header, "Bearer ", 7) == 0 ? header + 7 : "";
    const json_t *users = json_object_get(call->kube->settings, "users");
    const json_t *user = json_object_get(users, token);
    if (*token && (user || !users)) {
        const char *name = json_text_at(user, "name");
        call->user = name ? arena_strdup(&call->arena, name) : "admin";
    }
    return user;
}

static bool is_denied(const json_t *user, const struct wish *wish)
{
    size_t index;
    json_t *rule;
    json_array_foreach(json_object_get(user, "deny"), index, rule) {
        const char *verb = json_text_at(rule, "verb"), *resource = json_text_at(rule, "resource");
        const char *subresource = json_text_at(rule, "subresource");
        if ((!verb || strcmp(verb, wish->verb) == 0) && (!resource || strcmp(resource, wish->resource) == 0) &&
            strcmp(subresource ? subresource : "", wish->subresource) == 0)
            return true;
    }
    return false;
}

static bool has_text(const json_t *list, const char *text)
{
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item)
        if (strcmp(json_string_value(item), text) == 0)
            return true;
    return false;
}

static bool is_ruled_out(struct call *call, const json_t *user, const struct wish *wish)
{
    const json_t *rules = json_object_get(user, "rules");
    const char *resource =
        arena_printf(&call->arena, "%s%s%s", wish->resource, *wish->subresource ? "/" : "", wish->subresource);
    size_t index;
    json_t *rule;
    json_array_foreach(rules, index, rule) {
        const char *namespace = json_text_at(rule, "namespace");
        if ((!namespace || strcmp(namespace, wish->namespace) == 0) &&
            has_text(json_object_get(rule, "apiGroups"), wish->group) &&
            has_text(json_object_get(rule, "resources"), resource) &&
            has_text(json_object_get(rule, "verbs"), wish->verb))
            return false;
    }
    return rules != NULL;
}

// RBAC's verb, where ours is finer.
static const char *rbac_verb(const struct call *call)
{
    if (strcmp(call->verb, "bind") == 0 || strcmp(call->verb, "evict") == 0)
        return "create";
    return strcmp(call->verb, "log") == 0 ? "get" : call->verb;
}

static int refuse(struct call *call, const struct wish *wish)
{
    const char *slash = *wish->subresource ? "/" : "";
    return call_fail(call, 403, "Forbidden",
                     "%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\"", wish->resource,
                     call->user, wish->verb, wish->resource, slash, wish->subresource, wish->group);
}

int rights_check(struct call *call)
{
    const json_t *user = find_user(call);
    if (!*call->user) {
        int rc = call_fail(call, 401, "Unauthorized", "Unauthorized");
        json_object_del(call->value, "details");
        return rc;
    }
    if (call->resource < 0)
        return 0;
    struct wish wish = {rbac_verb(call), call_resource(call)->group, call_resource(call)->plural, call->subresource,
                        call->namespace};
    if (is_denied(user, &wish))
        return refuse(call, &wish);
    if (!is_ruled_out(call, user, &wish))
        return 0;
    json_array_append_new(call->kube->refused, json_sprintf("%s %s", wish.verb, call->path));
    return refuse(call, &wish);
}

int rights_review(struct call *call)
{
    if (!json_is_object(call->body))
        return call_fail(call, 400, "BadRequest", "the body of the request is not a SelfSubjectAccessReview");
    const json_t *asked = json_at(call->body, "spec.resourceAttributes"), *user = find_user(call);
    const char *texts[5];
    static const char *const NAMES[] = {"verb", "group", "resource", "subresource", "namespace"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        const char *text = json_text_at(asked, NAMES[i]);
        texts[i] = text ? text : "";
    }
    struct wish wish = {texts[0], texts[1], texts[2], texts[3], texts[4]};
    bool is_allowed = !is_denied(user, &wish) && !is_ruled_out(call, user, &wish);
    json_t *answer = json_deep_copy(call->body);
    json_object_set_new(answer, "status", json_pack("{s:b,s:s}", "allowed", is_allowed, "reason", ""));
    return call_answer(call, 201, answer);
}
