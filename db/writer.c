#include "db/writer.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    QUIET_S = 2, // without a write
    LOG_KEPT_BYTES = 1 << 20
};

static const char SQL_SAVE_REVISION[] = "UPDATE meta SET value = ?1 WHERE key = 'revision'";

int64_t db_revision(struct db_conn *conn)
{
    assert(conn->next_revision);
    if (conn->present_revision == 0)
        conn->present_revision = (*conn->next_revision)++;
    return conn->present_revision;
}

void db_touch(struct db_conn *conn, enum change_kind kind, const char *id)
{
    if (conn->change_count == conn->change_capacity) {
        conn->change_capacity = conn->change_capacity ? conn->change_capacity * 2 : 64;
        conn->changes = memory_realloc(conn->changes, conn->change_capacity * sizeof(*conn->changes));
    }
    struct db_change *change = &conn->changes[conn->change_count++];
    *change = (struct db_change){.revision = db_revision(conn), .kind = kind};
    snprintf(change->id, sizeof(change->id), "%s", id);
}

void db_touch_number(struct db_conn *conn, enum change_kind kind, int64_t id)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, id);
    db_touch(conn, kind, text);
}

void db_touch_gone(struct db_conn *conn, enum change_kind kind, int64_t id, const struct scope_path *gone_from)
{
    db_touch_number(conn, kind, id);
    conn->changes[conn->change_count - 1].gone_from = *gone_from;
}

// The outcome of a write is unknown, or the file is damaged: only a restart can tell. Whoever waits for an answer gets
// none, which is the truth.
static _Noreturn void give_up(struct writer *writer, const char *what)
{
    log_write(LOG_ERROR, "db", "%s failed, stopping to recover at the next start code=%d message=\"%s\"", what,
              sqlite3_extended_errcode(writer->conn.handle), sqlite3_errmsg(writer->conn.handle));
    log_stop(1000);
    _exit(70);
}

// True when the transaction still stands. A full disk may have rolled it back already.
static bool transaction_stands(struct writer *writer)
{
    return !sqlite3_get_autocommit(writer->conn.handle);
}

static int exec(struct writer *writer, const char *sql)
{
    return sqlite3_exec(writer->conn.handle, sql, NULL, NULL, NULL);
}

static int save_revision(struct writer *writer)
{
    char text[24];
    sqlite3_stmt *stmt;
    snprintf(text, sizeof(text), "%" PRId64, writer->next_revision - 1);
    if (db_prepare(&writer->conn, SQL_SAVE_REVISION, &stmt, NULL) < 0)
        return -1;
    db_bind_text(stmt, 1, text);
    int rc = db_run(&writer->conn, stmt, NULL);
    db_release(&writer->conn, stmt);
    return rc;
}

static int accompany(struct db_conn *conn, const struct db_companion *companion, size_t mark, struct error *err)
{
    size_t count = conn->change_count - mark;
    return companion->fn(conn, count > 0 ? conn->changes + mark : NULL, count, companion->context, err);
}

// Begins what undo_job() can take back. The only job of a transaction is taken back with it and has no savepoint:
// SQLite would keep each page that it changes, and go through all of those after each of its statements.
static bool begin_job(struct writer *writer, bool is_only)
{
    return is_only || exec(writer, "SAVEPOINT job") == SQLITE_OK;
}

static bool undo_job(struct writer *writer, bool is_only)
{
    if (is_only)
        return exec(writer, "ROLLBACK; BEGIN IMMEDIATE") == SQLITE_OK;
    return exec(writer, "ROLLBACK TO job; RELEASE job") == SQLITE_OK;
}

static bool keep_job(struct writer *writer, bool is_only)
{
    return is_only || exec(writer, "RELEASE job") == SQLITE_OK;
}

