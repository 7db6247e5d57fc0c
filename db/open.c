#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/checker.h"
#include "db/copy.h"
#include "db/db.h"
#include "db/migrations.h"
#include "db/space.h"
#include "db/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RESERVED_READERS = 2,
    READERS_MAXIMUM = 64,
    READS_FAIL_US = 10000000,
    REBUILT_MAXIMUM = 256 << 20 // bytes: some seconds
};

struct reader_pool {
    pthread_mutex_t lock; // of the free list
    pthread_cond_t given_back;
    struct db_conn *readers;
    int count;
    struct db_conn *free;
};

struct db {
    char *path;
    struct writer writer;
    struct checker checker;
    struct db_health health;
    bool readonly;
    int64_t read_limit_ms;
    pthread_key_t companion;                // of each thread
    struct reader_pool pools[DB_USE_COUNT]; // none of DB_USE_WRITES
    _Atomic int64_t statements[DB_USE_COUNT];
};

const char *change_kind_text(enum change_kind kind)
{
    static const char *const TEXTS[CHANGE_KIND_COUNT] = {
        [CHANGE_CLUSTER] = "cluster",
        [CHANGE_NODE_POOL] = "nodepool",
        [CHANGE_NODE] = "node",
        [CHANGE_DEPARTMENT] = "department",
        [CHANGE_PROJECT] = "project",
        [CHANGE_WORKLOAD] = "workload",
        [CHANGE_POD] = "pod",
        [CHANGE_EVENT] = "event",
        [CHANGE_QUEUE_FIGURES] = "queue",
        [CHANGE_ASSET] = "asset",
        [CHANGE_POLICY] = "policy",
        [CHANGE_ACCESS] = "access",
        [CHANGE_SETTING] = "setting",
        [CHANGE_SIMULATION] = "simulation",
    };
    return TEXTS[kind];
}

const char *db_use_text(enum db_use use)
{
    static const char *const TEXTS[DB_USE_COUNT] = {
        [DB_USE_WRITES] = "writes",         [DB_USE_REQUESTS] = "requests",           [DB_USE_SIGN_IN] = "sign-in",
        [DB_USE_RECONCILER] = "reconciler", [DB_USE_NOTIFICATIONS] = "notifications",
    };
    return TEXTS[use];
}

