// The database: one SQLite file, one writer thread, a pool of readers.
//
// Writes: db_write() hands a function to the writer thread and returns when its changes are on disk (WAL,
// synchronous=FULL). The writer runs what is queued, at most 64 functions, inside one transaction, each in a savepoint
// of its own, and commits once. A function that fails undoes only itself. Because all writes happen on one thread, a
// function may read, decide and write without fear of others.
//
// Revisions: each function that changes rows asks db_revision() for its number (one per function, growing by one) and
// writes it into the rows' `revision`; db_touch() says what changed. After the commit listeners get the list of changes
// (on the writer thread: they must only note them and wake somebody). Kinds are the words of CHANGE_KINDS.
//
// Statements are prepared once per connection (keyed by the address of the SQL text: pass constants) and given back
// with db_release. A reader is taken for one request and given back at its end; an open statement holds the WAL.
//
// A full disk: every function of the group gets ERROR_UNAVAILABLE, reads go on, and writes work again when there is
// room. Any other failure to write, fsync above all, ends the process: the outcome is unknown and a restart recovers.
// So does a file that was removed or replaced, after what only the process still has was kept (presence.h).
#pragma once
#include "model/scope.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct db;
struct db_conn;
typedef struct sqlite3_stmt sqlite3_stmt;

enum change_kind {
    CHANGE_CLUSTER,
    CHANGE_NODE_POOL,
    CHANGE_NODE,
    CHANGE_DEPARTMENT,
    CHANGE_PROJECT,
    CHANGE_WORKLOAD,
    CHANGE_POD,
    CHANGE_EVENT,
    CHANGE_QUEUE_FIGURES, // allocation and fair share; id is the owner's
    CHANGE_ASSET,
    CHANGE_POLICY,
    CHANGE_ACCESS,
    CHANGE_SETTING,
    CHANGE_SIMULATION,
    CHANGE_KIND_COUNT
};

// "workload", "pod", ...: static text, as the event stream shows it.
const char *change_kind_text(enum change_kind kind);

struct db_change {
    int64_t revision;
    enum change_kind kind;
    char id[40];                 // the API's id: a uuid or a decimal number
    struct scope_path gone_from; // of a project or department that is deleted: where it was; else all 0
};

enum {
    DB_DEFAULT_READERS = 8
};

enum db_step {
    DB_STEP_OPENING,
    DB_STEP_COPYING, // the file, before a migration changes it
    DB_STEP_MIGRATING,
    DB_STEP_REBUILDING, // the file of an older release, once
    DB_STEP_OPEN
};

// How far db_open has got, for other threads to look at; and how they end it.
struct db_opening {
    _Atomic int step;         // enum db_step
    _Atomic int migration;    // that runs, or that the copy is made before
    _Atomic int newest;       // the last that will run
    _Atomic int64_t progress; // grows while a copy or a migration gets on
    atomic_bool is_cancelled; // set by others: db_open soon fails, and what was not done is done by the next
};

struct db_options {
    const char *path;
    struct db_opening *opening; // NULL: nobody looks
    int reader_count;           // of requests; 0: DB_DEFAULT_READERS
    int64_t read_limit_ms;      // how long a request may read; 0: no limit
    bool readonly;              // no writer: for tools that look at a stopped server's data
    bool has_been_used;         // by a server: a file without tables has lost them, and is refused
};

// The row of `meta` that says whether the first start is done.
#define DB_FIRST_START_META "first_start"
#define DB_FIRST_START_BEGUN "begun"

// Opens or creates the file, applies migrations, starts the writer. A newer schema is refused. After an
// end that was no stop the whole file is checked in the background. Minutes where a migration changes a large file.
// All tables are made again where the first start was not done and nobody has ever signed in.
// Errors name the file. The caller owns *out_db.
int db_open(const struct db_options *options, struct db **out_db, struct error *err);
// Runs what is queued, commits, stops the writer, closes all. All readers must have been given back.
void db_close(struct db *db);

// Runs on the writer thread, inside a transaction. Returns 0, or -1 with err set: then its changes are undone.
typedef int (*db_write_fn)(struct db_conn *conn, void *context, struct error *err);
// Returns when fn's changes are durable, or with fn's error, or ERROR_UNAVAILABLE where the disk refused.
int db_write(struct db *db, db_write_fn fn, void *context, struct error *err);

// What each change that a thread makes carries with it: fn runs on the writer thread behind every write function that
// succeeded, in its savepoint, and is told what that one touched. Where fn fails the change is not made.
struct db_companion {
    int (*fn)(struct db_conn *conn, const struct db_change *changes, size_t count, void *context, struct error *err);
    void *context;
    int64_t committed; // result: changes with it that are on disk
};
// For what the calling thread writes from now on; NULL: nothing goes with it. The companion is the caller's.
void db_accompany(struct db *db, struct db_companion *companion);
// The same as db_write in a transaction of its own and without the companion: for what may change thousands of rows.
int db_write_long(struct db *db, db_write_fn fn, void *context, struct error *err);
// The same as db_write without the companion: for what is kept beside the change that was asked for.
int db_write_alone(struct db *db, db_write_fn fn, void *context, struct error *err);

