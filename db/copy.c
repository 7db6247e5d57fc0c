#include "db/copy.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"
#include "db/connection.h"
#include "db/migrations.h"
#include "db/schema.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    PROBLEMS_MAX = 100, // of each of the three checks
    ROOM_SPARE = 1 << 20
};

int db_check_room(const char *folder, int64_t bytes, struct error *err)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", folder, strerror(errno));
    int64_t free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize, needed = bytes + ROOM_SPARE;
    if (free_bytes >= needed)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "%s: the disk has %" PRId64 " MiB free and %" PRId64 " are needed: make room for %" PRId64
                     " MiB more",
                     folder, free_bytes >> 20, (needed >> 20) + 1, ((needed - free_bytes) >> 20) + 1);
}

int db_copy_bytes(const char *path, int64_t *out_bytes, struct error *err)
{
    struct db_conn conn;
    int64_t pages = 0, spare = 0, size = 0;
    if (access(path, F_OK) < 0 && errno == ENOENT) {
        *out_bytes = 0;
        return 0;
    }
    if (connection_open(&conn, path, true, err) < 0)
        return -1;
    int rc = db_read_number(&conn, "PRAGMA page_count", &pages, err) < 0 ||
                     db_read_number(&conn, "PRAGMA freelist_count", &spare, err) < 0 ||
                     db_read_number(&conn, "PRAGMA page_size", &size, err) < 0
                 ? -1
                 : 0;
    connection_close(&conn);
    if (rc == 0)
        *out_bytes = (pages - spare) * size;
    return rc;
}

static int run_copy(struct db_conn *conn, const char *target, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare_once(conn, "VACUUM INTO ?1", &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, target);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int copy_from(struct db_conn *conn, const char *target, struct error *err)
{
    int rc = -1;
    if (unlink(target) < 0 && errno != ENOENT)
        return error_set(err, ERROR_INVALID, "%s: %s", target, strerror(errno));
    int fd = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); // an empty file is filled, and keeps its mode
    if (fd < 0)
        return error_set(err, errno == ENOSPC ? ERROR_UNAVAILABLE : ERROR_INVALID, "%s: %s", target, strerror(errno));
    if (run_copy(conn, target, err) == 0)
        rc = fsync(fd) < 0 ? error_set(err, ERROR_UNAVAILABLE, "%s: %s", target, strerror(errno)) : 0;
    close(fd);
    if (rc < 0)
        unlink(target);
    return rc;
}

static int copy(const char *path, const char *target, struct db_opening *opening, struct error *err)
{
    struct db_conn conn;
    if (connection_open(&conn, path, true, err) < 0)
        return -1;
    connection_watch(&conn, opening);
    int rc = copy_from(&conn, target, err);
    connection_close(&conn);
    return rc;
}

int db_copy(const char *path, const char *target, struct error *err)
{
    return copy(path, target, NULL, err);
}

// A whole copy gets its name.
static int put_in_place(const char *part, const char *kept, const char *folder, struct error *err)
{
    return rename(part, kept) < 0 || folder_sync(folder) < 0
               ? error_set(err, ERROR_UNAVAILABLE, "%s: %s", kept, strerror(errno))
               : 0;
}

int db_rescue(struct db_conn *conn, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    const char *path = sqlite3_db_filename(conn->handle, "main");
    const char *folder = arena_strndup(&arena, path, (size_t)(strrchr(path, '/') - path + 1));
    const char *kept = arena_printf(&arena, "%s" DB_RESCUED_SUFFIX, path);
    const char *part = arena_printf(&arena, "%s-part", kept);
    int rc = copy_from(conn, part, err);
    if (rc == 0)
        rc = put_in_place(part, kept, folder, err);
    arena_done(&arena);
    return rc;
}

