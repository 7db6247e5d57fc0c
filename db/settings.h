// Tenant settings: what was set, by key. Values are JSON text. The switches of the general settings have their defaults
// here; those of security are api/access/security_settings.c's.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum tenant_setting {
    TENANT_SETTING_DEPARTMENTS,         // off: departments play no role in the division, nor in checks of quotas
    TENANT_SETTING_CPU_QUOTA,           // off: quotas and limits of CPU and memory play no role
    TENANT_SETTING_OVER_QUOTA_WEIGHT,   // off: each resource's over-quota weight is its quota
    TENANT_SETTING_LIMIT_TO_DEPARTMENT, // project quotas together stay within the department's
    TENANT_SETTING_OWN_QUOTA,           // who may update a unit may change its quota, limit, weight and rank
    TENANT_SETTING_COUNT
};

// Its key in the API and in the table. Static text.
const char *tenant_setting_key(enum tenant_setting setting);
// out_is_set: it was set, and does not just have its default. It may be NULL.
int db_find_tenant_setting(struct db_conn *conn, enum tenant_setting setting, bool *out_is_on, bool *out_is_set,
                           struct error *err);

// NULL where it was never set.
int db_find_setting(struct db_conn *conn, const char *key, struct arena *arena, const char **out_json,
                    struct error *err);
int db_set_setting(struct db *db, const char *key, const char *json, int64_t now_ms, struct error *err);

// One row of `meta`, inside a write function or by a reader; NULL where there is none.
int db_find_meta(struct db_conn *conn, const char *key, struct arena *arena, const char **out_value, struct error *err);
int db_set_meta_in(struct db_conn *conn, const char *key, const char *value, struct error *err);
