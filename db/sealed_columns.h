// Every column that holds sealed texts (api/access/sealing.h), for whoever must go through all of them. A new one is a
// row of the table in sealed_columns.c; tests/db looks for columns named *_sealed that have none.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

// What a text was sealed for: static text, part of each sealed text for good.
#define SEALED_CLIENT_SECRET "identity_provider.client_secret"      // id: "1"
#define SEALED_REFRESH_TOKEN "external_sessions.refresh"            // id: the session's uuid
#define SEALED_CREDENTIAL "credential_secrets.secret"               // id: the asset's uuid
#define SEALED_SECOND_FACTOR "second_factors.secret"                // id: the user's uuid
#define SEALED_NOTIFICATION_CHANNEL "notification_channels.secrets" // id: the channel's name

struct sealed_text {
    size_t column; // its place in the table
    const char *purpose;
    const char *id;
    const char *text;
};

// All sealed texts there are, in the arena.
int db_list_sealed(struct db_conn *conn, struct arena *arena, struct sealed_text **out_texts, size_t *out_count,
                   struct error *err);
// Inside a write function: puts the text in the place of the one that was listed.
int db_set_sealed_in(struct db_conn *conn, const struct sealed_text *text, struct error *err);
