#include "api/workloads/submission_policy.h"

#include "api/http/request.h"
#include "api/policies/compliance.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <stdlib.h>
#include <string.h>

static const enum policy_kind KINDS[WORKLOAD_TYPE_COUNT] = {
    [WORKLOAD_TYPE_TRAINING] = POLICY_KIND_TRAINING,
    [WORKLOAD_TYPE_WORKSPACE] = POLICY_KIND_WORKSPACE,
    [WORKLOAD_TYPE_DISTRIBUTED] = POLICY_KIND_DISTRIBUTED,
    [WORKLOAD_TYPE_INFERENCE] = POLICY_KIND_INFERENCE,
};

// The member of the body that a field of an issue is in; *out_field is what follows.
static const char *member_of(const char *field, const char **out_field)
{
    bool is_master = strncmp(field, "master.", 7) == 0;
    *out_field = field + (is_master || strncmp(field, "worker.", 7) == 0 ? 7 : 0);
    return is_master ? "masterSpec" : "spec";
}

static int refuse(struct request *req, const json_t *issues, struct error *err)
{
    const json_t *first = json_array_get(issues, 0);
    const char *field, *member = member_of(json_string_value(json_object_get(first, "field")), &field);
    char *text = json_dumps(issues, JSON_COMPACT);
    size_t more = json_array_size(issues) - 1;
    req->compliance_json = arena_strdup(req->arena, text);
    free(text);
    error_set(err, ERROR_INVALID, "%s.%s: %s (rule %s)", member, field,
              json_string_value(json_object_get(first, "details")), json_string_value(json_object_get(first, "rule")));
    return more ? error_details(err, "%zu more rule%s broken: complianceIssues names them", more,
                                more == 1 ? " is" : "s are")
                : -1;
}

int submission_policy_apply(struct request *req, json_t *body, enum workload_type type, const struct scope_path *path,
                            struct error *err)
{
    json_t *spec = json_object_get(body, "spec"), *master = json_object_get(body, "masterSpec");
    bool has_spec = json_is_object(spec);
    struct policy_subject subject = {
        .kind = KINDS[type],
        .spec = has_spec ? spec : json_object(),
        .master = json_is_object(master) ? master : NULL,
        .is_master_same = json_is_true(json_object_get(body, "masterSpecSameAsWorker")),
    };
    json_t *issues = NULL;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = policy_comply(conn, path, &subject, req->arena, &issues, err);
    db_give_back(req->server->db, conn);
    if (!has_spec && json_object_size(subject.spec) > 0)
        json_object_set_new(body, "spec", subject.spec);
    else if (!has_spec)
        json_decref(subject.spec);
    if (rc == 0 && json_array_size(issues) > 0)
        rc = refuse(req, issues, err);
    json_decref(issues);
    return rc;
}
