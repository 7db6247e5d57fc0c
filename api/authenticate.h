// Who calls, and whether the operation is theirs to call.
// A caller shows either `Authorization: Bearer TOKEN` or the session cookie that POST /api/v1/session set. A cookie is
// sent by a browser whatever page made the request, so a request that is not GET or HEAD and comes with the cookie
// alone must carry the header SESSION_WRITE_HEADER, which no foreign page can send without our leave (and we give none:
// no CORS answer).
#pragma once
#include "api/operation.h"

#define SESSION_COOKIE "prorata_session"
#define SESSION_WRITE_HEADER "X-Prorata-Request" // value "1"

enum subject_type {
    SUBJECT_USER,
    SUBJECT_SERVICE_ACCOUNT
};

struct grants; // what the caller's access rules add up to: api/authorization.h

// The caller, in the request's arena.
struct identity {
    enum subject_type type;
    int64_t subject_id; // users.id or service_accounts.id
    const char *subject_uuid;
    const char *rule_key;      // how access rules name it: e-mail or client id
    const char *name;          // user name (e-mail) or the service account's name: submittedBy, createdBy
    const char *session_id;    // revocable
    bool is_cookie;            // by the browser's session
    bool must_change_password; // nothing else is allowed before
    int64_t expires_ms;        // of the token; of a cookie, if no further request comes
    const struct grants *grants;
};

// Sets req->caller. ERROR_UNAUTHORIZED (401) with one wording for every failure; the reason goes to the log.
// Not called for operations that are open to all.
int authenticate(struct request *req, struct error *err);
// The same for a session that has just been made, whose cookie the request could not bring yet.
int authenticate_by_cookie(struct request *req, const char *cookie, struct error *err);

// Asks again, for an answer that goes on while things change. True where the caller would be let in with the very
// rights he came with; else req->caller is from now on what he is now: with other rights, or with none.
bool authenticate_again(struct request *req);

// 403 unless the password that was given to the caller has been changed, and the caller holds the operation's
// permission in at least one scope. What an operation touches is checked by its handler, which knows the scope.
int authorize(struct request *req, struct error *err);
