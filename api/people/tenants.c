// The tenant: one an installation. Clients ask for the list before they name a scope.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/settings.h"
#include "model/scope.h"

#include <string.h>

struct tenant {
    const char *name, *uuid;
    int64_t created_ms;
};

static int find(struct request *req, struct tenant *out_tenant, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc =
        db_find_meta(conn, "tenant_name", req->arena, &out_tenant->name, err) < 0 ||
                db_find_meta(conn, "tenant_uuid", req->arena, &out_tenant->uuid, err) < 0 ||
                db_read_number(conn, "SELECT coalesce(min(created_ms), 0) FROM users", &out_tenant->created_ms, err) < 0
            ? -1
            : 0;
    db_give_back(req->server->db, conn);
    return rc;
}

static void write(struct json_writer *json, const struct tenant *tenant)
{
    json_begin_object(json);
    json_int(json, "id", TENANT_ID);
    json_text(json, "uuid", tenant->uuid);
    json_text(json, "name", tenant->name);
    json_text(json, "displayName", tenant->name);
    json_bool(json, "smg", false);
    json_text(json, "status", "Ready");
    json_time(json, "createdAt", tenant->created_ms);
    json_time(json, "updatedAt", tenant->created_ms);
    json_end_object(json);
}

int op_get_tenants(struct request *req, struct response *res, struct error *err)
{
    const char *name = request_query(req, "name"), *alias = request_query(req, "alias");
    struct tenant tenant;
    struct json_writer json;
    if (find(req, &tenant, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_array(&json);
    if ((!name || strcmp(name, tenant.name) == 0) && !alias)
        write(&json, &tenant);
    json_end_array(&json);
    return 0;
}

int op_get_tenant_by_id(struct request *req, struct response *res, struct error *err)
{
    struct tenant tenant;
    struct json_writer json;
    if (request_path_integer(req, "tenantId") != TENANT_ID)
        return error_set(err, ERROR_NOT_FOUND, "tenant %.20s: not found", request_path(req, "tenantId"));
    if (find(req, &tenant, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write(&json, &tenant);
    return 0;
}
