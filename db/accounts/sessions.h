// Sessions: every sign-in, of a browser (cookie), of a user or of a service account (token). A token carries its
// session's uuid, so deleting the row ends it. Secrets are here as BLAKE2b hashes only.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    SESSION_HASH_SIZE = 32
};

#define SESSION_KIND_BROWSER "browser"
#define SESSION_KIND_TOKEN "token"
#define SESSION_KIND_SOCKET "socket" // of a user of the machine

#define SESSION_OF_USER "user"
#define SESSION_OF_SERVICE_ACCOUNT "service-account"

// What was shown of a second factor: a code's step, or else the hash of a recovery code. Neither: the account has none.
struct factor_shown {
    int64_t step;
    const unsigned char *recovery_hash;
};

struct session {
    int64_t id;
    const char *uuid;
    const char *kind;         // SESSION_KIND_...; NULL: a token's
    const char *subject_type; // SESSION_OF_...
    int64_t subject_id;
    int64_t access_key_id; // 0: the user himself signed in
    const char *remote_address;
    const char *user_agent;                   // NULL: not told
    const unsigned char *cookie_hash;         // browser; NULL otherwise
    const unsigned char *refresh_family_hash; // NULL: cannot be refreshed
    const unsigned char *refresh_hash;
    int64_t created_ms;
    int64_t last_used_ms;
    int64_t expires_ms;
    // What was shown, as it is kept: the session is made only if it is still so. NULL: not looked at.
    const char *shown_password_hash;
    struct factor_shown shown_factor;       // beside a password; used up with the session
    const unsigned char *shown_secret_hash; // of the access key or the service account
};

// A session with whom it belongs to: all that authentication asks for, in one row.
struct session_subject {
    int64_t session_id;
    const char *session_uuid;
    bool is_browser;
    bool is_user;
    bool is_access_key; // made with a key of the user's
    int64_t subject_id;
    const char *subject_uuid;
    const char *name;     // e-mail, or the service account's name
    const char *rule_key; // by which access rules name the subject: e-mail or client id
    bool is_enabled;      // of a service account; users always are
    bool must_change_password;
    int64_t last_used_ms;
    int64_t expires_ms;
};

// 1: found; 0: none; -1: error. Whether it has expired is the caller's to look at.
int db_find_session(struct db_conn *conn, const char *uuid, struct arena *arena, struct session_subject *out_subject,
                    struct error *err);
int db_find_session_by_cookie(struct db_conn *conn, const unsigned char hash[SESSION_HASH_SIZE], struct arena *arena,
                              struct session_subject *out_subject, struct error *err);

// Sets id; stamps the last login of the subject, or of the access key; removes sessions that have expired (a bounded
// number). ERROR_UNAUTHORIZED where what was shown is no longer good.
int db_create_session(struct db *db, struct session *session, struct error *err);
int db_touch_session(struct db *db, int64_t id, int64_t now_ms, struct error *err);
int db_end_session(struct db *db, const char *uuid, struct error *err); // unknown is fine
int db_end_sessions(struct db *db, const char *subject_type, int64_t subject_id, struct error *err);

// What its owner is told of one.
struct session_entry {
    const char *uuid;
    const char *kind; // browser, token, access-key, socket
    const char *remote_address;
    const char *user_agent;
    const char *access_key; // its name; NULL
    int64_t created_ms;
    int64_t last_used_ms;
    int64_t expires_ms;
};
enum {
    SESSIONS_LISTED_MAX = 500
};
// Those that have not expired, the one that was used last first.
int db_list_sessions(struct db_conn *conn, const char *subject_type, int64_t subject_id, int64_t now_ms,
                     struct arena *arena, struct session_entry **out_entries, size_t *out_count, struct error *err);
// ERROR_NOT_FOUND where it is not the subject's.
int db_end_session_of(struct db *db, const char *subject_type, int64_t subject_id, const char *uuid, struct error *err);
int db_end_sessions_but(struct db *db, const char *subject_type, int64_t subject_id, const char *kept_uuid,
                        struct error *err);

struct session_refresh {
    const unsigned char *family_hash;
    const unsigned char *old_hash;
    const unsigned char *new_hash;
    int64_t now_ms;
    int64_t expires_ms; // from now on
    struct arena *arena;
    struct session_subject subject; // result
    bool is_reused; // result, with ERROR_UNAUTHORIZED: an old token was shown and the session has been ended
};
// Exchanges a refresh token. ERROR_UNAUTHORIZED where the token is unknown or has expired; one that was exchanged
// before ends its session, because two hold it.
int db_refresh_session(struct db *db, struct session_refresh *refresh, struct error *err);

// Inside a write function.
int db_create_session_in(struct db_conn *conn, struct session *session, struct error *err);
int db_end_sessions_in(struct db_conn *conn, const char *subject_type, int64_t subject_id, const char *kept_uuid,
                       struct error *err);
