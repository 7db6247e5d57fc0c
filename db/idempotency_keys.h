// Keys of creations and the answers that they got, for a day.
#pragma once
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

#define IDEMPOTENCY_KEEP_MS (INT64_C(24) * 3600 * 1000)

// Whose key it is, and for what.
struct idempotency_key {
    int subject_type; // enum subject_type
    int64_t subject_id;
    const char *operation;
    const char *key;
};

struct idempotency_row {
    const char *request_hash;
    const char *thing;  // the id of what was made; "": none
    int64_t status;     // 0: the answer is not kept
    const char *answer; // JSON
};

// Of the last day. 1: found; 0: none; -1: error.
int db_find_idempotency_key(struct db_conn *conn, const struct idempotency_key *key, int64_t now_ms,
                            struct arena *arena, struct idempotency_row *out_row, struct error *err);
// A write function's part. ERROR_CONFLICT where the key has been used within the day.
int db_add_idempotency_key(struct db_conn *conn, const struct idempotency_key *key, const struct idempotency_row *row,
                           int64_t now_ms, struct error *err);
// The answer that the key's request got, on disk.
int db_answer_idempotency_key(struct db *db, const struct idempotency_key *key, int status, const char *answer,
                              struct error *err);
// The request failed after all: its key may be used again.
int db_remove_idempotency_key(struct db *db, const struct idempotency_key *key, struct error *err);
