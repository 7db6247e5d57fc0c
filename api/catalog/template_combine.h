// What a template comes to: its assets' values below, its own on top (model/spec_layers.h), and whether that can be
// submitted as it is. The result is kept in its row, and made again when one of its assets changes.
#pragma once
#include <jansson.h>

struct arena;
struct db_conn;
struct error;
struct workload_template;

enum {
    TEMPLATE_DATA_SOURCES_MAX = 64
};

// Sets the combined members, sources and issue from the template's own; reads its assets. In the arena.
int template_combine(struct db_conn *conn, struct workload_template *template, struct arena *arena, struct error *err);
// What assets come to without a template, as text; NULL where they say nothing. ERROR_INVALID where one has gone.
int template_combine_assets(struct db_conn *conn, const json_t *assets, struct arena *arena, const char **out_spec_json,
                            struct error *err);

// Write functions: to be called inside db_write().

// Stores which assets the template names; it has an id.
int template_store_assets(struct db_conn *conn, const struct workload_template *template, struct arena *arena,
                          struct error *err);
// Makes all templates again that name the asset, which has changed or gone.
int template_refresh(struct db_conn *conn, const char *asset_uuid, struct arena *arena, struct error *err);
