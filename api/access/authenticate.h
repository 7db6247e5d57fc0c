// Who calls, and whether the operation is theirs to call.
// A caller shows either `Authorization: Bearer TOKEN` or the session cookie that POST /api/v1/session set. A cookie is
// sent by a browser whatever page made the request, so a request that is not GET or HEAD and comes with the cookie
// alone must carry the header SESSION_WRITE_HEADER, which no foreign page can send without our leave (and we give none:
// no CORS answer).
#pragma once
#include "api/identity.h"
#include "api/operation.h"

#define SESSION_COOKIE "prorata_session"
// "1" beside it, for scripts: is there a session to ask for? No key to it.
#define SESSION_HINT_COOKIE "prorata_signed_in"
#define SESSION_WRITE_HEADER "X-Prorata-Request" // value "1"

// Sets req->caller. ERROR_UNAUTHORIZED (401) with one wording for every failure; the reason goes to the log.
// Not called for operations that are open to all.
int authenticate(struct request *req, struct error *err);
// The same for a session that has just been made, whose cookie the request could not bring yet.
int authenticate_by_cookie(struct request *req, const char *cookie, struct error *err);
// The same for a session that is known by its id, and shown to nobody: where something else stands for it. req is new
// and has server, arena, received_ms, remote_address, id, and a peer for a session by the machine's socket.
int authenticate_session(struct request *req, const char *session_uuid, struct error *err);
// The same, and it counts as use of the session.
int authenticate_use_of_session(struct request *req, const char *session_uuid, struct error *err);

// Asks again, for an answer that goes on while things change. True where the caller would be let in with the very
// rights he came with; else req->caller is from now on what he is now: with other rights, or with none.
bool authenticate_again(struct request *req);
