#include "db/connection.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    STEPS_BETWEEN_LOOKS = 10000 // of SQLite's machine: less than a millisecond
};

// A read that fails with EIO comes out of SQLite as damage.
static void note_health(struct db_conn *conn, int code)
{
    if (conn->health && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_IOERR))
        atomic_store(&conn->health->read_failed_us, timestamp_monotonic_us());
}

const char *connection_refusal(bool is_full)
{
    return is_full ? "the disk that holds the database is full" : "the disk that holds the database refuses writes";
}

int connection_error(struct db_conn *conn, int code, struct error *err)
{
    switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
        return error_set(err, ERROR_CONFLICT, "already exists: %s", sqlite3_errmsg(conn->handle));
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return error_set(err, ERROR_INVALID, "refers to something that is not there");
    case SQLITE_INTERRUPT:
        if (conn->opening)
            return error_set(err, ERROR_UNAVAILABLE, "ended before it was done");
        return error_set(err, ERROR_UNAVAILABLE,
                         "reading took longer than %g s and was ended (read-limit): ask for less, or in another order",
                         (double)conn->limit_ms / 1000);
    case SQLITE_BUSY:
        return error_set(err, ERROR_UNAVAILABLE, "the database is busy");
    default:
        if (connection_code_is_refusal(code)) {
            conn->is_full = code == SQLITE_FULL || sqlite3_system_errno(conn->handle) == EDQUOT;
            return error_set(err, ERROR_UNAVAILABLE, "%s", connection_refusal(conn->is_full));
        }
        note_health(conn, code & 0xff);
        return error_set(err, ERROR_INTERNAL, "database: %s (%d)", sqlite3_errmsg(conn->handle), code);
    }
}

bool connection_code_is_refusal(int code)
{
    return code == SQLITE_FULL || code == SQLITE_IOERR_WRITE;
}

