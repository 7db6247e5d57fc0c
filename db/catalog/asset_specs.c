#include "db/catalog/asset_specs.h"

#include "db/catalog/assets.h"
#include "model/asset_spec.h"

struct naming {
    struct db_conn *conn;
    struct arena *arena;
    struct error *err;
};

// The name of the secret that stands for a credential: the one that it names, else its id.
static int name_secret(const struct naming *naming, json_t *object, const char *member)
{
    struct asset asset;
    const char *uuid = json_string_value(json_object_get(object, member));
    if (!uuid)
        return 0;
    int rc = db_find_asset(naming->conn, NULL, uuid, naming->arena, &asset, naming->err);
    if (rc <= 0)
        return rc;
    json_t *credential = json_loads(asset.spec_json, 0, NULL);
    const char *existing = json_string_value(json_object_get(credential, "existingSecretName"));
    if (existing)
        json_object_set_new(object, member, json_string(existing));
    json_decref(credential);
    return 0;
}

static int name_secrets(const struct naming *naming, const struct asset *asset, const json_t *spec)
{
    static const char *const MEMBERS[] = {"passwordSecret", "accessKeySecret", "secret"};
    const char *path_member, *list = asset_spec_storage(asset->kind, &path_member);
    json_t *variable, *item = list ? json_array_get(json_object_get(json_object_get(spec, "storage"), list), 0) : NULL;
    size_t i;
    int rc = 0;
    for (size_t m = 0; rc == 0 && m < sizeof(MEMBERS) / sizeof(MEMBERS[0]); m++)
        rc = name_secret(naming, item, MEMBERS[m]);
    json_array_foreach(json_object_get(spec, "environmentVariables"), i, variable) {
        rc = rc < 0 ? -1 : name_secret(naming, json_object_get(variable, "secret"), "name");
    }
    return rc;
}

int asset_spec_read(struct db_conn *conn, const struct asset *asset, const char *path, struct arena *arena,
                    json_t **out_spec, struct error *err)
{
    struct naming naming = {conn, arena, err};
    json_t *stored = json_loads(asset->spec_json, 0, NULL);
    json_t *spec = asset_spec_for_submission(asset->kind, stored, path);
    int rc = name_secrets(&naming, asset, spec);
    json_decref(stored);
    if (rc < 0)
        json_decref(spec);
    else
        *out_spec = spec;
    return rc;
}
