// Tenant settings: what was set, by key; defaults are api/settings.c's. Values are JSON text.
#pragma once
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

// NULL where it was never set.
int db_find_setting(struct db_conn *conn, const char *key, struct arena *arena, const char **out_json,
                    struct error *err);
int db_set_setting(struct db *db, const char *key, const char *json, int64_t now_ms, struct error *err);

// One row of `meta`, inside a write function or by a reader; NULL where there is none.
int db_find_meta(struct db_conn *conn, const char *key, struct arena *arena, const char **out_value, struct error *err);
int db_set_meta_in(struct db_conn *conn, const char *key, const char *value, struct error *err);
