// A person's saved views: what he chose on a page, under a name. Each reads and changes his own alone.
#include "db/accounts/saved_views.h"
#include "api/access/authenticate.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"

static int require_user(const struct request *req, struct error *err)
{
    if (req->caller->type == SUBJECT_USER)
        return 0;
    return error_set(err, ERROR_FORBIDDEN, "a service account has no views; it opens no pages");
}

static void write_view(struct json_writer *json, const struct saved_view *view)
{
    json_begin_object(json);
    json_text(json, "id", view->uuid);
    json_text(json, "page", view->page);
    json_text(json, "name", view->name);
    json_text(json, "query", view->query);
    json_time(json, "createdAt", view->created_ms);
    json_time(json, "updatedAt", view->updated_ms);
    json_end_object(json);
}

static struct saved_view view_of(const struct request *req, const char *uuid)
{
    return (struct saved_view){
        .uuid = uuid,
        .user_id = req->caller->subject_id,
        .page = json_string_value(json_object_get(req->body, "page")),
        .name = json_string_value(json_object_get(req->body, "name")),
        .query = json_string_value(json_object_get(req->body, "query")),
        .created_ms = req->received_ms,
        .updated_ms = req->received_ms,
    };
}

static int answer(struct response *res, const struct saved_view *view)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    write_view(&json, view);
    return 0;
}

int op_list_my_views(struct request *req, struct response *res, struct error *err)
{
    struct saved_view *views;
    size_t count;
    struct json_writer json;
    if (require_user(req, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc =
        db_list_saved_views(conn, req->caller->subject_id, request_query(req, "page"), req->arena, &views, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "views");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_view(&json, &views[i]);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

int op_create_my_view(struct request *req, struct response *res, struct error *err)
{
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    struct saved_view view = view_of(req, uuid);
    if (require_user(req, err) < 0 || db_create_saved_view(req->server->db, &view, err) < 0)
        return -1;
    return answer(res, &view);
}

int op_update_my_view(struct request *req, struct response *res, struct error *err)
{
    struct saved_view view = view_of(req, request_path(req, "viewId"));
    if (require_user(req, err) < 0 || db_change_saved_view(req->server->db, &view, err) < 0)
        return -1;
    return answer(res, &view);
}

int op_delete_my_view(struct request *req, struct response *res, struct error *err)
{
    if (require_user(req, err) < 0 ||
        db_delete_saved_view(req->server->db, req->caller->subject_id, request_path(req, "viewId"), err) < 0)
        return -1;
    return response_empty(res, 204);
}