static void drop_older_copies(const char *folder_path, const char *prefix, const char *kept)
{
    DIR *folder = opendir(folder_path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && strcmp(entry->d_name, kept) != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

static int keep_copy(const char *path, const char *folder, const char *part, const char *kept,
                     struct db_opening *opening, struct error *err)
{
    int64_t bytes;
    if (unlink(part) < 0 && errno != ENOENT) // of a start that was killed: its room is needed
        return error_set(err, ERROR_INVALID, "%s: %s", part, strerror(errno));
    if (db_copy_bytes(path, &bytes, err) < 0 || db_check_room(folder, 2 * bytes, err) < 0 ||
        copy(path, part, opening, err) < 0)
        return -1;
    return put_in_place(part, kept, folder, err);
}

int db_copy_before_migration(const char *path, int number, struct db_opening *opening, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? arena_strndup(&arena, path, (size_t)(slash - path + 1)) : ".";
    const char *kept = arena_printf(&arena, "%s.before-%d", path, number);
    const char *prefix = arena_printf(&arena, "%s.before-", slash ? slash + 1 : path);
    int rc = keep_copy(path, folder, arena_printf(&arena, "%s.before-part", path), kept, opening, err);
    if (rc == 0)
        drop_older_copies(folder, prefix, kept + (slash ? slash - path + 1 : 0));
    else
        error_prefix(err, "the copy before migration %d: ", number);
    arena_done(&arena);
    return rc;
}

static void add_problem(struct db_check *check, struct arena *arena, const char *text)
{
    check->problems[check->problem_count++] = arena_strdup(arena, text);
}

static int check_pages(struct db_conn *conn, struct arena *arena, struct db_check *check, struct error *err)
{
    sqlite3_stmt *stmt;
    int rc;
    if (db_prepare_once(conn, "PRAGMA integrity_check(100)", &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0 && check->problem_count < PROBLEMS_MAX) {
        const char *text = db_column_text(stmt, 0, arena);
        if (text && strcmp(text, "ok") != 0)
            add_problem(check, arena, text);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int check_references(struct db_conn *conn, struct arena *arena, struct db_check *check, struct error *err)
{
    sqlite3_stmt *stmt;
    int rc;
    if (db_prepare_once(conn, "PRAGMA foreign_key_check", &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0 && check->problem_count < 2 * PROBLEMS_MAX) {
        const char *table = db_column_text(stmt, 0, arena), *parent = db_column_text(stmt, 2, arena);
        add_problem(check, arena,
                    arena_printf(arena, "row %" PRId64 " of %s refers to a row of %s that is not there",
                                 db_column_int(stmt, 1), table ? table : "?", parent ? parent : "?"));
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

// A file of a newer release is another's to judge.
static int check_schema(struct db_conn *conn, struct arena *arena, struct db_check *check, struct error *err)
{
    size_t count;
    if (check->schema > MIGRATIONS[MIGRATION_COUNT - 1].number)
        return 0;
    if (schema_compare(conn, check->schema, arena, check->problems + check->problem_count, PROBLEMS_MAX, &count, err) <
        0)
        return -1;
    check->problem_count += count;
    return 0;
}

int db_verify(const char *path, struct arena *arena, struct db_check *out_check, struct error *err)
{
    struct db_conn conn;
    struct error cause = {0};
    int64_t application = 0;
    struct db_check check = {.problems = arena_array(arena, 3 * PROBLEMS_MAX + 1, sizeof(*check.problems))};
    if (access(path, R_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (connection_open(&conn, path, true, err) < 0)
        return -1;
    int rc = db_read_number(&conn, "PRAGMA application_id", &application, err) < 0 ||
                     db_read_number(&conn, "PRAGMA user_version", &check.schema, err) < 0
                 ? error_prefix(err, "%s: ", path)
             : application != DB_APPLICATION_ID ? error_set(err, ERROR_INVALID, "%s: not a prorata database", path)
                                                : 0;
    // A file that cannot be read to its end is a file with a problem.
    if (rc == 0 &&
        (check_pages(&conn, arena, &check, &cause) < 0 || check_references(&conn, arena, &check, &cause) < 0 ||
         check_schema(&conn, arena, &check, &cause) < 0))
        add_problem(&check, arena, cause.message);
    connection_close(&conn);
    if (rc == 0)
        *out_check = check;
    return rc;
}
