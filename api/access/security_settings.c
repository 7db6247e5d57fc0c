#include "api/access/security_settings.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/settings.h"

#include <stdlib.h>
#include <string.h>

enum {
    IDLE_MINUTES = 60
};

#define BROWSER_SESSION_TIMEOUT "browserSessionTimeout"

static const struct {
    const char *key;
    const char *fallback;
} SETTINGS[] = {
    {"autoRedirectSSO", "{\"enabled\":false,\"idpAlias\":null}"},
    {BROWSER_SESSION_TIMEOUT, "{\"idleTimeout\":60}"},
    {"logoutRedirectUri", "{\"uri\":null}"},
};

enum {
    SETTING_COUNT = sizeof(SETTINGS) / sizeof(SETTINGS[0])
};

static int read_setting(struct db_conn *conn, size_t index, struct arena *arena, json_t **out_value, struct error *err)
{
    const char *text;
    if (db_find_setting(conn, SETTINGS[index].key, arena, &text, err) < 0)
        return -1;
    *out_value = json_loads(text ? text : SETTINGS[index].fallback, 0, NULL);
    return *out_value ? 0 : error_set(err, ERROR_INTERNAL, "setting %s: not JSON", SETTINGS[index].key);
}

int security_settings_idle_ms(struct db_conn *conn, struct arena *arena, int64_t *out_idle_ms, struct error *err)
{
    json_t *value;
    if (read_setting(conn, 1, arena, &value, err) < 0)
        return -1;
    double minutes = json_number_value(json_object_get(value, "idleTimeout"));
    *out_idle_ms = (int64_t)((minutes > 0 ? minutes : IDLE_MINUTES) * 60000);
    json_decref(value);
    return 0;
}

int op_get_security_settings(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_READ, err) < 0)
        return -1;
    json_t *all = json_object();
    int rc = 0;
    struct db_conn *conn = db_acquire(req->server->db);
    for (size_t i = 0; rc == 0 && i < SETTING_COUNT; i++) {
        json_t *value;
        rc = read_setting(conn, i, req->arena, &value, err);
        if (rc == 0)
            json_object_set_new(all, SETTINGS[i].key, value);
    }
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return response_json(res, all);
    json_decref(all);
    return -1;
}

// The key is one of the document's.
static size_t setting_index(const char *key)
{
    size_t i = 0;
    while (i < SETTING_COUNT - 1 && strcmp(SETTINGS[i].key, key) != 0)
        i++;
    return i;
}

int op_get_security_setting_by_key(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_READ, err) < 0)
        return -1;
    json_t *value;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = read_setting(conn, setting_index(request_path(req, "key")), req->arena, &value, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : response_json(res, value);
}

// What is stored: the members that the setting has, of the body or else their defaults.
static json_t *pick_members(const struct request *req, size_t index)
{
    json_t *value = json_loads(SETTINGS[index].fallback, 0, NULL);
    const char *name;
    json_t *old;
    void *next;
    json_object_foreach_safe(value, next, name, old)
    {
        json_t *given = json_object_get(req->body, name);
        if (given && !json_is_null(given))
            json_object_set(value, name, given);
    }
    return value;
}

// What would be stored without doing anything is refused.
static int check_acts(size_t index, const json_t *value, struct error *err)
{
    if (json_is_true(json_object_get(value, "enabled")))
        return error_set(err, ERROR_INVALID, "%s.enabled: there is no single sign-on to send anybody to",
                         SETTINGS[index].key);
    const json_t *uri = json_object_get(value, "uri");
    if (json_is_string(uri) && json_string_length(uri) > 0)
        return error_set(err, ERROR_INVALID, "%s.uri: whoever signs out stays on the sign-in page",
                         SETTINGS[index].key);
    return 0;
}

int op_update_security_setting_by_key(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_UPDATE, err) < 0)
        return -1;
    size_t index = setting_index(request_path(req, "key"));
    json_t *value = pick_members(req, index);
    char *text = json_dumps(value, JSON_COMPACT);
    int rc = check_acts(index, value, err);
    if (rc == 0)
        rc = db_set_setting(req->server->db, SETTINGS[index].key, text, req->received_ms, err);
    free(text);
    if (rc == 0)
        return response_json(res, value);
    json_decref(value);
    return -1;
}
