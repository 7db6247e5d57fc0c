// The issuer that people sign in at by OpenID Connect: one row at most.
#pragma once
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

struct identity_provider {
    const char *name; // on the button of the sign-in page
    const char *issuer;
    const char *client_id;
    const char *client_secret_sealed; // NULL: a public client
    const char *scopes;               // separated by blanks
    const char *groups_claim;
    const char *username_claim;
    const char *redirect_url;
    int64_t refresh_s; // how often the issuer is asked again about each session
    const char *updated_by;
    int64_t updated_ms;
};

// 1: found; 0: none is set up; -1: error.
int db_find_identity_provider(struct db_conn *conn, struct arena *arena, struct identity_provider *out_provider,
                              struct error *err);
// Another issuer or client ends the sessions that came from the one before, and takes their groups.
int db_set_identity_provider(struct db *db, const struct identity_provider *provider, struct error *err);
// ERROR_NOT_FOUND where there is none. Its sessions end.
int db_delete_identity_provider(struct db *db, struct error *err);
