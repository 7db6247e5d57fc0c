#include "db/sealed_columns.h"

#include "base/arena.h"
#include "db/db.h"

static const struct {
    const char *purpose;
    const char *list; // id as text, sealed text
    const char *set;  // ?1: id, ?2: sealed text
} COLUMNS[] = {
    {SEALED_CLIENT_SECRET,
     "SELECT CAST(id AS TEXT), client_secret_sealed FROM identity_provider WHERE client_secret_sealed IS NOT NULL",
     "UPDATE identity_provider SET client_secret_sealed = ?2 WHERE id = CAST(?1 AS INTEGER)"},
    {SEALED_REFRESH_TOKEN, "SELECT session_uuid, refresh_sealed FROM external_sessions",
     "UPDATE external_sessions SET refresh_sealed = ?2 WHERE session_uuid = ?1"},
    {SEALED_CREDENTIAL, "SELECT asset_uuid, secret_sealed FROM credential_secrets",
     "UPDATE credential_secrets SET secret_sealed = ?2 WHERE asset_uuid = ?1"},
    {SEALED_SECOND_FACTOR, "SELECT u.uuid, f.secret_sealed FROM second_factors f JOIN users u ON u.id = f.user_id",
     "UPDATE second_factors SET secret_sealed = ?2 WHERE user_id = (SELECT id FROM users WHERE uuid = ?1)"},
    {SEALED_NOTIFICATION_CHANNEL,
     "SELECT name, secrets_sealed FROM notification_channels WHERE secrets_sealed IS NOT NULL",
     "UPDATE notification_channels SET secrets_sealed = ?2 WHERE name = ?1"},
};

int db_list_sealed(struct db_conn *conn, struct arena *arena, struct sealed_text **out_texts, size_t *out_count,
                   struct error *err)
{
    struct sealed_text *texts = NULL;
    size_t count = 0, capacity = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++) {
        sqlite3_stmt *stmt = NULL;
        if (db_prepare(conn, COLUMNS[i].list, &stmt, err) < 0)
            return -1;
        while ((rc = db_step(conn, stmt, err)) > 0) {
            texts = arena_grow(arena, texts, &capacity, count + 1, sizeof(*texts));
            texts[count++] = (struct sealed_text){i, COLUMNS[i].purpose, db_column_text(stmt, 0, arena),
                                                  db_column_text(stmt, 1, arena)};
        }
        db_release(conn, stmt);
    }
    *out_texts = texts;
    *out_count = count;
    return rc;
}

int db_set_sealed_in(struct db_conn *conn, const struct sealed_text *text, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, COLUMNS[text->column].set, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, text->id);
    db_bind_text(stmt, 2, text->text);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}