int connection_exec(struct db_conn *conn, const char *sql, struct error *err)
{
    if (sqlite3_exec(conn->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        return connection_error(conn, sqlite3_extended_errcode(conn->handle), err);
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The length of the run of digits at text, behind its zeros; *out_zeros how many these are.
static int count_digits(const char *text, int length, int *out_zeros)
{
    int zeros = 0, end;
    while (zeros < length && text[zeros] == '0')
        zeros++;
    for (end = zeros; end < length && is_digit(text[end]);)
        end++;
    *out_zeros = zeros;
    return end - zeros;
}

// The collation by_number: digits count as numbers, so that gpu-2 comes before gpu-10; only equal texts are equal.
static int compare_by_number(void *unused, int left_length, const void *left, int right_length, const void *right)
{
    (void)unused;
    const char *a = left, *b = right, *a_end = a + left_length, *b_end = b + right_length;
    while (a < a_end && b < b_end) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                return (unsigned char)*a - (unsigned char)*b;
            a++, b++;
            continue;
        }
        int a_zeros, b_zeros, a_digits = count_digits(a, (int)(a_end - a), &a_zeros),
                              b_digits = count_digits(b, (int)(b_end - b), &b_zeros);
        a += a_zeros, b += b_zeros;
        int order = a_digits != b_digits ? a_digits - b_digits : memcmp(a, b, (size_t)a_digits);
        if (order)
            return order;
        a += a_digits, b += b_digits;
    }
    if (a < a_end || b < b_end)
        return a < a_end ? 1 : -1;
    int order = memcmp(left, right, (size_t)(left_length < right_length ? left_length : right_length));
    return order ? order : left_length - right_length;
}

static int is_over(void *context)
{
    const struct db_conn *conn = context;
    return conn->ends_us > 0 && timestamp_monotonic_us() >= conn->ends_us;
}

void connection_limit(struct db_conn *conn, int64_t limit_ms)
{
    conn->limit_ms = limit_ms;
    conn->ends_us = limit_ms > 0 ? timestamp_monotonic_us() + limit_ms * 1000 : 0;
}

static int is_cancelled(void *context)
{
    struct db_opening *opening = context;
    atomic_fetch_add(&opening->progress, 1);
    return atomic_load(&opening->is_cancelled);
}

void connection_watch(struct db_conn *conn, struct db_opening *opening)
{
    conn->opening = opening;
    sqlite3_progress_handler(conn->handle, opening ? STEPS_BETWEEN_LOOKS : 0, opening ? is_cancelled : NULL, opening);
}

// Of an empty file SQLite throws the write-ahead log away, also where it is opened for reading only.
static int keep_log(const char *path, struct error *err)
{
    struct stat about;
    char *wal = memory_alloc(strlen(path) + sizeof("-wal"));
    stpcpy(stpcpy(wal, path), "-wal");
    bool is_lost = stat(path, &about) == 0 ? about.st_size == 0 : errno == ENOENT;
    bool has_log = stat(wal, &about) == 0 && about.st_size > 0;
    free(wal);
    return is_lost && has_log ? error_set(err, ERROR_INVALID, "%s: missing or empty beside a full -wal file", path) : 0;
}

int connection_open(struct db_conn *conn, const char *path, bool readonly, struct error *err)
{
    static const char SETTINGS[] = "PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;"
                                   "PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=16777216;";
    *conn = (struct db_conn){0};
    if (keep_log(path, err) < 0)
        return -1;
    int flags = SQLITE_OPEN_NOMUTEX | (readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (sqlite3_open_v2(path, &conn->handle, flags, NULL) != SQLITE_OK) {
        error_set(err, ERROR_INTERNAL, "%s: %s", path, conn->handle ? sqlite3_errmsg(conn->handle) : "no memory");
        sqlite3_close(conn->handle);
        conn->handle = NULL;
        return -1;
    }
    sqlite3_extended_result_codes(conn->handle, 1);
    sqlite3_busy_timeout(conn->handle, CONNECTION_BUSY_MS);
    if (readonly)
        sqlite3_progress_handler(conn->handle, STEPS_BETWEEN_LOOKS, is_over, conn);
    if (sqlite3_create_collation(conn->handle, "by_number", SQLITE_UTF8, NULL, compare_by_number) != SQLITE_OK) {
        connection_error(conn, sqlite3_extended_errcode(conn->handle), err);
        connection_close(conn);
        return -1;
    }
    if (connection_exec(conn, SETTINGS, err) < 0) {
        connection_close(conn);
        return -1;
    }
    return 0;
}

void connection_close(struct db_conn *conn)
{
    for (size_t i = 0; i < conn->kept_capacity; i++)
        sqlite3_finalize(conn->kept[i].stmt);
    free(conn->kept);
    free(conn->changes);
    sqlite3_close(conn->handle);
    *conn = (struct db_conn){0};
}

static size_t slot_of(const struct db_conn *conn, const char *sql)
{
    size_t mask = conn->kept_capacity - 1;
    size_t slot = ((uintptr_t)sql >> 3) * 0x9E3779B97F4A7C15ULL >> 20 & mask;
    while (conn->kept[slot].sql && conn->kept[slot].sql != sql)
        slot = (slot + 1) & mask;
    return slot;
}

static void grow_kept(struct db_conn *conn)
{
    struct db_conn old = *conn;
    conn->kept_capacity = old.kept_capacity ? old.kept_capacity * 2 : 128;
    conn->kept = memory_array(conn->kept_capacity, sizeof(*conn->kept));
    for (size_t i = 0; i < old.kept_capacity; i++)
        if (old.kept[i].sql)
            conn->kept[slot_of(conn, old.kept[i].sql)] = old.kept[i];
    free(old.kept);
}

static int prepare(struct db_conn *conn, const char *sql, unsigned flags, sqlite3_stmt **out_stmt, struct error *err)
{
    if (sqlite3_prepare_v3(conn->handle, sql, -1, flags, out_stmt, NULL) != SQLITE_OK)
        return connection_error(conn, sqlite3_extended_errcode(conn->handle), err);
    return 0;
}

int db_prepare_once(struct db_conn *conn, const char *sql, sqlite3_stmt **out_stmt, struct error *err)
{
    return prepare(conn, sql, 0, out_stmt, err);
}

int db_prepare(struct db_conn *conn, const char *sql, sqlite3_stmt **out_stmt, struct error *err)
{
    if (conn->kept_count * 2 >= conn->kept_capacity)
        grow_kept(conn);
    struct kept_statement *kept = &conn->kept[slot_of(conn, sql)];
    if (!kept->sql) {
        sqlite3_stmt *stmt;
        if (prepare(conn, sql, SQLITE_PREPARE_PERSISTENT, &stmt, err) < 0)
            return -1;
        *kept = (struct kept_statement){.sql = sql, .stmt = stmt};
        conn->kept_count++;
    }
    if (kept->in_use) // the same text twice at once: the second is not kept
        return db_prepare_once(conn, sql, out_stmt, err);
    kept->in_use = true;
    *out_stmt = kept->stmt;
    return 0;
}

void db_release(struct db_conn *conn, sqlite3_stmt *stmt)
{
    if (!stmt)
        return;
    for (size_t i = 0; i < conn->kept_capacity; i++) {
        if (conn->kept[i].stmt == stmt) {
            sqlite3_reset(stmt);
            sqlite3_clear_bindings(stmt);
            conn->kept[i].in_use = false;
            return;
        }
    }
    sqlite3_finalize(stmt);
}

static void check_bound(int rc)
{
    assert(rc == SQLITE_OK);
    (void)rc;
}

void db_bind_text(sqlite3_stmt *stmt, int index, const char *text)
{
    check_bound(text ? sqlite3_bind_text(stmt, index, text, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(stmt, index));
}

void db_bind_int(sqlite3_stmt *stmt, int index, int64_t value)
{
    check_bound(sqlite3_bind_int64(stmt, index, value));
}

void db_bind_real(sqlite3_stmt *stmt, int index, double value)
{
    check_bound(sqlite3_bind_double(stmt, index, value));
}

void db_bind_blob(sqlite3_stmt *stmt, int index, const void *data, size_t length)
{
    check_bound(sqlite3_bind_blob64(stmt, index, data, length, SQLITE_TRANSIENT));
}

void db_bind_null(sqlite3_stmt *stmt, int index)
{
    check_bound(sqlite3_bind_null(stmt, index));
}

// A name that the statement does not have is 0, which no binding takes.
void db_set_text(sqlite3_stmt *stmt, const char *parameter, const char *text)
{
    db_bind_text(stmt, sqlite3_bind_parameter_index(stmt, parameter), text);
}

void db_set_blob(sqlite3_stmt *stmt, const char *parameter, const void *data, size_t length)
{
    int index = sqlite3_bind_parameter_index(stmt, parameter);
    if (data)
        db_bind_blob(stmt, index, data, length);
    else
        db_bind_null(stmt, index);
}

void db_set_int(sqlite3_stmt *stmt, const char *parameter, int64_t value)
{
    db_bind_int(stmt, sqlite3_bind_parameter_index(stmt, parameter), value);
}

void db_set_int_or_null(sqlite3_stmt *stmt, const char *parameter, bool is_set, int64_t value)
{
    if (is_set)
        db_set_int(stmt, parameter, value);
    else
        db_bind_null(stmt, sqlite3_bind_parameter_index(stmt, parameter));
}

void db_bind_quantity(sqlite3_stmt *stmt, int index, int64_t value)
{
    if (value == QUANTITY_UNLIMITED)
        db_bind_null(stmt, index);
    else
        db_bind_int(stmt, index, value);
}

int64_t db_column_quantity(sqlite3_stmt *stmt, int column)
{
    return db_column_is_null(stmt, column) ? QUANTITY_UNLIMITED : sqlite3_column_int64(stmt, column);
}

int db_step(struct db_conn *conn, sqlite3_stmt *stmt, struct error *err)
{
    if (conn->statements && !sqlite3_stmt_busy(stmt))
        atomic_fetch_add_explicit(conn->statements, 1, memory_order_relaxed);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    return connection_error(conn, sqlite3_extended_errcode(conn->handle), err);
}

int db_run(struct db_conn *conn, sqlite3_stmt *stmt, struct error *err)
{
    int rc = db_step(conn, stmt, err);
    sqlite3_reset(stmt);
    return rc < 0 ? -1 : 0;
}

const char *db_column_text(sqlite3_stmt *stmt, int column, struct arena *arena)
{
    const unsigned char *text = sqlite3_column_text(stmt, column);
    if (!text)
        return NULL;
    return arena_strndup(arena, (const char *)text, (size_t)sqlite3_column_bytes(stmt, column));
}

const char *db_column_view(sqlite3_stmt *stmt, int column, size_t *out_length)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    if (!text) // no memory
        text = "";
    *out_length = strlen(text);
    return text;
}

int64_t db_column_int(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_int64(stmt, column);
}

double db_column_real(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_double(stmt, column);
}

bool db_column_is_null(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL;
}

int64_t db_last_insert_id(struct db_conn *conn)
{
    return sqlite3_last_insert_rowid(conn->handle);
}

int64_t db_changed_rows(struct db_conn *conn)
{
    return sqlite3_changes64(conn->handle);
}

int db_read_number(struct db_conn *conn, const char *sql, int64_t *out_value, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc >= 0)
        *out_value = rc > 0 ? db_column_int(stmt, 0) : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

int db_read_begin(struct db_conn *conn, struct error *err)
{
    return connection_exec(conn, "BEGIN", err);
}

void db_read_end(struct db_conn *conn)
{
    if (!sqlite3_get_autocommit(conn->handle))
        sqlite3_exec(conn->handle, "ROLLBACK", NULL, NULL, NULL);
}
