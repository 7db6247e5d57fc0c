#include "db/settings.h"

#include "base/error.h"
#include "db/db.h"

static const char SQL_FIND[] = "SELECT value FROM tenant_settings WHERE key = ?";
static const char SQL_FIND_SWITCH[] = "SELECT value = 'true' FROM tenant_settings WHERE key = ?";
static const char SQL_SET[] =
    "INSERT INTO tenant_settings (key, value, updated_ms) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_ms = excluded.updated_ms";
static const char SQL_FIND_META[] = "SELECT value FROM meta WHERE key = ?";
static const char SQL_SET_META[] =
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

static const struct {
    const char *key;
    bool fallback;
} TENANT_SETTINGS[TENANT_SETTING_COUNT] = {
    [TENANT_SETTING_DEPARTMENTS] = {"departments", true},
    [TENANT_SETTING_CPU_QUOTA] = {"cpuQuota", true},
    [TENANT_SETTING_OVER_QUOTA_WEIGHT] = {"overQuotaWeight", true},
    [TENANT_SETTING_LIMIT_TO_DEPARTMENT] = {"limitProjectsToDepartmentQuota", false},
    [TENANT_SETTING_OWN_QUOTA] = {"administratorsSetOwnQuota", false},
};

const char *tenant_setting_key(enum tenant_setting setting)
{
    return TENANT_SETTINGS[setting].key;
}

int db_find_tenant_setting(struct db_conn *conn, enum tenant_setting setting, bool *out_is_on, bool *out_is_set,
                           struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_SWITCH, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, TENANT_SETTINGS[setting].key);
    int rc = db_step(conn, stmt, err);
    if (rc >= 0)
        *out_is_on = rc > 0 ? db_column_int(stmt, 0) != 0 : TENANT_SETTINGS[setting].fallback;
    if (rc >= 0 && out_is_set)
        *out_is_set = rc > 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int find_value(struct db_conn *conn, const char *sql, const char *key, struct arena *arena,
                      const char **out_value, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, key);
    int rc = db_step(conn, stmt, err);
    if (rc >= 0)
        *out_value = rc > 0 ? db_column_text(stmt, 0, arena) : NULL;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

int db_find_setting(struct db_conn *conn, const char *key, struct arena *arena, const char **out_json,
                    struct error *err)
{
    return find_value(conn, SQL_FIND, key, arena, out_json, err);
}

int db_find_meta(struct db_conn *conn, const char *key, struct arena *arena, const char **out_value, struct error *err)
{
    return find_value(conn, SQL_FIND_META, key, arena, out_value, err);
}

struct setting_change {
    const char *key;
    const char *json;
    int64_t now_ms;
};

static int set_setting(struct db_conn *conn, void *context, struct error *err)
{
    const struct setting_change *change = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_SET, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, change->key);
    db_bind_text(stmt, 2, change->json);
    db_bind_int(stmt, 3, change->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0)
        db_touch(conn, CHANGE_SETTING, change->key);
    return rc;
}

int db_set_setting(struct db *db, const char *key, const char *json, int64_t now_ms, struct error *err)
{
    struct setting_change change = {key, json, now_ms};
    return db_write(db, set_setting, &change, err);
}

int db_set_meta_in(struct db_conn *conn, const char *key, const char *value, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_SET_META, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, key);
    db_bind_text(stmt, 2, value);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}
