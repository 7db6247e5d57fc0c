// Access keys: a person signs programs in by a client id and a secret, and they act with that person's rights. With the
// user go his keys, with a key its sessions.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    ACCESS_KEY_HASH_SIZE = 32,
    ACCESS_KEYS_MAX = 100 // of a user
};

struct access_key {
    int64_t id;
    const char *uuid;
    int64_t user_id;
    const char *user_uuid;
    const char *user_email;
    const char *name; // unique among the user's
    const char *client_id;
    unsigned char secret_hash[ACCESS_KEY_HASH_SIZE]; // BLAKE2b-256
    int64_t created_ms;
    int64_t last_login_ms; // 0: never
};

// Which keys; NULL and 0 for all.
struct access_key_filter {
    int64_t user_id;
    const char *uuid;
    const char *client_id;
    const char *user_email;
};

// 1: found, the first of the filter's; 0: none; -1: error.
int db_find_access_key(struct db_conn *conn, const struct access_key_filter *filter, struct arena *arena,
                       struct access_key *out_key, struct error *err);
// By user and name.
int db_list_access_keys(struct db_conn *conn, const struct access_key_filter *filter, struct arena *arena,
                        struct access_key **out_keys, size_t *out_count, struct error *err);

// Sets id. ERROR_CONFLICT where the user has a key of this name, or ACCESS_KEYS_MAX keys.
int db_create_access_key(struct db *db, struct access_key *key, struct error *err);
// A new secret ends the sessions made with the old one. ERROR_NOT_FOUND where the user has no such key.
int db_set_access_key_secret(struct db *db, int64_t user_id, const char *uuid,
                             const unsigned char hash[ACCESS_KEY_HASH_SIZE], struct error *err);
// user_id 0: whoever has it. ERROR_NOT_FOUND.
int db_delete_access_key(struct db *db, int64_t user_id, const char *uuid, struct error *err);

// Inside a write function.
int db_create_access_key_in(struct db_conn *conn, struct access_key *key, struct error *err);
