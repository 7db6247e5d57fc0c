// Every write fails at its first statement, at its second, ..., until it goes through. Each time the caller gets an
// error, the file is what it was, nobody is told of a change, and the next write works. How many statements a write
// takes stands in its row, so that one more is noticed.
//
// The program's own sqlite3_step, sqlite3_exec and sqlite3_extended_errcode stand in front of the library's. A
// statement fails in two ways: alone, and as on a full disk, where SQLite has rolled the transaction back before it
// says so; then those of the transaction fail in turn as well: BEGIN, the revision, COMMIT.
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/db.h"
#include "tests/support/check.h"
#include "tests/support/db_writes.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fault {
    FAULT_ALONE, // of the write function's statements
    FAULT_FULL,  // of all of the transaction
    FAULT_COUNT
};

// Of the one connection that writes. Set while it is idle.
static struct {
    _Atomic int64_t left; // statements until one fails; 0: none does
    _Atomic int64_t seen;
    enum fault fault;
    bool is_inside; // of a write function: between BEGIN and the companion, which is the last
    bool is_told;   // the code that the library would have
    bool in_exec;
} state;

// What the library would say of it.
static const int CODES[FAULT_COUNT] = {[FAULT_ALONE] = SQLITE_IOERR_READ, [FAULT_FULL] = SQLITE_FULL};

static void *of_library(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static int exec_really(sqlite3 *handle, const char *sql, sqlite3_callback callback, void *context, char **message)
{
    static int (*real)(sqlite3 *, const char *, sqlite3_callback, void *, char **);
    if (!real)
        *(void **)&real = of_library("sqlite3_exec");
    return real(handle, sql, callback, context, message);
}

// True where this statement is the one that fails.
static bool fails(sqlite3 *handle)
{
    state.is_told = false;
    if (state.fault == FAULT_ALONE && !state.is_inside)
        return false;
    state.seen++;
    if (state.left == 0 || --state.left > 0)
        return false;
    if (state.fault == FAULT_FULL && !sqlite3_get_autocommit(handle)) {
        state.in_exec = true;
        exec_really(handle, "ROLLBACK", NULL, NULL, NULL);
        state.in_exec = false;
    }
    state.is_told = true;
    return true;
}

int sqlite3_step(sqlite3_stmt *stmt)
{
    static int (*real)(sqlite3_stmt *);
    if (!real)
        *(void **)&real = of_library("sqlite3_step");
    sqlite3 *handle = sqlite3_db_handle(stmt);
    const char *sql = sqlite3_sql(stmt); // NULL: the library's own
    if (sql && strcmp(sql, "UPDATE meta SET value = ?1 WHERE key = 'revision'") == 0)
        state.is_inside = false;
    bool begins = sqlite3_db_readonly(handle, "main") == 0 && !state.in_exec && !sqlite3_stmt_busy(stmt);
    return begins && fails(handle) ? CODES[state.fault] : real(stmt);
}

int sqlite3_exec(sqlite3 *handle, const char *sql, sqlite3_callback callback, void *context, char **message)
{
    if (sqlite3_db_readonly(handle, "main") != 0)
        return exec_really(handle, sql, callback, context, message);
    if (strncmp(sql, "COMMIT", strlen("COMMIT")) == 0 || strncmp(sql, "ROLLBACK", strlen("ROLLBACK")) == 0)
        state.is_inside = false;
    if (fails(handle))
        return CODES[state.fault];
    state.in_exec = true;
    int rc = exec_really(handle, sql, callback, context, message);
    state.in_exec = false;
    state.is_inside = state.is_inside || strncmp(sql, "BEGIN", strlen("BEGIN")) == 0;
    return rc;
}

int sqlite3_extended_errcode(sqlite3 *handle)
{
    static int (*real)(sqlite3 *);
    if (!real)
        *(void **)&real = of_library("sqlite3_extended_errcode");
    return state.is_told && sqlite3_db_readonly(handle, "main") == 0 ? CODES[state.fault] : real(handle);
}

struct world {
    struct db *db;
    sqlite3 *other; // a connection of somebody else
    struct db_writes writes;
    _Atomic int64_t told; // changes that listeners heard of
};

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static sqlite3_stmt *ask(struct world *world, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(world->other, sql, -1, &stmt, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(world->other));
        abort();
    }
    return stmt;
}

static uint64_t hash_of_row(sqlite3_stmt *stmt, uint64_t hash)
{
    for (int column = 0; column < sqlite3_column_count(stmt); column++) {
        int type = sqlite3_column_type(stmt, column);
        hash = mix(hash, &type, sizeof(type));
        const void *data = sqlite3_column_blob(stmt, column);
        hash = mix(hash, data, (size_t)sqlite3_column_bytes(stmt, column));
    }
    return hash;
}

// Of all rows of all tables, in any order. A write that fails may use up a revision: that one number is left out.
static uint64_t hash_of_all(struct world *world)
{
    uint64_t sum = 0;
    sqlite3_stmt *tables =
        ask(world, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%'");
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        const char *all = strcmp(name, "meta") ? "1" : "key <> 'revision'";
        sqlite3_stmt *rows = ask(world, arena_printf(&world->writes.arena, "SELECT * FROM \"%s\" WHERE %s", name, all));
        while (sqlite3_step(rows) == SQLITE_ROW)
            sum += hash_of_row(rows, mix(UINT64_C(0xcbf29ce484222325), name, strlen(name)));
        sqlite3_finalize(rows);
    }
    sqlite3_finalize(tables);
    return sum;
}

