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

// Of a write the record is the write's own: it says by what its caller came.
static void note_sign_in(struct request *req, const char *email)
{
    audit_detail(req, "grant", "socket");
    if (req->audit && !req->audit->is_wanted)
        audit_signed_in(req, SUBJECT_USER, email);
}

static int make_account(struct request *req, struct machine_account *account, struct error *err)
{
    char hash[PASSWORD_HASH_SIZE], quoted[LOG_TEXT_SIZE];
    if (make_hash(req, hash, err) < 0)
        return -1;
    account->password_hash = hash;
    if (db_sign_in_machine_account(req->server->db, account, err) < 0)
        return -1;
    note_sign_in(req, account->email);
    log_write(LOG_INFO, "api", "signed in by the socket user=%s new=%d remote=%s request=%s",
              log_text(account->email, quoted), account->is_new, req->remote_address, req->id);
    return 0;
}

int socket_sign_in(struct request *req, struct error *err)
{
    struct socket_person person;
    audit_detail(req, "from", req->remote_address);
    if (req->peer->session[0])
        return 0;
    if (look(req, &person, err) < 0)
        return -1;
    struct machine_account account = {
        .email = arena_printf(req->arena, "%s@" SOCKET_ACCOUNT_DOMAIN, person.name),
        .uid = req->peer->uid,
        .remote_address = req->remote_address,
        .now_ms = req->received_ms,
        .expires_ms = req->received_ms + SESSION_LIFE_MS,
        .good_until_ms = req->received_ms + SESSION_REST_MS,
    };
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_machine_session(conn, &account, err);
    db_give_back(req->server->db, conn);
    if (rc < 0 || (rc == 0 && make_account(req, &account, err) < 0))
        return -1;
    memcpy(req->peer->session, account.session, sizeof(account.session));
    return 0;
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
