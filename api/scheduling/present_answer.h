// What every answer about the present begins and ends with: whom it may name, and on which cycle it rests.
#pragma once
#include "api/lists/visibility.h"
#include "base/json_writer.h"

struct present;
struct response;

struct present_answer {
    struct request *req;
    const struct present *present;
    struct visibility visibility;
    struct why_names names;
    struct json_writer json;
    struct db_conn *conn;
};

// present_open (reconciler/questions.h) for the caller.
int present_ask(const struct request *req, struct present *out_present, struct error *err);
// Writes into the response. It keeps a connection until it is closed, and may not be moved meanwhile.
void present_answer_open(struct present_answer *answer, struct request *req, struct response *res,
                         const struct present *present);
// "verifiedAt" and "cycle" as members of the open object.
void present_answer_stamp(struct present_answer *answer);
void present_answer_close(struct present_answer *answer);