// Runs one function; what one that failed has written is undone. False when the whole transaction is gone.
static bool run_job(struct writer *writer, struct write_job *job, bool is_only)
{
    struct db_conn *conn = &writer->conn;
    size_t mark = conn->change_count;
    conn->present_revision = 0;
    if (!begin_job(writer, is_only))
        return false;
    struct error err = {0};
    job->rc = job->fn(conn, job->context, &err);
    if (job->rc >= 0 && job->companion && accompany(conn, job->companion, mark, &err) < 0)
        job->rc = -1;
    if (!transaction_stands(writer)) { // a full disk rolls everything back in the middle of a function
        writer->refused = err.code == ERROR_UNAVAILABLE;
        return false;
    }
    if (job->rc >= 0)
        return keep_job(writer, is_only);
    conn->change_count = mark;
    if (job->err)
        *job->err = err;
    return undo_job(writer, is_only);
}

static void refuse_group(struct writer *writer, struct write_job *group)
{
    bool is_full = writer->conn.is_full;
    for (struct write_job *job = group; job; job = job->next)
        job->rc = error_set(job->err, ERROR_UNAVAILABLE, "%s", connection_refusal(is_full));
    writer->conn.change_count = 0;
    if (transaction_stands(writer) && exec(writer, "ROLLBACK") != SQLITE_OK)
        give_up(writer, "rollback");
    atomic_fetch_add(&writer->failed_commits, 1);
    atomic_store(&writer->is_full, is_full);
    if (atomic_exchange(&writer->writable, false))
        log_write(LOG_ERROR, "db", "%s: until it takes them again writes are answered 503",
                  connection_refusal(is_full));
}

// What was written into files that nobody will find is no answer.
static void check_presence(struct writer *writer)
{
    const char *lost = presence_find_lost(&writer->presence);
    if (!lost)
        return;
    atomic_store(&writer->began_us, 0); // a copy may take minutes
    presence_end(&writer->presence, lost, &writer->conn);
}

// One transaction for the group.
static void run_transaction(struct writer *writer, struct write_job *group)
{
    int64_t before = writer->next_revision;
    writer->refused = false;
    bool stands = exec(writer, "BEGIN IMMEDIATE") == SQLITE_OK;
    for (struct write_job *job = group; job && stands; job = job->next)
        stands = run_job(writer, job, job == group && !job->next);
    if (stands && writer->next_revision != before)
        stands = save_revision(writer) == 0;
    if (stands && exec(writer, "COMMIT") == SQLITE_OK) {
        check_presence(writer);
        atomic_store(&writer->last_revision, writer->next_revision - 1);
        atomic_fetch_add(&writer->commits, 1);
        writer->has_written = true;
        if (!atomic_exchange(&writer->writable, true))
            log_write(LOG_INFO, "db", "the disk takes writes again");
        return;
    }
    int code = sqlite3_extended_errcode(writer->conn.handle);
    if (!writer->refused && !connection_code_is_refusal(code))
        give_up(writer, "a transaction");
    if (!writer->refused)
        connection_error(&writer->conn, code, NULL); // notes why
    writer->next_revision = before;
    refuse_group(writer, group);
}

static void run_group(struct writer *writer, struct write_job *group)
{
    atomic_store(&writer->began_us, timestamp_monotonic_us());
    run_transaction(writer, group);
    atomic_store(&writer->began_us, 0);
}

static void tell_listeners(struct writer *writer)
{
    struct db_conn *conn = &writer->conn;
    for (size_t i = 0; i < writer->listener_count && conn->change_count > 0; i++)
        writer->listeners[i].fn(conn->changes, conn->change_count, writer->listeners[i].context);
    conn->change_count = 0;
}

static struct write_job *take_group(struct writer *writer)
{
    struct write_job *group = writer->first, *last = group;
    for (int count = 1; count < WRITER_GROUP && last->next && !group->is_long && !last->next->is_long; count++)
        last = last->next;
    writer->first = last->next;
    if (!writer->first)
        writer->last = NULL;
    last->next = NULL;
    return group;
}

