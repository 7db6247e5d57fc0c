// The header Idempotency-Key on creations: a client whose answer was lost sends the same request again and gets the
// same answer, and nothing is made twice. A key is the caller's own, for one operation and one day; with another target
// or body it is refused. It goes on disk with the change itself, the answer before it is sent.
#pragma once

struct db_conn;
struct error;
struct request;
struct response;

enum idempotency {
    IDEMPOTENCY_NEW,    // or without a key: the operation runs
    IDEMPOTENCY_KNOWN,  // res has the answer of the first time
    IDEMPOTENCY_MADE,   // carried out, and its answer not kept: *out_thing is what it made, or ""
    IDEMPOTENCY_REFUSED // err is set: ERROR_CONFLICT, or ERROR_INVALID for a key that is none
};

// After the body has been read and before the operation runs. Sets req->key where there is one.
enum idempotency idempotency_begin(struct request *req, struct response *res, const char **out_thing,
                                   struct error *err);
// Inside the write function of the operation's first change. Fails where somebody else used the key meanwhile.
int idempotency_write(struct db_conn *conn, struct request *req, const char *thing, struct error *err);
// After the operation, with what it returned: keeps the answer; where it failed, lets go of the key, or says in err
// that the key is in use.
void idempotency_end(struct request *req, const struct response *res, int rc, struct error *err);