static int64_t number(struct world *world, const char *sql)
{
    sqlite3_stmt *stmt = ask(world, sql);
    int64_t value = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    sqlite3_finalize(stmt);
    return value;
}

static const char *text(struct world *world, const char *sql)
{
    sqlite3_stmt *stmt = ask(world, sql);
    const char *found = sqlite3_step(stmt) == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : "";
    found = arena_strdup(&world->writes.arena, found);
    sqlite3_finalize(stmt);
    return found;
}

static void note_ids(struct world *world)
{
    world->writes.department_id = number(world, "SELECT id FROM departments WHERE name = 'research'");
    world->writes.project_id = number(world, "SELECT id FROM projects WHERE name = 'team-a'");
    world->writes.workload_id = number(world, "SELECT id FROM workloads ORDER BY id LIMIT 1");
    world->writes.workload_uuid = text(world, "SELECT uuid FROM workloads ORDER BY id LIMIT 1");
    world->writes.pod_id = number(world, "SELECT id FROM pods ORDER BY id LIMIT 1");
    world->writes.pod_uuid = text(world, "SELECT uuid FROM pods ORDER BY id LIMIT 1");
}

static int end_inside(struct db_conn *conn, const struct db_change *changes, size_t count, void *context,
                      struct error *err)
{
    (void)conn;
    (void)changes;
    (void)count;
    (void)context;
    state.is_inside = false;
    return state.fault == FAULT_ALONE ? error_set(err, ERROR_CONFLICT, "refused after all") : 0;
}

// A row of either table.
struct row {
    const char *name;
    int64_t statements;
    const struct write_case *inner; // NULL: whole is
    const struct whole_write_case *whole;
};

static int run(struct world *world, const struct row *row, struct error *err)
{
    struct db_companion companion = {.fn = end_inside};
    db_accompany(world->db, &companion);
    int rc = row->whole ? row->whole->run(world->db, &world->writes, err)
                        : db_write(world->db, row->inner->fn, &world->writes, err);
    db_accompany(world->db, NULL);
    return rc;
}

static int no_change(struct db_conn *conn, void *context, struct error *err)
{
    (void)conn;
    (void)context;
    (void)err;
    return 0;
}

static void listen_to(const struct db_change *changes, size_t count, void *context)
{
    (void)changes;
    ((struct world *)context)->told += (int64_t)count;
}

// Fails at statement nth of the write. False where the write has fewer.
static bool fail_at(struct world *world, const struct row *row, enum fault fault, int64_t nth)
{
    static const enum error_code WANTED[FAULT_COUNT] = {
        [FAULT_ALONE] = ERROR_INTERNAL, [FAULT_FULL] = ERROR_UNAVAILABLE};
    struct error err = {0};
    uint64_t before = hash_of_all(world);
    char name[120];
    snprintf(name, sizeof(name), "%s, %s %" PRId64, row->name, fault == FAULT_FULL ? "full at" : "statement", nth);
    world->told = 0;
    state.fault = fault;
    state.seen = 0;
    state.left = nth;
    int rc = run(world, row, &err);
    bool has_failed = state.left == 0;
    state.left = 0;
    if (has_failed)
        check_int(rc < 0 ? err.code : ERROR_NONE, WANTED[fault], "%s: the error, \"%s\"", name, err.message);
    else if (fault == FAULT_ALONE)
        check_int(err.code, ERROR_CONFLICT, "%s: all statements, then refused: %s", name, err.message);
    else
        check_true(rc == 0, "%s: goes through: %s", name, err.message);
    if (!has_failed && fault == FAULT_FULL) {
        check_true(hash_of_all(world) != before, "%s: another connection sees it", name);
        return false;
    }
    check_true(hash_of_all(world) == before, "%s: the file is what it was", name);
    check_int(world->told, 0, "%s: nobody is told", name);
    check_int(db_write(world->db, no_change, NULL, &err), 0, "%s: the next write works", name);
    return has_failed;
}

static void sweep(struct world *world, const struct row *row)
{
    int64_t nth = 0;
    note_ids(world);
    while (fail_at(world, row, FAULT_ALONE, ++nth))
        ;
    check_int(state.seen, row->statements, "%s: statements", row->name);
    for (nth = 0; fail_at(world, row, FAULT_FULL, ++nth);)
        ;
    check_int(number(world, "SELECT count(*) FROM pragma_foreign_key_check"), 0, "%s: references", row->name);
}

int main(void)
{
    char folder[] = "/tmp/sweep-test-XXXXXX", path[64], command[80];
    struct world world = {.db = NULL};
    struct error err = {0};
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/test.db", folder);
    arena_init(&world.writes.arena);
    log_configure(LOG_ERROR, false);
    check_int(db_open(&(struct db_options){.path = path, .reader_count = 1}, &world.db, &err), 0, "%s", err.message);
    check_int(sqlite3_open_v2(path, &world.other, SQLITE_OPEN_READONLY, NULL), 0, "another connection");
    db_add_listener(world.db, listen_to, &world);
    check_int(db_write(world.db, db_writes_seed, &world.writes, &err), 0, "%s", err.message);
    for (const struct write_case *row = DB_WRITES; row->name; row++)
        sweep(&world, &(struct row){row->name, row->statements, .inner = row});
    for (const struct whole_write_case *row = ACCOUNT_WRITES; row->name; row++)
        sweep(&world, &(struct row){row->name, row->statements, .whole = row});
    sqlite3_close(world.other);
    db_close(world.db);
    arena_done(&world.writes.arena);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? check_finish() : 1;
}
