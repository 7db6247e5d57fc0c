// What an asset puts into a submission (model/asset_spec.h), with the secrets that stand for its credentials.
#pragma once
#include <jansson.h>

struct arena;
struct asset;
struct db_conn;
struct error;

// The caller's. path is where a data source is mounted instead of where it says; NULL: where it says.
int asset_spec_read(struct db_conn *conn, const struct asset *asset, const char *path, struct arena *arena,
                    json_t **out_spec, struct error *err);
