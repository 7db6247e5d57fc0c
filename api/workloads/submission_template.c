#include "api/workloads/submission_template.h"

#include "api/access/authorization.h"
#include "api/catalog/asset_scope.h"
#include "api/catalog/template_assets.h"
#include "api/catalog/template_combine.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/catalog/templates.h"
#include "db/db.h"
#include "model/scope.h"
#include "model/spec_layers.h"

#include <string.h>

// The template, as the caller may use it in this project.
static int find_template(struct request *req, const char *id, enum workload_type type, const struct scope_path *place,
                         struct workload_template *out, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_template(conn, id, req->arena, out, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    if (rc == 0 || !asset_scope_is_shown(req, out->scope, &out->path, RESOURCE_TYPE_TEMPLATES))
        return error_set(err, ERROR_INVALID, "templateId: there is no workload template %.40s", id);
    if (!workload_type_is(out->workload_type, type))
        return error_set(err, ERROR_INVALID, "templateId: template %.60s is for the type %s, this is a %s", out->name,
                         out->workload_type, workload_type_text(type));
    if (!asset_scope_holds(out->scope, &out->path, place))
        return error_set(err, ERROR_INVALID, "templateId: template %.60s does not hold for this project", out->name);
    if (out->lacks_an_asset)
        return error_set(err, ERROR_INVALID, "templateId: template %.60s: %.150s", out->name, out->issue);
    return 0;
}

// What the submission's own assets come to, as a template of its own.
static int combine_assets(struct request *req, const json_t *body, const struct scope_path *place,
                          struct workload_template *out, struct error *err)
{
    *out = (struct workload_template){
        .uuid = "", .name = "", .description = "", .workload_type = "", .scope = SCOPE_PROJECT, .path = *place};
    if (template_assets_check(req, out, body, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = template_combine_assets(conn, json_object_get(body, "assets"), req->arena, &out->combined_spec_json, err);
    db_give_back(req->server->db, conn);
    return rc;
}

static void lay_text(json_t *target, const char *spec_text, struct arena *arena)
{
    json_t *spec = spec_text ? json_loads(spec_text, 0, NULL) : NULL;
    struct spec_layer layer = {spec, "template", NULL, NULL};
    spec_layers_lay(target, NULL, &layer, arena);
    json_decref(spec);
}

// Puts the layers below the member's own values. Without any it stays as it is.
static void lay_under(json_t *body, const char *member, const char *const *layers, size_t count, struct arena *arena)
{
    json_t *made = json_object();
    struct spec_layer own = {json_object_get(body, member), "request", NULL, NULL};
    for (size_t i = 0; i < count; i++)
        lay_text(made, layers[i], arena);
    spec_layers_lay(made, NULL, &own, arena);
    json_object_set_new(body, member, made);
}

static bool is_said(const json_t *body, const char *member)
{
    const json_t *value = json_object_get(body, member);
    return value && !json_is_null(value);
}

// A master that the request or the template describes, unless the request says that it is like the workers.
static void lay_master(json_t *body, const struct workload_template *template, struct arena *arena)
{
    if (!is_said(body, "masterSpecSameAsWorker") && !is_said(body, "masterSpec") && template->is_master_same >= 0)
        json_object_set_new(body, "masterSpecSameAsWorker", json_boolean(template->is_master_same));
    if (template->combined_master_json && !json_is_true(json_object_get(body, "masterSpecSameAsWorker")))
        lay_under(body, "masterSpec", &template->combined_master_json, 1, arena);
}

int submission_template_apply(struct request *req, json_t *body, enum workload_type type,
                              const struct scope_path *place, struct error *err)
{
    const char *id = json_string_value(json_object_get(body, "templateId"));
    struct workload_template template = {0}, assets = {0};
    if (id && find_template(req, id, type, place, &template, err) < 0)
        return -1;
    if (is_said(body, "assets") && combine_assets(req, body, place, &assets, err) < 0)
        return -1;
    const char *const layers[] = {template.combined_spec_json, assets.combined_spec_json};
    if (layers[0] || layers[1])
        lay_under(body, "spec", layers, sizeof(layers) / sizeof(layers[0]), req->arena);
    if (id && type == WORKLOAD_TYPE_DISTRIBUTED)
        lay_master(body, &template, req->arena);
    return 0;
}
