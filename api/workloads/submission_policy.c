#include "api/workloads/submission_policy.h"

#include "api/http/request.h"
#include "api/policies/compliance.h"
#include "api/server.h"
#include "db/db.h"

static const enum policy_kind KINDS[WORKLOAD_TYPE_COUNT] = {
    [WORKLOAD_TYPE_TRAINING] = POLICY_KIND_TRAINING,
    [WORKLOAD_TYPE_WORKSPACE] = POLICY_KIND_WORKSPACE,
    [WORKLOAD_TYPE_DISTRIBUTED] = POLICY_KIND_DISTRIBUTED,
    [WORKLOAD_TYPE_INFERENCE] = POLICY_KIND_INFERENCE,
};

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
        rc = policy_refuse(req, issues, err);
    json_decref(issues);
    return rc;
}
