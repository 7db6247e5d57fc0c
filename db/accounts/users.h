// Users: people who sign in with a password.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;
typedef struct sqlite3_stmt sqlite3_stmt;

struct user {
    int64_t id;
    const char *uuid;
    const char *email; // compared without regard to case
    const char *password_hash;
    bool must_change_password; // reset_password: until then nothing else is allowed
    bool is_local;
    const char *created_by;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t last_login_ms; // 0: never
    bool has_second_factor;
    const char *groups_json; // as its issuer said last: an array of names
};

// The columns that db_user_from_row reads, in its order.
#define DB_USER_COLUMNS                                                                                                \
    "u.id, u.uuid, u.email, u.password_hash, u.reset_password, u.is_local, u.created_by, u.created_ms, u.updated_ms, " \
    "u.last_login_ms, EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_ms > 0), "         \
    "(SELECT json_group_array(g.name) FROM user_groups g WHERE g.user_id = u.id)"
void db_user_from_row(sqlite3_stmt *stmt, struct arena *arena, struct user *out_user);

// 1: found; 0: no such user; -1: error.
int db_find_user_by_email(struct db_conn *conn, const char *email, struct arena *arena, struct user *out_user,
                          struct error *err);
int db_find_user_by_uuid(struct db_conn *conn, const char *uuid, struct arena *arena, struct user *out_user,
                         struct error *err);
int db_find_user(struct db_conn *conn, int64_t id, struct arena *arena, struct user *out_user, struct error *err);

// Sets id. ERROR_CONFLICT where the e-mail is taken.
int db_create_user(struct db *db, struct user *user, struct error *err);
struct password_change {
    int64_t user_id;
    const char *hash;
    bool must_change;
    const char *kept_session; // its uuid; NULL: all end
    int kept_old;             // how many passwords of before are remembered
    int64_t now_ms;
};
// A new password ends the user's sessions, but for the one that is named.
int db_set_user_password(struct db *db, const struct password_change *change, struct error *err);
// Hashes of the passwords before the present one, the newest first.
int db_list_old_passwords(struct db_conn *conn, int64_t user_id, int count, struct arena *arena,
                          const char ***out_hashes, size_t *out_count, struct error *err);
// With the user go sessions and access rules. ERROR_CONFLICT where nobody would be left who may do everything.
int db_delete_user(struct db *db, int64_t id, int64_t now_ms, struct error *err);

// Inside a write function.
int db_create_user_in(struct db_conn *conn, struct user *user, struct error *err);
// Says that the user changed, where there is one.
int db_touch_user(struct db_conn *conn, int64_t id, struct error *err);
