// Second factors: the sealed secret behind an account's codes by time, the step of the code that was used last, and the
// hashes of recovery codes.
#pragma once
#include "db/accounts/sessions.h"

enum {
    RECOVERY_HASH_SIZE = SESSION_HASH_SIZE,
    RECOVERY_CODES = 10
};

struct second_factor {
    const char *secret_sealed;
    int64_t created_ms;
    int64_t confirmed_ms; // 0: asked for, and no code was shown yet
    int64_t last_step;
    int64_t recovery_codes; // that are left
};

// 1: found; 0: none; -1: error.
int db_find_second_factor(struct db_conn *conn, int64_t user_id, struct arena *arena, struct second_factor *out_factor,
                          struct error *err);
// 1: the account has such a recovery code; 0: not; -1: error.
int db_has_recovery_code(struct db_conn *conn, int64_t user_id, const unsigned char hash[RECOVERY_HASH_SIZE],
                         struct error *err);
// A new secret that waits for its first code. ERROR_CONFLICT where the account has a second factor.
int db_begin_second_factor(struct db *db, int64_t user_id, const char *secret_sealed, int64_t now_ms,
                           struct error *err);

struct factor_confirmation {
    int64_t user_id;
    const char *secret_sealed; // the one that the code was made with
    int64_t step;
    unsigned char recovery_hashes[RECOVERY_CODES][RECOVERY_HASH_SIZE];
    const char *kept_session;
    int64_t now_ms;
};
// From now on signing in needs a code; the account's other sessions end. ERROR_CONFLICT where the secret is no longer
// the one that waits.
int db_confirm_second_factor(struct db *db, const struct factor_confirmation *confirmation, struct error *err);
// Ends the account's sessions, but for the one that is named (NULL: all end). ERROR_NOT_FOUND where there is none.
int db_remove_second_factor(struct db *db, int64_t user_id, const char *kept_session, struct error *err);
