#include "db/space.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/connection.h"
#include "db/copy.h"

#include <stdio.h>
#include <string.h>

int db_read_space(struct db_conn *conn, struct db_space *out_space, struct error *err)
{
    int64_t pages, spare, size, mode;
    if (db_read_number(conn, "PRAGMA page_count", &pages, err) < 0 ||
        db_read_number(conn, "PRAGMA freelist_count", &spare, err) < 0 ||
        db_read_number(conn, "PRAGMA page_size", &size, err) < 0 ||
        db_read_number(conn, "PRAGMA auto_vacuum", &mode, err) < 0)
        return -1;
    *out_space =
        (struct db_space){.used_bytes = (pages - spare) * size, .free_bytes = spare * size, .shrinks = mode == 2};
    return 0;
}

int db_give_back_pages(struct db_conn *conn, int pages, struct error *err)
{
    char sql[64];
    sqlite3_stmt *stmt;
    int rc;
    snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", pages);
    if (db_prepare_once(conn, sql, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) == 1) // a row for each page
        ;
    db_release(conn, stmt);
    return rc;
}

// What SQLite writes on the way lies beside the file, where the room was looked at, and not in memory.
static int rebuild_in(struct db_conn *conn, const char *folder, struct error *err)
{
    sqlite3_temp_directory = sqlite3_mprintf("%s", folder);
    int rc = connection_exec(conn, "PRAGMA temp_store=FILE; PRAGMA auto_vacuum=INCREMENTAL; VACUUM;", err);
    connection_exec(conn, "PRAGMA temp_store=MEMORY", NULL);
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = NULL;
    return rc < 0 ? -1 : connection_exec(conn, "PRAGMA wal_checkpoint(TRUNCATE)", err);
}

int db_rebuild(struct db_conn *conn, struct error *err)
{
    struct arena arena;
    struct db_space space;
    arena_init(&arena);
    const char *path = sqlite3_db_filename(conn->handle, "main"), *slash = strrchr(path, '/');
    const char *folder = slash ? arena_strndup(&arena, path, (size_t)(slash - path + 1)) : ".";
    int rc = db_read_space(conn, &space, err);
    if (rc == 0)
        rc = db_check_room(folder, 2 * space.used_bytes, err);
    if (rc == 0)
        rc = rebuild_in(conn, folder, err);
    arena_done(&arena);
    return rc;
}

static int measure(struct db_conn *conn, int64_t *out_bytes, struct error *err)
{
    struct db_space space;
    if (db_read_space(conn, &space, err) < 0)
        return -1;
    *out_bytes = space.used_bytes + space.free_bytes;
    return 0;
}

int db_compact(const char *path, int64_t *out_before, int64_t *out_after, struct error *err)
{
    struct db_conn conn;
    if (connection_open(&conn, path, false, err) < 0)
        return -1;
    int rc = measure(&conn, out_before, err) < 0 || db_rebuild(&conn, err) < 0 || measure(&conn, out_after, err) < 0
                 ? error_prefix(err, "%s: ", path)
                 : 0;
    connection_close(&conn);
    return rc;
}
