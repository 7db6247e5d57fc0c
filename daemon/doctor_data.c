// The data folder, its disk and database, and the ports: looked at, never changed.
#include "api/access/sign_in_crowd.h"
#include "api/http/listen.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "daemon/data_folder.h"
#include "daemon/doctor.h"
#include "db/db.h"
#include "db/migrations.h"
#include "db/settings.h"
#include "db/space.h"
#include "reconciler/retention.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    DISK_NEEDED_MIB = 256,
    DISK_GOOD_MIB = 4096,
    INODES_NEEDED = 10000
};

// The process that holds the folder's lock; 0: none.
static long find_holder(const char *folder, struct arena *arena)
{
    char text[32] = "";
    long holder = 0;
    int fd = open(arena_printf(arena, "%s/lock", folder), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK && read(fd, text, sizeof(text) - 1) > 0)
        (void)sscanf(text, "%ld", &holder);
    close(fd);
    return holder;
}

static void look_at_disk(const char *folder, struct findings *findings)
{
    struct statvfs disk;
    struct arena *arena = findings->arena;
    char *place = arena_strdup(arena, folder);
    while (statvfs(place, &disk) < 0) { // the folder may not be there yet: what will hold it is
        char *slash = strrchr(place, '/');
        if (!slash || slash == place) {
            place = arena_strdup(arena, slash ? "/" : ".");
            if (statvfs(place, &disk) < 0)
                return;
            break;
        }
        *slash = '\0';
    }
    uint64_t free_mib = (uint64_t)disk.f_bavail * disk.f_frsize >> 20;
    bool has_inodes = disk.f_files == 0 || disk.f_favail >= INODES_NEEDED;
    enum finding_level level = free_mib < DISK_NEEDED_MIB || !has_inodes ? FINDING_PROBLEM
                               : free_mib < DISK_GOOD_MIB                ? FINDING_NOTE
                                                                         : FINDING_GOOD;
    const char *says = arena_printf(arena, "%s: %" PRIu64 " MiB and %" PRIu64 " files are free", place, free_mib,
                                    (uint64_t)disk.f_favail);
    findings_add(findings, level, "disk", says,
                 level == FINDING_GOOD
                     ? NULL
                     : "logs of pods take up to a tenth of it (--local-log-total), the journal 1 GiB: make room");
}

// How large the database is, and whether that has made it shorter than its days.
static int look_at_size(struct db_conn *conn, const struct settings *settings, struct findings *findings,
                        struct error *err)
{
    struct arena *arena = findings->arena;
    struct db_space space;
    const char *removed, *way = NULL;
    if (db_read_space(conn, &space, err) < 0 || db_find_meta(conn, RETENTION_SIZE_META, arena, &removed, err) < 0)
        return -1;
    bool is_over = settings->database_bytes > 0 && space.used_bytes > settings->database_bytes;
    const char *says = arena_printf(
        arena, "takes %" PRId64 " MiB of %s, %" PRId64 " MiB of its file are free", space.used_bytes >> 20,
        settings->database_bytes > 0 ? arena_printf(arena, "%" PRId64 " MiB", settings->database_bytes >> 20)
                                     : "any amount",
        space.free_bytes >> 20);
    if (removed) {
        char when[TIMESTAMP_SIZE];
        timestamp_format(strtoll(removed, NULL, 10), when);
        says = arena_printf(arena, "%s; size, not age, removed the oldest of what is kept, last on %s", says, when);
        way = "raise --database-bytes to keep it for its days";
    }
    if (!space.shrinks && space.free_bytes > 0)
        way = "give the free part back: stop the server, then prorata verify --compact --data DIR";
    findings_add(findings, is_over || way ? FINDING_NOTE : FINDING_GOOD, "database", says,
                 way       ? way
                 : is_over ? "the server removes the oldest of it, or raise --database-bytes"
                           : NULL);
    return 0;
}

static int look_at_sign_ins(struct db_conn *conn, const struct settings *settings, struct findings *findings,
                            struct error *err)
{
    const char *kept, *advice;
    if (db_find_meta(conn, SIGN_IN_CROWD_META, findings->arena, &kept, err) < 0)
        return -1;
    const char *says = sign_in_crowd_sentence(kept, timestamp_now_ms(), findings->arena, &advice);
    if (says && settings->trusted_proxies_count == 0)
        findings_add(findings, FINDING_NOTE, "sign-in", says, advice);
    return 0;
}

