#include "api/scheduling/present_answer.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/server.h"
#include "base/places.h"
#include "db/db.h"
#include "reconciler/questions.h"

int present_ask(const struct request *req, struct present *out_present, struct error *err)
{
    struct place_claim claim = access_place_claim(req->caller, -1);
    return present_open(req->server->reconciler, &claim, out_present, err);
}

void present_answer_open(struct present_answer *answer, struct request *req, struct response *res,
                         const struct present *present)
{
    answer->req = req;
    answer->present = present;
    answer->conn = db_acquire(req->server->db);
    visibility_init(&answer->visibility, req, present->view);
    visibility_names(&answer->visibility, &present->snapshot, answer->conn, &answer->names);
    json_writer_init(&answer->json, res->body, false);
}

void present_answer_stamp(struct present_answer *answer)
{
    json_time(&answer->json, "verifiedAt", answer->present->snapshot.now_ms);
    json_int(&answer->json, "cycle", answer->present->view->cycle);
}

void present_answer_close(struct present_answer *answer)
{
    db_give_back(answer->req->server->db, answer->conn);
}
