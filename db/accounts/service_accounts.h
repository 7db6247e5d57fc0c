// Service accounts (formerly applications): programs that sign in with a client id and a secret.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;
typedef struct sqlite3_stmt sqlite3_stmt;

enum {
    SERVICE_ACCOUNT_HASH_SIZE = 32
};

struct service_account {
    int64_t id;
    const char *uuid;
    const char *name;
    const char *client_id;
    unsigned char secret_hash[SERVICE_ACCOUNT_HASH_SIZE]; // BLAKE2b-256
    bool is_enabled;
    const char *created_by;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t last_login_ms; // 0: never
};

// 1: found; 0: none; -1: error.
int db_find_service_account(struct db_conn *conn, const char *uuid, struct arena *arena,
                            struct service_account *out_account, struct error *err);
// By client id, or else by name: older clients send the name.
int db_find_service_account_by_client(struct db_conn *conn, const char *client_id, struct arena *arena,
                                      struct service_account *out_account, struct error *err);
// All of them, by name.
int db_list_service_accounts(struct db_conn *conn, struct arena *arena, struct service_account **out_accounts,
                             size_t *out_count, struct error *err);

// Sets id. ERROR_CONFLICT where the name is taken.
int db_create_service_account(struct db *db, struct service_account *account, struct error *err);
// Switching off ends its sessions. ERROR_NOT_FOUND.
int db_enable_service_account(struct db *db, const char *uuid, bool is_enabled, int64_t now_ms, struct error *err);
// A new secret ends the sessions made with the old one.
int db_set_service_account_secret(struct db *db, const char *uuid, const unsigned char hash[SERVICE_ACCOUNT_HASH_SIZE],
                                  int64_t now_ms, struct error *err);
// With it go sessions and access rules.
int db_delete_service_account(struct db *db, const char *uuid, int64_t now_ms, struct error *err);
