// People whom an issuer signs in: their accounts (by issuer and subject, never by e-mail), their groups, their sessions
// with the issuer's sealed refresh token, and the codes by which a command line takes such a session over.
#pragma once
#include "db/accounts/sessions.h"
#include "db/accounts/users.h"

#include <stddef.h>

enum {
    EXTERNAL_GROUPS_MAX = 256
};

struct external_groups {
    const char **names;
    size_t count;
};

// A code that was handed out instead of the session itself.
struct sign_in_code {
    const unsigned char *hash; // SESSION_HASH_SIZE bytes; NULL: none
    const char *challenge;
    const char *redirect_uri;
    int64_t expires_ms;
};

struct external_sign_in {
    const char *issuer;
    const char *subject;
    const char *wanted_name;   // of a new account, where nobody has it
    const char *fallback_name; // else this one
    const char *password_hash; // of a new account; NULL: an account must be there
    struct external_groups groups;
    struct session session;     // whose subject is set here
    const char *refresh_sealed; // NULL: the issuer cannot be asked again
    int64_t next_check_ms;
    struct sign_in_code code;
    struct arena *arena;
    struct user user; // result
    bool is_new;      // result: the account was made
};

// 1: the account; 0: none yet; -1: error.
int db_find_external_user(struct db_conn *conn, const char *issuer, const char *subject, struct arena *arena,
                          struct user *out_user, struct error *err);
// Account, groups, session and code, in one change. ERROR_CONFLICT where both names are taken.
int db_sign_in_external(struct db *db, struct external_sign_in *sign_in, struct error *err);

// A code for what it stands for. It goes with its use, whatever comes of it; so does the session where it is refused.
struct code_exchange {
    const unsigned char *code_hash;
    const char *challenge; // of the verifier that was shown
    const char *redirect_uri;
    const unsigned char *family_hash, *refresh_hash; // of the refresh token that is handed out
    int64_t now_ms;
    int64_t expires_ms;       // where the issuer can be asked about the session
    int64_t short_expires_ms; // where it cannot
    struct arena *arena;
    struct session_subject subject; // result
    bool can_refresh;               // result
    bool is_refused;                // result, with ERROR_UNAUTHORIZED
};
int db_exchange_sign_in_code(struct db *db, struct code_exchange *exchange, struct error *err);

struct external_session {
    const char *session_uuid;
    int64_t user_id;
    const char *subject; // at the issuer
    const char *refresh_sealed;
    int64_t confirmed_ms;
    int64_t next_check_ms;
};

// The session that is next to be confirmed. 1, 0 or -1.
int db_find_next_external_session(struct db_conn *conn, struct arena *arena, struct external_session *out_session,
                                  struct error *err);
// The issuer confirmed it: its groups and refresh token from now on. A session that has ended meanwhile stays ended.
int db_confirm_external_session(struct db *db, const struct external_session *session,
                                const struct external_groups *groups, struct error *err);
int db_postpone_external_session(struct db *db, const char *session_uuid, int64_t next_check_ms, struct error *err);
// In the order of their names.
int db_list_groups_of_user(struct db_conn *conn, int64_t user_id, struct arena *arena,
                           struct external_groups *out_groups, struct error *err);