static int read_health(struct db_conn *conn, const struct settings *settings, struct findings *findings,
                       struct error *err)
{
    struct arena *arena = findings->arena;
    int64_t version = 0, newest = MIGRATIONS[MIGRATION_COUNT - 1].number;
    const char *backend;
    sqlite3_stmt *stmt;
    if (db_read_number(conn, "PRAGMA user_version", &version, err) < 0 ||
        db_prepare_once(conn, "PRAGMA quick_check(1)", &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    const char *result = rc > 0 ? db_column_text(stmt, 0, arena) : "no answer";
    db_release(conn, stmt);
    if (rc < 0 || db_find_meta(conn, "backend", arena, &backend, err) < 0)
        return -1;
    if (strcmp(result, "ok") != 0)
        findings_add(findings, FINDING_PROBLEM, "database", arena_printf(arena, "damaged: %s", result),
                     "restore a backup: docs/operating.md");
    if (version > newest)
        findings_add(findings, FINDING_PROBLEM, "database",
                     arena_printf(arena, "its schema is %" PRId64 ", this release knows %" PRId64, version, newest),
                     "use the release that wrote it, or a newer one");
    else
        findings_add(findings, FINDING_GOOD, "database",
                     arena_printf(arena, "schema %" PRId64 "%s, %s", version,
                                  version < newest ? ", brought up to date at the next start" : "",
                                  strcmp(result, "ok") == 0 ? "whole" : "damaged"),
                     NULL);
    if (backend && strcmp(backend, settings->backend) != 0)
        findings_add(
            findings, FINDING_PROBLEM, "backend",
            arena_printf(arena, "the data folder belongs to the backend %s, not to %s", backend, settings->backend),
            arena_printf(arena, "serve it with --backend %s, or take another folder", backend));
    else
        findings_add(findings, FINDING_GOOD, "backend", settings->backend, NULL);
    return look_at_sign_ins(conn, settings, findings, err) < 0 ? -1 : look_at_size(conn, settings, findings, err);
}

static void look_at_database(const struct settings *settings, struct findings *findings)
{
    struct db *db;
    struct error err = {0};
    const char *path = arena_printf(findings->arena, "%s/prorata.db", settings->data);
    if (data_folder_check_database(settings->data, findings->arena, &err) < 0) {
        findings_add(findings, FINDING_PROBLEM, "database", arena_strdup(findings->arena, err.message),
                     arena_strdup(findings->arena, err.details));
        return;
    }
    if (access(path, F_OK) < 0) {
        findings_add(findings, FINDING_GOOD, "database", "none yet: the first start makes it", NULL);
        return;
    }
    int rc = db_open(&(struct db_options){.path = path, .readonly = true, .reader_count = 1}, &db, &err);
    if (rc == 0) {
        struct db_conn *conn = db_acquire(db);
        rc = read_health(conn, settings, findings, &err);
        db_give_back(db, conn);
        db_close(db);
    }
    if (rc < 0)
        findings_add(findings, FINDING_PROBLEM, "database", arena_strdup(findings->arena, err.message),
                     "restore a backup: docs/operating.md");
}

static void look_at_folder(const struct settings *settings, struct findings *findings, long *out_holder)
{
    struct arena *arena = findings->arena;
    struct stat about;
    if (stat(settings->data, &about) < 0) {
        findings_add(findings, errno == ENOENT ? FINDING_GOOD : FINDING_PROBLEM, "data",
                     errno == ENOENT
                         ? arena_printf(arena, "%s: not there yet: the first start makes it", settings->data)
                         : arena_printf(arena, "%s: %s", settings->data, strerror(errno)),
                     NULL);
        return;
    }
    if (!S_ISDIR(about.st_mode) || access(settings->data, R_OK | W_OK | X_OK) < 0) {
        findings_add(findings, FINDING_PROBLEM, "data",
                     arena_printf(arena, "%s: %s", settings->data,
                                  S_ISDIR(about.st_mode) ? "this user cannot write to it" : "not a folder"),
                     "run the server as its owner, or take another folder");
        return;
    }
    *out_holder = find_holder(settings->data, arena);
    findings_add(findings, about.st_mode & 0077 ? FINDING_NOTE : FINDING_GOOD, "data",
                 *out_holder ? arena_printf(arena, "%s: a server holds it, process %ld", settings->data, *out_holder)
                             : arena_printf(arena, "%s: no server holds it", settings->data),
                 about.st_mode & 0077 ? "others can enter it: the next start sets its mode to 0700" : NULL);
    // What SQLite writes beside the file while it reads must stay the owner's.
    bool steps_down = geteuid() == 0 && about.st_uid != 0 && seteuid(about.st_uid) == 0;
    look_at_database(settings, findings);
    if (steps_down && seteuid(0) < 0)
        findings_add(findings, FINDING_NOTE, "data", "the rights of root did not come back", NULL);
}

static void look_at_port(const char *text, long holder, struct findings *findings)
{
    struct listen_address address;
    struct error err = {0};
    if (listen_parse(text, &address, &err) == 0 && listen_try(text, &address, &err) == 0)
        findings_add(findings, FINDING_GOOD, "port", arena_printf(findings->arena, "%s is free", text), NULL);
    else
        findings_add(findings, holder ? FINDING_NOTE : FINDING_PROBLEM, "port",
                     arena_strdup(findings->arena, err.message),
                     holder ? "the server that holds the data folder may be the one that listens there"
                            : "end what listens there (ss -ltnp), or take another: --listen ADDR:PORT");
}

void doctor_look_at_data(const struct settings *settings, struct findings *findings)
{
    long holder = 0;
    if (settings->data) {
        look_at_disk(settings->data, findings);
        look_at_folder(settings, findings, &holder);
    } else {
        findings_add(findings, FINDING_NOTE, "data", "no data folder is named: not looked at", "add --data DIR");
    }
    for (size_t i = 0; i < settings->listen_count; i++)
        look_at_port(settings->listen[i], holder, findings);
}
