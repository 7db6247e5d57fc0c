// What the database below prorata can do at best: rows of a workload's size (workload, pod, event, history) into WAL
// with synchronous=FULL, so many submissions a commit. bench_bare_sqlite FILE SECONDS GROUP
#include "base/timestamp.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SCHEMA[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "CREATE TABLE w(id INTEGER PRIMARY KEY, uuid TEXT UNIQUE, name TEXT, spec TEXT, a INTEGER, b INTEGER);"
    "CREATE UNIQUE INDEX w_name ON w(a, name); CREATE INDEX w_a ON w(a, b, id); CREATE INDEX w_b ON w(b, id);"
    "CREATE TABLE p(id INTEGER PRIMARY KEY, uuid TEXT UNIQUE, w INTEGER, name TEXT, text TEXT);"
    "CREATE INDEX p_w ON p(w); CREATE TABLE e(id INTEGER PRIMARY KEY, w INTEGER, text TEXT); CREATE INDEX e_w ON e(w);";

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
}

static void insert(sqlite3_stmt *stmt, long number, const char *text)
{
    char name[64];
    snprintf(name, sizeof(name), "%08lx-0000-4000-8000-%012lx", number, number);
    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(stmt, 2, text, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 3, number);
    if (sqlite3_step(stmt) != SQLITE_DONE)
        exit(1);
    sqlite3_reset(stmt);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    sqlite3 *db;
    sqlite3_stmt *workload, *pod, *event;
    int64_t seconds = strtol(argv[2], NULL, 10), group = strtol(argv[3], NULL, 10);
    char text[801];
    memset(text, 'x', 800);
    text[800] = '\0';
    if (sqlite3_open(argv[1], &db) != SQLITE_OK)
        return 1;
    run(db, SCHEMA);
    if (sqlite3_prepare_v2(db, "INSERT INTO w(uuid, name, spec, a, b) VALUES (?1, ?1, ?2, 1, ?3)", -1, &workload,
                           NULL) ||
        sqlite3_prepare_v2(db, "INSERT INTO p(uuid, w, name, text) VALUES (?1, ?3, ?1, substr(?2, 1, 200))", -1, &pod,
                           NULL) ||
        sqlite3_prepare_v2(db, "INSERT INTO e(w, text) VALUES (?3, substr(?1 || ?2, 1, 160))", -1, &event, NULL))
        return 1;
    int64_t begin = timestamp_monotonic_us(), now = begin;
    long count = 0;
    while (now - begin < seconds * 1000000) {
        run(db, "BEGIN IMMEDIATE");
        for (int64_t i = 0; i < group; i++, count++) {
            insert(workload, count, text);
            insert(pod, count, text);
            insert(event, count, text);
            insert(event, count, text);
        }
        run(db, "COMMIT");
        now = timestamp_monotonic_us();
    }
    printf("%.0f\n", (double)count * 1e6 / (double)(now - begin));
    sqlite3_finalize(workload);
    sqlite3_finalize(pod);
    sqlite3_finalize(event);
    return sqlite3_close(db) != SQLITE_OK;
}