// Foreign keys are off while a migration runs, so that it may make a table again; here they are looked at.
static int check_references(struct db_conn *conn, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare_once(conn, "PRAGMA foreign_key_check", &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        rc = error_set(err, ERROR_INTERNAL, "a row of %s would refer to nothing",
                       (const char *)sqlite3_column_text(stmt, 0));
    db_release(conn, stmt);
    return rc;
}

static void note_step(struct db_opening *opening, enum db_step step, int migration)
{
    atomic_store(&opening->migration, migration);
    atomic_store(&opening->newest, MIGRATIONS[MIGRATION_COUNT - 1].number);
    atomic_store(&opening->step, (int)step);
    atomic_fetch_add(&opening->progress, 1);
}

static int keep_copy(struct db_conn *conn, int number, struct db_opening *opening, struct error *err)
{
    note_step(opening, DB_STEP_COPYING, number);
    return db_copy_before_migration(sqlite3_db_filename(conn->handle, "main"), number, opening, err);
}

static int apply_migration(struct db_conn *conn, const struct migration *migration, struct error *err)
{
    char version[64];
    snprintf(version, sizeof(version), "PRAGMA user_version = %d", migration->number);
    if (connection_exec(conn, migration->sql, err) < 0 || connection_exec(conn, version, err) < 0 ||
        connection_exec(conn, "INSERT OR IGNORE INTO meta(key, value) VALUES ('revision', '0')", err) < 0)
        return error_prefix(err, "migration %d %s: ", migration->number, migration->name);
    return 0;
}

static int apply_above(struct db_conn *conn, int64_t version, struct db_opening *opening, struct error *err)
{
    for (size_t i = 0; i < MIGRATION_COUNT; i++) {
        if (MIGRATIONS[i].number <= version)
            continue;
        if (atomic_load(&opening->is_cancelled))
            return error_set(err, ERROR_UNAVAILABLE, "ended before migration %d", MIGRATIONS[i].number);
        if (version > 0) // a new file is no migration to anybody
            note_step(opening, DB_STEP_MIGRATING, MIGRATIONS[i].number);
        if (apply_migration(conn, &MIGRATIONS[i], err) < 0)
            return -1;
    }
    return check_references(conn, err);
}

// Until somebody signs in, nothing that an unfinished first start wrote is anybody's. An earlier release does not know
// the mark, and may have gone on with such a folder.
static int check_unfinished(struct db_conn *conn, bool *out_is_unfinished, struct error *err)
{
    static const char SQL[] =
        "SELECT EXISTS (SELECT 1 FROM meta WHERE key = '" DB_FIRST_START_META "' AND value = '" DB_FIRST_START_BEGUN
        "') AND NOT EXISTS (SELECT 1 FROM users WHERE last_login_ms > 0) "
        "AND NOT EXISTS (SELECT 1 FROM service_accounts) AND NOT EXISTS (SELECT 1 FROM workloads)";
    int64_t is_unfinished = 0;
    int rc = db_read_number(conn, SQL, &is_unfinished, err);
    *out_is_unfinished = is_unfinished != 0;
    return rc;
}

// Indexes and triggers go with their tables; of SQLite's own tables only the rows do. The mark stays until that start
// is done.
static int begin_again(struct db_conn *conn, struct db_opening *opening, struct error *err)
{
    static const char SQL_NEXT[] = "SELECT 'DROP ' || type || ' \"' || name || '\"' FROM sqlite_schema WHERE type IN "
                                   "('table', 'view') AND name NOT GLOB 'sqlite_*' LIMIT 1";
    for (int rc = 1; rc > 0;) {
        sqlite3_stmt *stmt;
        if (db_prepare_once(conn, SQL_NEXT, &stmt, err) < 0)
            return -1;
        rc = db_step(conn, stmt, err);
        char *drop = rc > 0 ? memory_strdup((const char *)sqlite3_column_text(stmt, 0)) : NULL;
        db_release(conn, stmt);
        if (drop)
            rc = connection_exec(conn, drop, err) < 0 ? -1 : 1;
        free(drop);
        if (rc < 0)
            return -1;
    }
    if (apply_above(conn, 0, opening, err) < 0)
        return -1;
    return connection_exec(
        conn, "INSERT INTO meta(key, value) VALUES ('" DB_FIRST_START_META "', '" DB_FIRST_START_BEGUN "')", err);
}

// All of them or none: the copy that was made before the first is always what the release before had.
static int apply_all(struct db_conn *conn, int64_t version, bool is_unfinished, struct db_opening *opening,
                     struct error *err)
{
    if (connection_exec(conn, "BEGIN EXCLUSIVE", err) < 0)
        return -1;
    int rc = is_unfinished ? begin_again(conn, opening, err) : apply_above(conn, version, opening, err);
    if (rc == 0 && connection_exec(conn, "COMMIT", err) == 0)
        return 0;
    if (!sqlite3_get_autocommit(conn->handle))
        sqlite3_exec(conn->handle, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

static int migrate(struct db_conn *conn, struct db_opening *opening, struct error *err)
{
    int64_t application = 0, version = 0;
    if (db_read_number(conn, "PRAGMA application_id", &application, err) < 0 ||
        db_read_number(conn, "PRAGMA user_version", &version, err) < 0)
        return -1;
    if (application != DB_APPLICATION_ID && (application != 0 || version != 0))
        return error_set(err, ERROR_INVALID, "not a prorata database");
    int64_t newest = MIGRATIONS[MIGRATION_COUNT - 1].number;
    if (version > newest)
        return error_set(err, ERROR_INVALID, "made by a newer release (schema %" PRId64 ", this one knows %" PRId64 ")",
                         version, newest);
    bool is_unfinished = false;
    if (version > 0 && check_unfinished(conn, &is_unfinished, err) < 0)
        return -1;
    if (version > 0 && version < newest && !is_unfinished && keep_copy(conn, (int)version + 1, opening, err) < 0)
        return -1;
    char mark[64];
    snprintf(mark, sizeof(mark), "PRAGMA application_id = %d", DB_APPLICATION_ID);
    if ((version == 0 && connection_exec(conn, mark, err) < 0) ||
        connection_exec(conn, "PRAGMA foreign_keys=OFF", err) < 0)
        return -1;
    if ((version < newest || is_unfinished) && apply_all(conn, version, is_unfinished, opening, err) < 0)
        return -1;
    return connection_exec(conn, "PRAGMA foreign_keys=ON", err);
}

// A stop leaves no write-ahead log behind.
static bool ended_uncleanly(const char *path)
{
    struct stat info;
    char *wal = memory_alloc(strlen(path) + sizeof("-wal"));
    stpcpy(stpcpy(wal, path), "-wal");
    bool has_log = stat(wal, &info) == 0 && info.st_size > 0;
    free(wal);
    return has_log;
}

// A file of an older release is made one that can be shortened: at a start, while nobody waits for an answer. One that
// is large, or has no room for it, stays as it is: `prorata verify --compact` is for those.
static int rebuild_once(struct db_conn *conn, struct db_opening *opening, struct error *err)
{
    struct db_space space;
    struct error cause = {0};
    if (db_read_space(conn, &space, err) < 0)
        return -1;
    if (space.shrinks || space.used_bytes > REBUILT_MAXIMUM)
        return 0;
    note_step(opening, DB_STEP_REBUILDING, 0);
    if (db_rebuild(conn, &cause) == 0 || (cause.code == ERROR_UNAVAILABLE && !atomic_load(&opening->is_cancelled)))
        return 0;
    *err = cause;
    return -1;
}

static int migrate_watched(struct db_conn *conn, struct db_opening *opening, struct error *err)
{
    struct db_opening nobody = {0};
    opening = opening ? opening : &nobody;
    connection_watch(conn, opening);
    int rc = migrate(conn, opening, err);
    if (rc == 0)
        rc = rebuild_once(conn, opening, err);
    connection_watch(conn, NULL);
    return rc;
}

// What the write-ahead log has counts: it is read by a connection that cannot throw it away.
static int check_tables(const char *path, struct error *err)
{
    struct db_conn conn;
    int64_t version = 0;
    if (connection_open(&conn, path, true, err) < 0)
        return -1;
    int rc = db_read_number(&conn, "PRAGMA user_version", &version, err);
    connection_close(&conn);
    if (rc < 0 || version > 0)
        return rc;
    error_set(err, ERROR_INVALID, "neither it nor its write-ahead log has tables: this is no new folder");
    return error_details(err, "Put both back, from a backup too, or name another folder");
}

static int open_writer(struct db *db, const struct db_options *options, struct error *err)
{
    struct db_opening *opening = options->opening;
    bool was_unclean = ended_uncleanly(db->path);
    if (options->has_been_used && was_unclean && check_tables(db->path, err) < 0)
        return -1;
    if (connection_open(&db->writer.conn, db->path, false, err) < 0)
        return -1;
    // The first counts for a file that is not there yet.
    if (connection_exec(&db->writer.conn,
                        "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                        "PRAGMA wal_autocheckpoint=4000;",
                        err) < 0 ||
        migrate_watched(&db->writer.conn, opening, err) < 0)
        return -1;
    db->writer.conn.health = &db->health;
    db->writer.conn.statements = &db->statements[DB_USE_WRITES];
    if (writer_start(&db->writer, err) < 0)
        return -1;
    return was_unclean ? checker_start(&db->checker, db->path, &db->health, err) : 0;
}

static int open_pool(struct db *db, enum db_use use, int count, struct error *err)
{
    struct reader_pool *pool = &db->pools[use];
    pool->readers = memory_array((size_t)count, sizeof(*pool->readers));
    for (pool->count = 0; pool->count < count;) {
        struct db_conn *conn = &pool->readers[pool->count++];
        if (connection_open(conn, db->path, true, err) < 0)
            return -1;
        conn->health = &db->health;
        conn->statements = &db->statements[use];
        conn->pool = pool;
        conn->next_free = pool->free;
        pool->free = conn;
    }
    return 0;
}

static int open_readers(struct db *db, int count, struct error *err)
{
    int wanted = count > 0 && count <= READERS_MAXIMUM ? count : DB_DEFAULT_READERS;
    return open_pool(db, DB_USE_REQUESTS, wanted, err) < 0 ||
                   open_pool(db, DB_USE_SIGN_IN, RESERVED_READERS, err) < 0 ||
                   open_pool(db, DB_USE_RECONCILER, RESERVED_READERS, err) < 0 ||
                   open_pool(db, DB_USE_NOTIFICATIONS, RESERVED_READERS, err) < 0
               ? -1
               : 0;
}

static void close_pool(struct reader_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        if (pool->readers[i].handle)
            connection_close(&pool->readers[i]);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->given_back);
    free(pool->readers);
}

int db_open(const struct db_options *options, struct db **out_db, struct error *err)
{
    struct db *db = memory_array(1, sizeof(*db));
    db->path = memory_strdup(options->path);
    db->readonly = options->readonly;
    db->read_limit_ms = options->read_limit_ms;
    if (pthread_key_create(&db->companion, NULL) != 0)
        abort(); // a process has 1,024 of them
    for (size_t i = 0; i < DB_USE_COUNT; i++) {
        pthread_mutex_init(&db->pools[i].lock, NULL);
        pthread_cond_init(&db->pools[i].given_back, NULL);
    }
    if ((!db->readonly && open_writer(db, options, err) < 0) || open_readers(db, options->reader_count, err) < 0) {
        error_prefix(err, "%s: ", options->path);
        db_close(db);
        return -1;
    }
    if (options->opening)
        atomic_store(&options->opening->step, DB_STEP_OPEN);
    *out_db = db;
    return 0;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    checker_stop(&db->checker);
    writer_stop(&db->writer);
    for (size_t i = 0; i < DB_USE_COUNT; i++)
        close_pool(&db->pools[i]);
    if (db->writer.conn.handle)
        connection_close(&db->writer.conn);
    presence_done(&db->writer.presence);
    pthread_key_delete(db->companion);
    free(db->path);
    free(db);
}

static int run_write(struct db *db, struct write_job job)
{
    if (db->readonly)
        return error_set(job.err, ERROR_INTERNAL, "opened for reading only");
    return writer_run(&db->writer, &job);
}

int db_write(struct db *db, db_write_fn fn, void *context, struct error *err)
{
    struct db_companion *companion = pthread_getspecific(db->companion);
    int rc = run_write(db, (struct write_job){.fn = fn, .context = context, .err = err, .companion = companion});
    if (rc >= 0 && companion)
        companion->committed++;
    return rc;
}

int db_write_long(struct db *db, db_write_fn fn, void *context, struct error *err)
{
    return run_write(db, (struct write_job){.fn = fn, .context = context, .err = err, .is_long = true});
}

int db_write_alone(struct db *db, db_write_fn fn, void *context, struct error *err)
{
    return run_write(db, (struct write_job){.fn = fn, .context = context, .err = err});
}

void db_accompany(struct db *db, struct db_companion *companion)
{
    if (pthread_setspecific(db->companion, companion) != 0)
        abort(); // no memory
}

int64_t db_last_revision(struct db *db)
{
    return atomic_load(&db->writer.last_revision);
}

void db_add_listener(struct db *db, db_listener_fn fn, void *context)
{
    struct writer *writer = &db->writer;
    pthread_mutex_lock(&writer->lock);
    if (writer->listener_count < LISTENERS)
        writer->listeners[writer->listener_count++] = (struct listener){fn, context};
    pthread_mutex_unlock(&writer->lock);
}

static struct db_conn *acquire(struct reader_pool *pool, int64_t limit_ms)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->free)
        pthread_cond_wait(&pool->given_back, &pool->lock);
    struct db_conn *conn = pool->free;
    pool->free = conn->next_free;
    pthread_mutex_unlock(&pool->lock);
    connection_limit(conn, limit_ms);
    return conn;
}

