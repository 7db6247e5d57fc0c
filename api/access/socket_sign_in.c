#include "api/access/socket_sign_in.h"

#include "api/access/audit.h"
#include "api/access/auth.h"
#include "api/access/authorization.h"
#include "api/access/passwords.h"
#include "api/access/secrets.h"
#include "api/access/socket_access.h"
#include "api/http/peers.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/accounts/machine_accounts.h"
#include "db/audit/records.h"
#include "db/db.h"

#include <inttypes.h>
#include <string.h>

#define SESSION_LIFE_MS (INT64_C(7) * 86400000)
#define SESSION_REST_MS (INT64_C(1) * 86400000)

static int look(struct request *req, struct socket_person *out_person, struct error *err)
{
    return socket_access_look(req->server->socket_access, req->peer->uid, req->arena, out_person, err);
}

// Of a password that nobody knows: the account can sign in by the socket alone.
static int make_hash(struct request *req, char out_hash[PASSWORD_HASH_SIZE], struct error *err)
{
    char secret[SECRET_TEXT_SIZE];
    secret_create(secret);
    return password_hash(req->server->auth->passwords, secret, out_hash, err);
}

struct sign_in {
    struct request *req;
    struct machine_account account;
};

// The record of the sign-in itself, with the session: the request that it came by has its own, if it writes.
static int add_record(struct db_conn *conn, const struct db_change *changes, size_t count, void *context,
                      struct error *err)
{
    (void)changes;
    (void)count;
    const struct sign_in *sign_in = context;
    const struct request *req = sign_in->req;
    if (!sign_in->account.is_signed_in)
        return 0;
    struct audit_record record = {
        .time_ms = req->received_ms,
        .subject_type = "User",
        .subject = sign_in->account.email,
        .address = req->remote_address,
        .operation = "socket",
        .action = audit_action_text(AUDIT_SIGN_IN),
        .method = "",
        .url = "",
        .entity_type = "session",
        .entity_id = "",
        .entity_name = "",
        .status = 201,
        .count = 1,
        .last_ms = req->received_ms,
        .request = req->id,
        .details_json = arena_printf(req->arena, "{\"grant\":\"socket\",\"from\":\"%s\"%s}", req->remote_address,
                                     sign_in->account.is_new ? ",\"account\":\"made\"" : ""),
        .changes_json = "[]",
    };
    return db_add_audit_record(conn, req->server->audit_key, &record, NULL, err);
}

static int make_account(struct sign_in *sign_in, struct error *err)
{
    struct request *req = sign_in->req;
    struct machine_account *account = &sign_in->account;
    struct db_companion companion = {.fn = add_record, .context = sign_in};
    char hash[PASSWORD_HASH_SIZE], quoted[LOG_TEXT_SIZE];
    if (make_hash(req, hash, err) < 0)
        return -1;
    account->password_hash = hash;
    db_accompany(req->server->db, req->server->audit ? &companion : NULL);
    int rc = db_sign_in_machine_account(req->server->db, account, err);
    db_accompany(req->server->db, NULL);
    if (rc < 0)
        return -1;
    log_write(LOG_INFO, "api", "signed in by the socket user=%s new=%d remote=%s request=%s",
              log_text(account->email, quoted), account->is_new, req->remote_address, req->id);
    return 0;
}

// Account and session of who may come in.
static int sign_in_as(struct request *req, const char *email, struct error *err)
{
    struct sign_in sign_in = {
        .req = req,
        .account = {.email = email,
                    .uid = req->peer->uid,
                    .remote_address = req->remote_address,
                    .now_ms = req->received_ms,
                    .expires_ms = req->received_ms + SESSION_LIFE_MS,
                    .good_until_ms = req->received_ms + SESSION_REST_MS},
    };
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_machine_session(conn, &sign_in.account, err);
    db_give_back(req->server->db, conn);
    if (rc < 0 || (rc == 0 && make_account(&sign_in, err) < 0))
        return -1;
    memcpy(req->peer->session, sign_in.account.session, sizeof(sign_in.account.session));
    return 0;
}

int socket_sign_in(struct request *req, struct error *err)
{
    struct socket_person person;
    audit_detail(req, "from", req->remote_address);
    if (req->peer->session[0])
        return 0;
    int rc = look(req, &person, err);
    const char *email = person.name ? arena_printf(req->arena, "%s@" SOCKET_ACCOUNT_DOMAIN, person.name) : "";
    if (rc == 0)
        rc = sign_in_as(req, email, err);
    if (rc < 0) {
        audit_tried(req, SUBJECT_USER, email);
        audit_detail(req, "grant", "socket");
    }
    return rc;
}

int socket_sign_in_grants(struct request *req, struct db_conn *conn, struct grant *items, size_t *count,
                          struct error *err)
{
    struct socket_person person;
    if (look(req, &person, err) < 0)
        return -1;
    return socket_access_grants(req->server->socket_access, &person, conn, items, count, err);
}

const char *socket_sign_in_user(struct request *req)
{
    struct socket_person person;
    if (req->peer->uid == 0 || look(req, &person, NULL) < 0)
        return NULL;
    return arena_printf(req->arena, "%s:%" PRId64, person.name, req->peer->uid);
}
