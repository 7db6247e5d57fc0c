#include "api/people/openid_session.h"

#include "api/access/audit.h"
#include "api/access/auth.h"
#include "api/access/openid.h"
#include "api/access/passwords.h"
#include "api/access/sealing.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <string.h>

// A password that nobody knows, so that a try with one takes its usual time and fails.
static int hash_for_new(struct request *req, const struct openid_person *person, const char **out_hash,
                        struct error *err)
{
    struct user user = {.email = person->wanted_name};
    char password[PASSWORD_RANDOM_SIZE];
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int found = db_find_external_user(conn, person->issuer, person->subject, req->arena, &user, err);
    db_give_back(req->server->db, conn);
    *out_hash = NULL;
    if (found >= 0) {
        audit_signed_in(req, SUBJECT_USER, user.email);
        audit_detail(req, "issuer", person->issuer);
        audit_detail(req, "subject", person->subject);
    }
    if (found != 0)
        return found < 0 ? -1 : 0;
    char *hash = arena_alloc(req->arena, PASSWORD_HASH_SIZE);
    password_random(password);
    *out_hash = hash;
    return password_hash(req->server->auth->passwords, password, hash, err);
}

int openid_session_create(struct request *req, const struct openid_person *person, struct external_sign_in *sign_in,
                          struct error *err)
{
    sign_in->issuer = person->issuer;
    sign_in->subject = person->subject;
    sign_in->wanted_name = person->wanted_name;
    sign_in->fallback_name = person->fallback_name;
    sign_in->groups = person->groups;
    sign_in->session.remote_address = req->remote_address;
    sign_in->session.created_ms = req->received_ms;
    sign_in->next_check_ms = req->received_ms + person->refresh_s * 1000;
    sign_in->arena = req->arena;
    if (person->refresh_token && strlen(person->refresh_token) <= SEALING_BYTES_MAX)
        sign_in->refresh_sealed = sealing_seal(req->server->auth->sealing, SEALED_REFRESH_TOKEN, sign_in->session.uuid,
                                               person->refresh_token, strlen(person->refresh_token), req->arena);
    if (hash_for_new(req, person, &sign_in->password_hash, err) < 0 ||
        db_sign_in_external(req->server->db, sign_in, err) < 0)
        return -1;
    audit_signed_in(req, SUBJECT_USER, sign_in->user.email);
    char quoted[LOG_TEXT_SIZE];
    log_write(LOG_INFO, "api", "signed in by the issuer user=%s is_new=%d remote=%s request=%s",
              log_text(sign_in->user.email, quoted), sign_in->is_new, req->remote_address, req->id);
    openid_wake(req->server->openid);
    return 0;
}