struct db_conn *db_acquire(struct db *db)
{
    return acquire(&db->pools[DB_USE_REQUESTS], db->read_limit_ms);
}

struct db_conn *db_acquire_for_sign_in(struct db *db)
{
    return acquire(&db->pools[DB_USE_SIGN_IN], db->read_limit_ms);
}

struct db_conn *db_acquire_for_reconciler(struct db *db)
{
    return acquire(&db->pools[DB_USE_RECONCILER], 0);
}

struct db_conn *db_acquire_for_notifications(struct db *db)
{
    return acquire(&db->pools[DB_USE_NOTIFICATIONS], db->read_limit_ms);
}

void db_give_back(struct db *db, struct db_conn *conn)
{
    if (!conn)
        return;
    (void)db;
    db_read_end(conn);
    struct reader_pool *pool = conn->pool;
    pthread_mutex_lock(&pool->lock);
    conn->next_free = pool->free;
    pool->free = conn;
    pthread_cond_signal(&pool->given_back);
    pthread_mutex_unlock(&pool->lock);
}

void db_get_stats(struct db *db, struct db_stats *out_stats)
{
    struct writer *writer = &db->writer;
    int64_t failed_us = atomic_load(&db->health.read_failed_us);
    *out_stats = (struct db_stats){
        .commits = atomic_load(&writer->commits),
        .changes = atomic_load(&writer->changes),
        .failed_commits = atomic_load(&writer->failed_commits),
        .began_us = atomic_load(&writer->began_us),
        .writable = atomic_load(&writer->writable),
        .is_full = atomic_load(&writer->is_full),
        .reads_fail = failed_us > 0 && timestamp_monotonic_us() - failed_us < READS_FAIL_US,
        .is_damaged = atomic_load(&db->health.is_damaged),
        .is_lost = presence_find_lost(&writer->presence) != NULL,
    };
    for (size_t i = 0; i < DB_USE_COUNT; i++)
        out_stats->statements[i] = atomic_load_explicit(&db->statements[i], memory_order_relaxed);
}
