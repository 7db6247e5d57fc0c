// What all kinds of assets have in common: to be listed, shown, made, changed and deleted. A kind differs by how it
// reads its specification.
#pragma once
#include "api/catalog/asset_family.h"
#include <jansson.h>
#include <stdbool.h>

struct arena;
struct asset;
struct error;
struct request;
struct response;

// One write of an asset, with the templates that are made from it.
struct asset_write {
    struct asset *asset; // a change: as it was, but for what has been read
    struct arena *arena;
    const struct asset_family *family;
    bool is_update;
    const char *credential_uuid; // that it signs in with; NULL: none
    bool sets_secret;            // of a credential
    const char *secret_sealed;   // NULL: it has none from now on
};

// Sets the asset's spec_json, and what else of the write the kind needs. spec is the body's; NULL where it has none.
typedef int (*asset_read_spec_fn)(struct request *req, const json_t *spec, struct asset_write *write,
                                  struct error *err);
// As it came.
int asset_take_spec(struct request *req, const json_t *spec, struct asset_write *write, struct error *err);

int asset_list(struct request *req, struct response *res, const struct asset_family *family, struct error *err);
// All kinds of the group; `spec` has one member, named as the kind.
int asset_list_group(struct request *req, struct response *res, enum asset_group group, struct error *err);
int asset_get(struct request *req, struct response *res, const struct asset_family *family, struct error *err);
// What happened to it, newest first, in Run:ai's form of a history: that it was made, and when it was changed last.
int asset_history(struct request *req, struct response *res, const struct asset_family *family, struct error *err);
int asset_create(struct request *req, struct response *res, const struct asset_family *family,
                 asset_read_spec_fn read_spec, struct error *err);
int asset_update(struct request *req, struct response *res, const struct asset_family *family,
                 asset_read_spec_fn read_spec, struct error *err);
// ERROR_PRECONDITION for a credential that is in use.
int asset_delete(struct request *req, struct response *res, const struct asset_family *family, struct error *err);