// While the disk refuses, one small write each second finds out when it no longer does.
static int no_change(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    (void)err;
    db_revision(conn);
    return 0;
}

static void probe(struct writer *writer)
{
    struct write_job job = {.fn = no_change};
    run_group(writer, &job);
}

// The write-ahead log keeps the length it once had; when nobody writes, what is in it goes into the file. Readers that
// hold it are not waited for: the next quiet moment comes.
static void shorten_log(struct writer *writer)
{
    sqlite3 *handle = writer->conn.handle;
    struct stat about;
    writer->has_written = false;
    if (stat(sqlite3_filename_wal(sqlite3_db_filename(handle, "main")), &about) < 0 || about.st_size < LOG_KEPT_BYTES)
        return;
    sqlite3_busy_timeout(handle, 0);
    int rc = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(handle, CONNECTION_BUSY_MS);
    int code = sqlite3_extended_errcode(handle);
    if (rc != SQLITE_OK && rc != SQLITE_BUSY && rc != SQLITE_LOCKED && !connection_code_is_refusal(code))
        give_up(writer, "a checkpoint");
}

static bool wait_for_work(struct writer *writer)
{
    while (!writer->first && !writer->stopping) {
        bool is_writable = atomic_load(&writer->writable);
        if (is_writable && !writer->has_written) {
            pthread_cond_wait(&writer->work, &writer->lock);
            continue;
        }
        struct timespec until = condition_after((int64_t)1000 * (is_writable ? QUIET_S : 1));
        if (pthread_cond_timedwait(&writer->work, &writer->lock, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&writer->lock);
            if (is_writable)
                shorten_log(writer);
            else
                probe(writer);
            pthread_mutex_lock(&writer->lock);
        }
    }
    return writer->first != NULL;
}

static void *writer_main(void *context)
{
    struct writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    while (wait_for_work(writer)) {
        struct write_job *group = take_group(writer);
        pthread_mutex_unlock(&writer->lock);
        run_group(writer, group);
        tell_listeners(writer);
        pthread_mutex_lock(&writer->lock);
        for (struct write_job *job = group, *next; job; job = next) {
            next = job->next; // the job is its caller's: gone once it sees done
            if (job->rc == 0)
                atomic_fetch_add(&writer->changes, 1);
            job->done = true;
            pthread_cond_signal(&job->finished);
        }
    }
    pthread_mutex_unlock(&writer->lock);
    check_presence(writer);
    return NULL;
}

int writer_start(struct writer *writer, struct error *err)
{
    pthread_mutex_init(&writer->lock, NULL);
    condition_init(&writer->work);
    writer->conn.next_revision = &writer->next_revision;
    int64_t last;
    if (db_read_number(&writer->conn, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'revision'", &last, err) < 0)
        return -1;
    if (presence_open(&writer->presence, &writer->conn, err) < 0)
        return -1;
    writer->next_revision = last + 1;
    atomic_store(&writer->last_revision, last);
    atomic_store(&writer->writable, true);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    int rc = pthread_create(&writer->thread, &attributes, writer_main, writer);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the writer thread: %s", strerror(rc));
    writer->started = true;
    return 0;
}

void writer_stop(struct writer *writer)
{
    if (!writer->started)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->work);
    writer->started = false;
}

int writer_run(struct writer *writer, struct write_job *job)
{
    pthread_cond_init(&job->finished, NULL);
    pthread_mutex_lock(&writer->lock);
    if (writer->stopping) {
        job->rc = error_set(job->err, ERROR_UNAVAILABLE, "the server is stopping");
    } else {
        if (writer->last)
            writer->last->next = job;
        else
            writer->first = job;
        writer->last = job;
        pthread_cond_signal(&writer->work);
        while (!job->done)
            pthread_cond_wait(&job->finished, &writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    pthread_cond_destroy(&job->finished);
    return job->rc;
}
