#include "api/organisation/quota_rights.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/access_rules.h"
#include "db/db.h"
#include "db/settings.h"

#include <inttypes.h>
#include <string.h>

#define META_TOLD "quota_rights_told"

static const char SQL_RULES_BELOW[] = "SELECT " DB_ACCESS_RULE_COLUMNS " FROM " DB_ACCESS_RULE_FROM
                                      " WHERE r.deleted_ms = 0 AND r.scope_type IN ('department', 'project')"
                                      " ORDER BY r.id";

static bool same_amounts(const struct queue_resource *a, const struct queue_resource *b)
{
    return a->deserved == b->deserved && a->limit == b->limit && !(a->over_quota_weight < b->over_quota_weight) &&
           !(a->over_quota_weight > b->over_quota_weight);
}

static bool same_queue(const struct queue *a, const struct queue *b)
{
    return a->rank == b->rank && same_amounts(&a->gpu, &b->gpu) && same_amounts(&a->cpu, &b->cpu) &&
           same_amounts(&a->memory, &b->memory);
}

static const struct queue *changed_queue(const struct org_unit *before, const struct org_unit *after)
{
    for (size_t i = 0; i < after->queue_count; i++)
        for (size_t j = 0; j < before->queue_count; j++)
            if (before->queues[j].node_pool_id == after->queues[i].node_pool_id &&
                !same_queue(&before->queues[j], &after->queues[i]))
                return &after->queues[i];
    return NULL;
}

int quota_rights_check(struct db_conn *conn, const struct identity *caller, const struct org_unit *before,
                       const struct org_unit *after, struct error *err)
{
    bool is_project = after->kind == ORG_UNIT_PROJECT, is_own;
    struct scope_path above = {.cluster_id = after->cluster_id, .department_id = is_project ? after->department_id : 0};
    const struct queue *changed = changed_queue(before, after);
    if (!changed ||
        access_is_held(caller, &above, is_project ? RESOURCE_TYPE_PROJECT : RESOURCE_TYPE_DEPARTMENT, ACTION_UPDATE))
        return 0;
    if (db_find_tenant_setting(conn, TENANT_SETTING_OWN_QUOTA, &is_own, NULL, err) < 0)
        return -1;
    if (is_own)
        return 0;
    error_set(err, ERROR_FORBIDDEN, "resources: quota, limit, weight and rank in node pool %.60s are the %s to change",
              changed->node_pool_name, is_project ? "department's" : "cluster's");
    return error_details(err, "it takes the right to update %s; the setting administratorsSetOwnQuota lifts this rule",
                         is_project ? "projects in the department" : "departments in the cluster");
}

static void tell(const struct access_rule *rule, struct arena *arena)
{
    char subject[LOG_TEXT_SIZE], place[LOG_TEXT_SIZE];
    const struct role *role = role_of_rule(rule, arena);
    enum resource_type type = rule->scope_type == SCOPE_PROJECT ? RESOURCE_TYPE_PROJECT : RESOURCE_TYPE_DEPARTMENT;
    if (role && rule->scope_name && role->permissions.actions[type] & ACTION_UPDATE)
        log_write(LOG_WARN, "api",
                  "this access rule no longer lets its subject change quota, limit, weight and rank of its own %s;"
                  " the setting administratorsSetOwnQuota gives that back rule=%" PRId64
                  " subject=%s role=\"%s\" scope=%s",
                  resource_type_text(type), rule->id, log_text(rule->subject_id, subject), role->name,
                  log_text(rule->scope_name, place));
}

static int tell_once(struct db_conn *conn, void *context, struct error *err)
{
    struct arena *arena = context;
    const char *told;
    sqlite3_stmt *stmt = NULL;
    if (db_find_meta(conn, META_TOLD, arena, &told, err) < 0)
        return -1;
    if (told)
        return 0;
    if (db_prepare(conn, SQL_RULES_BELOW, &stmt, err) < 0)
        return -1;
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        struct access_rule rule;
        db_access_rule_from_row(stmt, arena, &rule);
        tell(&rule, arena);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : db_set_meta_in(conn, META_TOLD, "1", err);
}

int quota_rights_tell(struct db *db, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    int rc = db_write(db, tell_once, &arena, err);
    arena_done(&arena);
    return rc;
}
