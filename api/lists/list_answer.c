#include "api/lists/list_answer.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/server.h"
#include "base/json_writer.h"
#include "db/db.h"

static void write_pagination(const struct list_query *query, struct json_writer *json)
{
    json_key(json, "pagination");
    json_begin_object(json);
    json_int(json, "limit", query->request.limit);
    json_int(json, "offset", query->request.offset);
    if (query->has_next)
        json_int(json, "nextOffset", query->request.offset + query->row_count);
    json_end_object(json);
}

int list_answer(struct request *req, struct response *res, struct list_query *query, const struct list_form *form,
                const void *context, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_open(query, conn, err);
    if (rc == 0) {
        struct json_writer json;
        json_writer_init(&json, res->body, false);
        if (form->key) {
            json_begin_object(&json);
            json_key(&json, form->key);
        }
        json_begin_array(&json);
        while ((rc = list_query_step(query, err)) == 1)
            form->write_row(&json, query->stmt, req, context);
        json_end_array(&json);
        if (form->tells_next)
            list_query_write_next(query, &json);
        if (form->tells_page)
            write_pagination(query, &json);
        if (form->key)
            json_end_object(&json);
        list_query_close(query);
    }
    db_give_back(req->server->db, conn);
    return rc;
}

int list_answer_count(struct request *req, struct response *res, struct list_query *query, struct error *err)
{
    int64_t count = 0;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_count(query, conn, &count, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : response_json(res, json_pack("{s:I}", "count", (json_int_t)count));
}
