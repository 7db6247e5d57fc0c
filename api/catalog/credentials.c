// Credentials: what data sources, registries and environment variables sign in with. What is secret of them is sealed,
// and never answered, logged or recorded again.
#include "db/catalog/credentials.h"
#include "api/access/auth.h"
#include "api/access/sealing.h"
#include "api/catalog/asset_operations.h"
#include "api/http/request.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/catalog/assets.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    PUBLIC_MAX = 3,
    PAIRS_MAX = 256
};

// What is shown of a kind, and the one member that is not.
static const struct {
    const char *kind, *secret;
    const char *shown[PUBLIC_MAX];
} SPECS[] = {
    {"accessKey", "secretAccessKey", {"accessKeyId"}},
    {"dockerRegistry", "password", {"url", "user"}},
    {"genericSecret", "keyValuePairs", {NULL}},
    {"ngcApiKey", "ngcApiKey", {NULL}},
    {"password", "password", {"user"}},
};

static size_t row_of(const char *kind)
{
    size_t row = 0;
    while (strcmp(SPECS[row].kind, kind) != 0)
        row++;
    return row;
}

static const json_t *said(const json_t *spec, const char *member)
{
    const json_t *value = json_object_get(spec, member);
    return json_is_null(value) ? NULL : value;
}

static int check_pairs(const json_t *pairs, struct error *err)
{
    json_t *pair;
    size_t i;
    if (json_array_size(pairs) < 1 || json_array_size(pairs) > PAIRS_MAX)
        return error_set(err, ERROR_INVALID, "spec.keyValuePairs: 1 to %d, got %zu", PAIRS_MAX, json_array_size(pairs));
    json_array_foreach((json_t *)(uintptr_t)pairs, i, pair) {
        const char *key = json_string_value(json_object_get(pair, "key"));
        if (!key || !json_is_string(json_object_get(pair, "value")))
            return error_set(err, ERROR_INVALID, "spec.keyValuePairs[%zu]: needs a key and a value", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(key, json_string_value(json_object_get(json_array_get(pairs, j), "key"))) == 0)
                return error_set(err, ERROR_INVALID, "spec.keyValuePairs[%zu]: duplicate: %.60s", i, key);
    }
    return 0;
}

static void add_keys(json_t *shown, const json_t *pairs)
{
    json_t *keys = json_array(), *pair;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)pairs, i, pair) {
        json_t *key = json_object();
        json_object_set_new(key, "key", json_deep_copy(json_object_get(pair, "key")));
        json_array_append_new(keys, key);
    }
    json_object_set_new(shown, "keyValuePairs", keys);
}

// What may be seen of it, in the place of what was seen before.
static void show(struct request *req, size_t row, const json_t *spec, const json_t *secret, struct asset_write *write)
{
    json_t *before = write->is_update ? json_loads(write->asset->spec_json, 0, NULL) : NULL, *shown = json_object();
    const json_t *existing = said(spec, "existingSecretName");
    for (size_t i = 0; !existing && i < PUBLIC_MAX && SPECS[row].shown[i]; i++) {
        const json_t *value = said(spec, SPECS[row].shown[i]);
        value = value ? value : said(before, SPECS[row].shown[i]);
        if (value)
            json_object_set_new(shown, SPECS[row].shown[i], json_deep_copy(value));
    }
    if (existing)
        json_object_set_new(shown, "existingSecretName", json_deep_copy(existing));
    else if (json_is_array(secret))
        add_keys(shown, secret);
    else if (said(before, "keyValuePairs"))
        json_object_set_new(shown, "keyValuePairs", json_deep_copy(said(before, "keyValuePairs")));
    (void)asset_take_spec(req, shown, write, NULL);
    json_decref(before);
    json_decref(shown);
}

