#include "api/settings.h"

#include "api/authorization.h"
#include "api/operations.h"
#include "api/request.h"
#include "api/response.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/settings.h"

#include <string.h>

static const struct {
    const char *key;
    bool fallback;
    const char *category;
    const char *label;
    const char *description;
} SETTINGS[TENANT_SETTING_COUNT] = {
    [TENANT_SETTING_DEPARTMENTS] = {"departments", true, "Resources", "Departments",
                                    "Show departments between cluster and projects"},
    [TENANT_SETTING_CPU_QUOTA] = {"cpuQuota", true, "Resources", "CPU quota", "Show and set quotas of CPU and memory"},
    [TENANT_SETTING_OVER_QUOTA_WEIGHT] =
        {"overQuotaWeight", true, "Resources", "Over quota weight",
         "Share spare GPUs by a weight of their own; when off, the weight is the GPU quota"},
    [TENANT_SETTING_LIMIT_TO_DEPARTMENT] = {"limitProjectsToDepartmentQuota", false, "Resources",
                                            "Limit projects from exceeding department quota",
                                            "Refuse project quotas whose sum exceeds the department's"},
};

static int find_value(struct db_conn *conn, enum tenant_setting setting, bool *out_is_on, bool *out_is_set,
                      struct error *err)
{
    struct arena arena;
    const char *text;
    arena_init(&arena);
    int rc = db_find_setting(conn, SETTINGS[setting].key, &arena, &text, err);
    if (rc == 0) {
        *out_is_set = text != NULL;
        *out_is_on = text ? !strcmp(text, "true") : SETTINGS[setting].fallback;
    }
    arena_done(&arena);
    return rc;
}

int tenant_setting_is_on(struct db_conn *conn, enum tenant_setting setting, bool *out_is_on, struct error *err)
{
    bool is_set = false;
    return find_value(conn, setting, out_is_on, &is_set, err);
}

static int find_setting(const char *key, enum tenant_setting *out_setting)
{
    for (size_t i = 0; i < TENANT_SETTING_COUNT; i++) {
        if (strcmp(SETTINGS[i].key, key) != 0)
            continue;
        *out_setting = (enum tenant_setting)i;
        return 0;
    }
    return -1;
}

int op_getTenantSettings(struct request *req, struct response *res, struct error *err)
{
    struct json_writer json;
    int rc = 0;
    if (access_check_tenant(req, RESOURCE_TYPE_SETTINGS, ACTION_READ, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    json_writer_init(&json, res->body, false);
    json_begin_array(&json);
    for (size_t i = 0; rc == 0 && i < TENANT_SETTING_COUNT; i++) {
        bool is_on = false, is_set = false;
        rc = find_value(conn, (enum tenant_setting)i, &is_on, &is_set, err);
        if (rc < 0)
            break;
        json_begin_object(&json);
        json_text(&json, "key", SETTINGS[i].key);
        json_text(&json, "value", is_on ? "true" : "false");
        json_text(&json, "type", "boolean");
        json_text(&json, "category", SETTINGS[i].category);
        json_text(&json, "label", SETTINGS[i].label);
        json_text(&json, "description", SETTINGS[i].description);
        json_text(&json, "stage", "GA");
        json_text(&json, "source", is_set ? "tenant" : "default");
        json_bool(&json, "active", true);
        json_end_object(&json);
    }
    json_end_array(&json);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_getTenantSettingsByKey(struct request *req, struct response *res, struct error *err)
{
    enum tenant_setting setting;
    bool is_on = false;
    const char *key = request_path(req, "settingKey");
    if (access_check_tenant(req, RESOURCE_TYPE_SETTINGS, ACTION_READ, err) < 0)
        return -1;
    if (find_setting(key, &setting) < 0)
        return error_set(err, ERROR_NOT_FOUND, "setting %.60s: not found", key);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = tenant_setting_is_on(conn, setting, &is_on, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : response_json(res, json_boolean(is_on));
}

// Clients send the value as a boolean or as its text.
static int read_value(const json_t *value, bool *out_is_on)
{
    const char *text = json_string_value(value);
    if (!json_is_boolean(value) && !(text && (!strcmp(text, "true") || !strcmp(text, "false"))))
        return -1;
    *out_is_on = text ? !strcmp(text, "true") : json_is_true(value);
    return 0;
}

int op_updateTenantSetting(struct request *req, struct response *res, struct error *err)
{
    enum tenant_setting setting;
    bool is_on = false;
    const char *key = json_string_value(json_object_get(req->body, "key"));
    if (access_check_tenant(req, RESOURCE_TYPE_SETTINGS, ACTION_UPDATE, err) < 0)
        return -1;
    if (!key)
        return error_set(err, ERROR_INVALID, "key: required");
    if (find_setting(key, &setting) < 0)
        return error_set(err, ERROR_INVALID, "key: there is no setting %.60s", key);
    if (read_value(json_object_get(req->body, "value"), &is_on) < 0)
        return error_set(err, ERROR_INVALID, "value: true or false expected");
    if (db_set_setting(req->server->db, key, is_on ? "true" : "false", req->received_ms, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s}", "msg", "saved"));
}