// The number of the change that is being made; only inside a write function.
int64_t db_revision(struct db_conn *conn);
// Notes what changed under the present number; listeners get it after the commit. id is cut at 39 bytes.
void db_touch(struct db_conn *conn, enum change_kind kind, const char *id);
// The same of a project or department that goes: nobody finds its place afterwards.
void db_touch_gone(struct db_conn *conn, enum change_kind kind, int64_t id, const struct scope_path *gone_from);
void db_touch_number(struct db_conn *conn, enum change_kind kind, int64_t id);
// The highest number that is on disk. Any thread.
int64_t db_last_revision(struct db *db);

typedef void (*db_listener_fn)(const struct db_change *changes, size_t count, void *context);
// Registers before others use the database; at most 8.
void db_add_listener(struct db *db, db_listener_fn fn, void *context);

// A reading connection of the pool; waits for one. Who signs in or is looked up has connections of his own, so that he
// never waits for somebody's long list; so has the reconciler, which may read without limit, and so have notifications,
// which hold up nobody. What the others read
// ends by ERROR_UNAVAILABLE where read_limit_ms have passed since they got the connection. Between acquire and release
// all reads see one state if begun with db_read_begin (a read transaction); single statements need none.
struct db_conn *db_acquire(struct db *db);
struct db_conn *db_acquire_for_sign_in(struct db *db);
struct db_conn *db_acquire_for_reconciler(struct db *db);
struct db_conn *db_acquire_for_notifications(struct db *db);
void db_give_back(struct db *db, struct db_conn *conn);
int db_read_begin(struct db_conn *conn, struct error *err);
void db_read_end(struct db_conn *conn);

// Prepared statements. sql must be a constant whose address stays (the cache's key); for text built at run time use
// db_prepare_once, which db_release then finalizes.
int db_prepare(struct db_conn *conn, const char *sql, sqlite3_stmt **out_stmt, struct error *err);
int db_prepare_once(struct db_conn *conn, const char *sql, sqlite3_stmt **out_stmt, struct error *err);
void db_release(struct db_conn *conn, sqlite3_stmt *stmt); // NULL is fine

// Binding; index from 1. They cannot fail but by our own mistake (asserted). Text is copied.
void db_bind_text(sqlite3_stmt *stmt, int index, const char *text); // NULL binds NULL
void db_bind_int(sqlite3_stmt *stmt, int index, int64_t value);
void db_bind_real(sqlite3_stmt *stmt, int index, double value);
void db_bind_blob(sqlite3_stmt *stmt, int index, const void *data, size_t length);
void db_bind_null(sqlite3_stmt *stmt, int index);
// The same by the parameter's name, ":priority", for statements with many of them.
void db_set_text(sqlite3_stmt *stmt, const char *parameter, const char *text);
void db_set_blob(sqlite3_stmt *stmt, const char *parameter, const void *data, size_t length); // NULL: null
void db_set_int(sqlite3_stmt *stmt, const char *parameter, int64_t value);
void db_set_int_or_null(sqlite3_stmt *stmt, const char *parameter, bool is_set, int64_t value);
// QUANTITY_UNLIMITED binds NULL, anything else the number; and back.
void db_bind_quantity(sqlite3_stmt *stmt, int index, int64_t value);
int64_t db_column_quantity(sqlite3_stmt *stmt, int column);

// 1: a row; 0: no (more) row; -1: error.
int db_step(struct db_conn *conn, sqlite3_stmt *stmt, struct error *err);
// Runs a statement that gives no row. A broken uniqueness is ERROR_CONFLICT, a broken reference ERROR_INVALID.
int db_run(struct db_conn *conn, sqlite3_stmt *stmt, struct error *err);
const char *db_column_text(sqlite3_stmt *stmt, int column, struct arena *arena); // NULL for NULL; copied to arena
const char *db_column_view(sqlite3_stmt *stmt, int column, size_t *out_length);  // NOT NULL; until the next step
int64_t db_column_int(sqlite3_stmt *stmt, int column);
double db_column_real(sqlite3_stmt *stmt, int column);
bool db_column_is_null(sqlite3_stmt *stmt, int column);
int64_t db_last_insert_id(struct db_conn *conn);
int64_t db_changed_rows(struct db_conn *conn);

// One number by a statement without parameters or with one integer; 0 where there is no row.
int db_read_number(struct db_conn *conn, const char *sql, int64_t *out_value, struct error *err);

// What a connection is for.
enum db_use {
    DB_USE_WRITES,
    DB_USE_REQUESTS,
    DB_USE_SIGN_IN,
    DB_USE_RECONCILER,
    DB_USE_NOTIFICATIONS,
    DB_USE_COUNT
};

// "writes", "requests", ...: static text.
const char *db_use_text(enum db_use use);

struct db_stats {
    int64_t statements[DB_USE_COUNT]; // begun, but for those that begin and end transactions
    int64_t commits;
    int64_t changes; // write functions that were committed
    int64_t failed_commits;
    int64_t began_us; // the transaction that runs, by the monotonic clock; 0: none does
    bool writable;    // false while the disk refuses
    bool is_full;     // why: there is no room
    bool reads_fail;  // one failed within the last seconds
    bool is_damaged;  // the check after an unclean end met damage
    bool is_lost;     // its file, or its log, was removed or replaced: the process is about to end
};
void db_get_stats(struct db *db, struct db_stats *out_stats);
