// Accounts of the machine's own people, and their sessions. An account belongs to a name and a number of the machine
// together: where either has gone to somebody else, it is another account, and an account that an administrator made is
// never taken for one.
#pragma once
#include "base/uuid.h"
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

struct machine_account {
    const char *email;         // alice@localhost
    int64_t uid;               // on the machine
    const char *password_hash; // of a password that nobody knows
    const char *remote_address;
    int64_t now_ms;
    int64_t expires_ms;      // of a new session
    int64_t good_until_ms;   // a session that ends before is not used any more
    char session[UUID_SIZE]; // result
    bool is_new;             // result: the account was made
    bool is_signed_in;       // result: so was the session
};

// The account's session. 1: found; 0: the account or a session that lasts has to be made first; -1: error.
// ERROR_FORBIDDEN: the name is another account's.
int db_find_machine_session(struct db_conn *conn, struct machine_account *account, struct error *err);
// Makes what is missing. ERROR_FORBIDDEN as above.
int db_sign_in_machine_account(struct db *db, struct machine_account *account, struct error *err);

// A project's id by its name. 1: found; 0: none; -1: error.
int db_find_project_number(struct db_conn *conn, const char *name, int64_t *out_id, struct error *err);
