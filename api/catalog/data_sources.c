// Data sources: what pods mount. The kinds behave alike and differ by what their specifications must have; what of it a
// backend can mount is asked when a workload is submitted.
#include "api/access/audit.h"
#include "api/catalog/asset_operations.h"
#include "api/catalog/asset_scope.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/catalog/assets.h"
#include "db/db.h"

#include <string.h>

enum {
    MEMBERS_MAX = 8
};

// What the specifications of a kind consist of; the first `required` must be there.
static const struct {
    const char *kind;
    size_t required;
    const char *members[MEMBERS_MAX];
} SPECS[] = {
    {"config-map", 2, {"configMap", "mountPath", "subPath", "defaultMode"}},
    {"git", 2, {"repository", "path", "branch", "revision", "credentialId", "passwordAssetId"}},
    {"hostPath", 2, {"path", "mountPath", "readOnly", "mountPropagation"}},
    {"nfs", 3, {"server", "path", "mountPath", "readOnly"}},
    {"pvc", 1, {"path", "existingPvc", "claimName", "readOnly", "ephemeral", "claimInfo", "dataSharing"}},
    {"s3", 2, {"bucket", "path", "url", "accessKeyAssetId"}},
    {"secret-volume", 2, {"credentialAssetId", "mountPath", "defaultMode"}},
};

// The members that name a credential.
static const char *const CREDENTIALS[] = {"credentialId", "passwordAssetId", "accessKeyAssetId", "credentialAssetId"};

static bool is_said(const json_t *spec, const char *member)
{
    const json_t *value = json_object_get(spec, member);
    return value && !json_is_null(value);
}

static int check_claim(const json_t *spec, struct error *err)
{
    bool is_existing = json_is_true(json_object_get(spec, "existingPvc"));
    if (is_existing && !is_said(spec, "claimName"))
        return error_set(err, ERROR_INVALID, "spec.claimName: required for a claim that exists already");
    if (!is_existing && !is_said(json_object_get(spec, "claimInfo"), "size"))
        return error_set(err, ERROR_INVALID, "spec.claimInfo.size: required for a claim that is made");
    return 0;
}

// The credential must be there, be the caller's to read, and hold wherever the data source does.
static int check_credential(struct request *req, const char *member, const char *uuid, const struct asset *asset,
                            struct error *err)
{
    struct asset found;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_asset(conn, NULL, uuid, req->arena, &found, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    const struct asset_family *family = rc > 0 ? asset_family_of(found.kind) : NULL;
    if (!family || family->group != ASSET_GROUP_CREDENTIAL ||
        !asset_scope_is_shown(req, found.scope, &found.path, family->type))
        return error_set(err, ERROR_INVALID, "spec.%s: there is no credential %.60s", member, uuid);
    if (!asset_scope_holds(found.scope, &found.path, &asset->path))
        return error_set(err, ERROR_INVALID, "spec.%s: %.60s holds for its %s alone, the data source for more", member,
                         found.name, scope_type_text(found.scope));
    return 0;
}

static int read_credential(struct request *req, const json_t *spec, struct asset_write *write, struct error *err)
{
    for (size_t i = 0; i < sizeof(CREDENTIALS) / sizeof(CREDENTIALS[0]); i++) {
        const char *uuid = json_string_value(json_object_get(spec, CREDENTIALS[i]));
        if (!uuid)
            continue;
        if (check_credential(req, CREDENTIALS[i], uuid, write->asset, err) < 0)
            return -1;
        write->credential_uuid = arena_strdup(req->arena, uuid);
    }
    return 0;
}

static json_t *pick(const json_t *spec, const char *const *members)
{
    json_t *picked = json_object();
    for (size_t i = 0; i < MEMBERS_MAX && members[i]; i++)
        if (is_said(spec, members[i]))
            json_object_set_new(picked, members[i], json_deep_copy(json_object_get(spec, members[i])));
    return picked;
}

// What a change cannot say of a claim stays as it was.
static int take_spec(struct request *req, json_t *spec, struct asset_write *write, struct error *err)
{
    static const char *const CLAIM[] = {"existingPvc", "claimName", "claimInfo"};
    size_t row = 0;
    bool is_claim = strcmp(write->family->kind, "pvc") == 0;
    json_t *before = is_claim && write->is_update ? json_loads(write->asset->spec_json, 0, NULL) : NULL;
    for (size_t i = 0; before && i < sizeof(CLAIM) / sizeof(CLAIM[0]); i++)
        if (!is_said(spec, CLAIM[i]) && is_said(before, CLAIM[i]))
            json_object_set(spec, CLAIM[i], json_object_get(before, CLAIM[i]));
    json_decref(before);
    while (strcmp(SPECS[row].kind, write->family->kind) != 0)
        row++;
    for (size_t i = 0; i < SPECS[row].required; i++)
        if (!is_said(spec, SPECS[row].members[i]))
            return error_set(err, ERROR_INVALID, "spec.%s: required", SPECS[row].members[i]);
    if (is_claim && check_claim(spec, err) < 0)
        return -1;
    json_t *picked = pick(spec, SPECS[row].members);
    int rc = read_credential(req, picked, write, err);
    if (rc == 0)
        rc = asset_take_spec(req, picked, write, err);
    json_decref(picked);
    return rc;
}

static int read_spec(struct request *req, const json_t *spec, struct asset_write *write, struct error *err)
{
    if (write->is_update && !json_is_object(spec))
        return 0; // it stays, and with it the credential
    json_t *copy = json_deep_copy(spec);
    int rc = take_spec(req, copy, write, err);
    json_decref(copy);
    return rc;
}

// The kind of the path, if the caller may do this to it anywhere: the document cannot tell which right that is.
static const struct asset_family *family_of(struct request *req, enum access_action action, struct error *err)
{
    const struct asset_family *family = asset_family_at(ASSET_GROUP_DATA_SOURCE, request_path(req, "datasourceKind"));
    if (!family) {
        error_set(err, ERROR_NOT_FOUND, "there are no such data sources");
        return NULL;
    }
    if (asset_family_is_allowed(req, family, action))
        return family;
    error_set(err, ERROR_FORBIDDEN, "your roles do not allow this with %s data sources", family->path);
    return NULL;
}

// Registries are credentials here (docker-registry); what a registry holds is not looked at.
int op_list_registries(struct request *req, struct response *res, struct error *err)
{
    (void)req;
    (void)err;
    return response_json(res, json_pack("{s:[]}", "entries"));
}

int op_list_datasource_assets(struct request *req, struct response *res, struct error *err)
{
    return asset_list_group(req, res, ASSET_GROUP_DATA_SOURCE, err);
}

int op_list_datasource_assets_of_kind(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, ACTION_READ, err);
    return family ? asset_list(req, res, family, err) : -1;
}

int op_create_datasource_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, ACTION_CREATE, err);
    return family ? asset_create(req, res, family, read_spec, err) : -1;
}

int op_get_datasource_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, ACTION_READ, err);
    return family ? asset_get(req, res, family, err) : -1;
}

int op_get_pvc_history(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = asset_family_at(ASSET_GROUP_DATA_SOURCE, "pvc");
    return asset_history(req, res, family, err);
}

int op_update_datasource_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, ACTION_UPDATE, err);
    return family ? asset_update(req, res, family, read_spec, err) : -1;
}

int op_delete_datasource_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, ACTION_DELETE, err);
    return family ? asset_delete(req, res, family, err) : -1;
}
