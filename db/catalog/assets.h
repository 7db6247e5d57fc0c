// Assets: compute resources, environments and data sources that people load into a submission, and credentials. An
// asset belongs to a scope and is seen by all below it.
#pragma once
#include "model/scope.h"

struct arena;
struct db_conn;
struct error;

#define ASSET_KIND_COMPUTE "compute"
#define ASSET_KIND_ENVIRONMENT "environment"

struct asset {
    int64_t id;
    const char *uuid;
    const char *kind; // ASSET_KIND_...
    const char *name;
    const char *description; // "": none
    enum scope_type scope;
    const char *scope_id;            // as the API names it; "" for system and tenant
    const char *scope_name;          // read only
    struct scope_path path;          // read only
    const char *workload_types_json; // NULL: any
    const char *spec_json;
    const char *created_by;
    const char *updated_by;
    int64_t created_ms;
    int64_t updated_ms;
};

// Which assets: all conditions that are set must hold.
struct asset_query {
    const char *kind;             // NULL: any
    const char *name;             // NULL: any
    const enum scope_type *scope; // NULL: any
    const struct scope_path *at;  // NULL: anywhere; else those that hold there (of the scopes above, and its own)
    bool has_descendants;         // and those of the scopes below at
};

// 1: found; 0: none; -1: error. kind is NULL for any.
int db_find_asset(struct db_conn *conn, const char *kind, const char *uuid, struct arena *arena,
                  struct asset *out_asset, struct error *err);
// By name. Assets are few: no paging, as in the contract.
int db_list_assets(struct db_conn *conn, const struct asset_query *query, struct arena *arena,
                   struct asset **out_assets, size_t *out_count, struct error *err);

// Inside a write function.

// Sets id. ERROR_CONFLICT where the name is taken in the scope.
int db_create_asset_in(struct db_conn *conn, struct asset *asset, struct error *err);
// Name, description and spec. ERROR_CONFLICT, ERROR_NOT_FOUND.
int db_update_asset_in(struct db_conn *conn, const struct asset *asset, struct error *err);
int db_delete_asset_in(struct db_conn *conn, const char *uuid, struct error *err);
