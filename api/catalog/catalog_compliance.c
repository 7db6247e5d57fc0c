#include "api/catalog/catalog_compliance.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/catalog/templates.h"
#include "db/db.h"
#include "model/asset_spec.h"
#include "model/workload_spec.h"

#include <inttypes.h>
#include <string.h>

static int open_standards(struct request *req, const struct scope_path *path, struct catalog_compliance *out,
                          struct error *err)
{
    const char *type = request_query(req, "complyToWorkloadType");
    int rc = 0;
    struct db_conn *conn = db_acquire(req->server->db);
    for (int kind = 0; rc == 0 && kind < POLICY_KIND_COUNT; kind++) {
        if (type && strcasecmp(type, policy_kind_text((enum policy_kind)kind)) != 0)
            continue;
        rc = policy_standard_open(conn, path, (enum policy_kind)kind, req->arena, &out->standards[out->count], err);
        out->count += rc == 0;
    }
    db_give_back(req->server->db, conn);
    if (rc < 0)
        catalog_compliance_done(out);
    return rc;
}

int catalog_compliance_open(struct request *req, struct catalog_compliance *out, struct error *err)
{
    const char *replica = request_query(req, "complyToReplicaType");
    struct scope_path path;
    *out = (struct catalog_compliance){.is_asked = request_has_query(req, "complyToProject"),
                                       .is_for_master = replica && strcmp(replica, "Master") == 0};
    if (!out->is_asked)
        return 0;
    int64_t project = request_query_integer(req, "complyToProject", 0);
    if (access_check_project(req, project, RESOURCE_TYPE_PROJECT, ACTION_READ, &path, err) == 0)
        return open_standards(req, &path, out, err);
    return err && err->code == ERROR_NOT_FOUND
               ? error_set(err, ERROR_INVALID, "complyToProject: there is no project %" PRId64, project)
               : -1;
}

void catalog_compliance_done(struct catalog_compliance *compliance)
{
    for (size_t i = 0; i < compliance->count; i++)
        policy_standard_done(&compliance->standards[i]);
    compliance->count = 0;
}

void catalog_compliance_write(struct json_writer *json, const struct catalog_compliance *compliance, const char *kind,
                              const char *spec_json, struct arena *arena)
{
    json_t *stored = json_loads(spec_json, 0, NULL), *issues = json_array();
    json_t *piece = asset_spec_for_submission(kind, stored, NULL);
    for (size_t i = 0; i < compliance->count && json_array_size(issues) == 0; i++)
        policy_standard_check(&compliance->standards[i], compliance->is_for_master, piece, arena, issues);
    json_key(json, "compliance");
    json_begin_object(json);
    json_bool(json, "imposed", false);
    json_bool(json, "compliance", json_array_size(issues) == 0);
    json_raw(json, "reason", workload_spec_text(issues, arena));
    json_end_object(json);
    json_decref(issues);
    json_decref(piece);
    json_decref(stored);
}

static void check_text(const struct policy_standard *standard, bool is_master, const char *spec_json,
                       struct arena *arena, json_t *issues)
{
    json_t *piece = spec_json ? json_loads(spec_json, 0, NULL) : NULL;
    if (piece)
        policy_standard_check(standard, is_master, piece, arena, issues);
    json_decref(piece);
}

const char *catalog_compliance_of_template(const struct catalog_compliance *compliance, const char *workload_type,
                                           const char *spec_json, const char *master_json, struct arena *arena)
{
    json_t *issues = json_array();
    for (size_t i = 0; i < compliance->count; i++) {
        const struct policy_standard *standard = &compliance->standards[i];
        if (strcasecmp(policy_kind_text(standard->kind), workload_type) != 0)
            continue;
        check_text(standard, false, spec_json, arena, issues);
        check_text(standard, true, master_json, arena, issues);
    }
    const char *text = workload_spec_text(issues, arena);
    json_decref(issues);
    return text;
}

int catalog_compliance_check_template(struct db_conn *conn, struct request *req,
                                      const struct workload_template *template, struct error *err)
{
    struct policy_standard standard;
    enum policy_kind kind;
    if (!policy_kind_parse(template->workload_type, &kind))
        return 0;
    if (policy_standard_open(conn, &template->path, kind, req->arena, &standard, err) < 0)
        return -1;
    json_t *issues = json_array();
    check_text(&standard, false, template->combined_spec_json, req->arena, issues);
    check_text(&standard, true, template->combined_master_json, req->arena, issues);
    int rc = json_array_size(issues) ? policy_refuse(req, issues, err) : 0;
    json_decref(issues);
    policy_standard_done(&standard);
    return rc;
}