static int seal(struct request *req, const char *member, const json_t *secret, struct asset_write *write,
                struct error *err)
{
    json_t *object = json_object();
    json_object_set_new(object, member, json_deep_copy(secret));
    char *text = json_dumps(object, JSON_COMPACT);
    size_t size = strlen(text);
    json_decref(object);
    int rc = 0;
    if (size > SEALING_BYTES_MAX)
        rc = error_set(err, ERROR_INVALID, "spec.%s: at most %d bytes, got %zu", member, SEALING_BYTES_MAX, size);
    else
        write->secret_sealed =
            sealing_seal(req->server->auth->sealing, SEALED_CREDENTIAL, write->asset->uuid, text, size, req->arena);
    sodium_memzero(text, size);
    free(text);
    return rc;
}

// A change that says nothing of the secret keeps it.
static int check_kept(struct request *req, size_t row, const struct asset_write *write, struct error *err)
{
    int rc = 0;
    if (write->is_update) {
        struct db_conn *conn = db_acquire(req->server->db);
        rc = db_credential_has_secret(conn, write->asset->uuid, err);
        db_give_back(req->server->db, conn);
    }
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "spec.%s: required, or existingSecretName", SPECS[row].secret);
    return rc < 0 ? -1 : 0;
}

static int check_shown(size_t row, const json_t *spec, const struct asset_write *write, struct error *err)
{
    for (size_t i = 0; !write->is_update && i < PUBLIC_MAX && SPECS[row].shown[i]; i++)
        if (!said(spec, SPECS[row].shown[i]))
            return error_set(err, ERROR_INVALID, "spec.%s: required, or existingSecretName", SPECS[row].shown[i]);
    return 0;
}

static int read_secret(struct request *req, size_t row, const json_t *spec, const json_t *secret,
                       struct asset_write *write, struct error *err)
{
    if (check_shown(row, spec, write, err) < 0)
        return -1;
    if (!secret)
        return check_kept(req, row, write, err);
    if (strcmp(SPECS[row].secret, "keyValuePairs") == 0 && check_pairs(secret, err) < 0)
        return -1;
    write->sets_secret = true;
    return seal(req, SPECS[row].secret, secret, write, err);
}

static int read_spec(struct request *req, const json_t *spec, struct asset_write *write, struct error *err)
{
    size_t row = row_of(write->family->kind);
    const json_t *secret = said(spec, SPECS[row].secret);
    if (!secret && strcmp(SPECS[row].secret, "ngcApiKey") == 0)
        secret = said(spec, "ngc_api_key"); // as the vendor's client for Python writes it
    const json_t *existing = said(spec, "existingSecretName");
    if (write->is_update && (!spec || json_is_null(spec)))
        return 0; // another name or description; all else stays
    if (existing && secret)
        return error_set(err, ERROR_INVALID, "spec: existingSecretName or %s, not both", SPECS[row].secret);
    if (existing)
        write->sets_secret = true; // the one that it had goes
    else if (read_secret(req, row, spec, secret, write, err) < 0)
        return -1;
    show(req, row, spec, secret, write);
    return 0;
}

static const struct asset_family *family_of(struct request *req, struct error *err)
{
    const struct asset_family *family = asset_family_at(ASSET_GROUP_CREDENTIAL, request_path(req, "credentialKind"));
    if (!family)
        error_set(err, ERROR_NOT_FOUND, "there are no such credentials");
    return family;
}

int op_list_credential_assets(struct request *req, struct response *res, struct error *err)
{
    return asset_list_group(req, res, ASSET_GROUP_CREDENTIAL, err);
}

int op_list_credential_assets_of_kind(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, err);
    return family ? asset_list(req, res, family, err) : -1;
}

int op_create_credential_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, err);
    return family ? asset_create(req, res, family, read_spec, err) : -1;
}

int op_get_credential_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, err);
    return family ? asset_get(req, res, family, err) : -1;
}

int op_update_credential_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, err);
    return family ? asset_update(req, res, family, read_spec, err) : -1;
}

int op_delete_credential_asset(struct request *req, struct response *res, struct error *err)
{
    const struct asset_family *family = family_of(req, err);
    return family ? asset_delete(req, res, family, err) : -1;
}
