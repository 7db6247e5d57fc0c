// Tenant settings: switches that people see on the general settings page. What is not listed here does not exist; each
// acts from the next cycle on (reconciler/world/world.c), or where quotas are written (db/queues.c).
#include "db/settings.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <string.h>

// Run:ai has it as a switch; clients turn it on before they make a role.
#define CUSTOM_ROLES "tenant.enable_custom_roles"

static const struct {
    const char *category;
    const char *label;
    const char *description;
} SETTINGS[TENANT_SETTING_COUNT] = {
    [TENANT_SETTING_DEPARTMENTS] = {"Resources", "Departments",
                                    "Divide node pools between departments first, then between their projects; when "
                                    "off, between all projects: departments' quotas, limits, weights and ranks play no "
                                    "role"},
    [TENANT_SETTING_CPU_QUOTA] = {"Resources", "CPU quota",
                                  "Quotas and limits of CPU and memory; when off, both are unlimited for everybody"},
    [TENANT_SETTING_OVER_QUOTA_WEIGHT] = {"Resources", "Over quota weight",
                                          "Share spare GPUs by a weight of their own; when off, the weight is the "
                                          "quota, of CPU and memory likewise"},
    [TENANT_SETTING_LIMIT_TO_DEPARTMENT] = {"Resources", "Limit projects from exceeding department quota",
                                            "Refuse project quotas whose sum exceeds the department's"},
    [TENANT_SETTING_OWN_QUOTA] = {"Resources", "Administrators set their own quota",
                                  "Let who administers a project or a department alone change its quota, limit, "
                                  "weight and rank; when off, that takes rights in what is above it"},
};

static int find_setting(const char *key, enum tenant_setting *out_setting)
{
    for (size_t i = 0; i < TENANT_SETTING_COUNT; i++) {
        if (strcmp(tenant_setting_key((enum tenant_setting)i), key) != 0)
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
        rc = db_find_tenant_setting(conn, (enum tenant_setting)i, &is_on, &is_set, err);
        if (rc < 0)
            break;
        json_begin_object(&json);
        json_text(&json, "key", tenant_setting_key((enum tenant_setting)i));
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
    int rc = db_find_tenant_setting(conn, setting, &is_on, NULL, err);
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

// Whoever sends {"departments": false} is told how it is written.
static int refuse_without_key(json_t *body, struct error *err)
{
    enum tenant_setting setting = TENANT_SETTING_OVER_QUOTA_WEIGHT;
    bool is_on = false;
    const char *name;
    const json_t *value;
    json_object_foreach(body, name, value)
        if (find_setting(name, &setting) == 0 && read_value(value, &is_on) == 0)
            break;
    return error_set(err, ERROR_INVALID, "key: required, as in {\"key\": \"%s\", \"value\": %s}",
                     tenant_setting_key(setting), is_on ? "true" : "false");
}

int op_updateTenantSetting(struct request *req, struct response *res, struct error *err)
{
    enum tenant_setting setting;
    bool is_on = false;
    const char *key = json_string_value(json_object_get(req->body, "key"));
    if (access_check_tenant(req, RESOURCE_TYPE_SETTINGS, ACTION_UPDATE, err) < 0)
        return -1;
    if (!key)
        return refuse_without_key(req->body, err);
    if (strcmp(key, CUSTOM_ROLES) == 0)
        return read_value(json_object_get(req->body, "value"), &is_on) == 0 && is_on
                   ? response_json(res, json_pack("{s:s}", "msg", "saved"))
                   : error_set(err, ERROR_INVALID, "value: roles of one's own are always on here; expected true");
    if (find_setting(key, &setting) < 0)
        return error_set(err, ERROR_INVALID, "key: there is no setting %.60s", key);
    if (read_value(json_object_get(req->body, "value"), &is_on) < 0)
        return error_set(err, ERROR_INVALID, "value: expected true or false");
    if (db_set_setting(req->server->db, key, is_on ? "true" : "false", req->received_ms, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s}", "msg", "saved"));
}
