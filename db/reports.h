// Consumption reports: rows that keep the file that was made for them.
#pragma once
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    REPORTS_MAX = 1000
};

struct report {
    const char *uuid;
    const char *name, *description;
    int64_t start_ms, end_ms;
    const char *group_by; // NULL: one sum
    const char *filters_json;
    const char *file;
    const char *created_by;
    int64_t created_ms;
};

// What report_from_row reads, of `reports r`.
#define REPORT_COLUMNS \
    "r.uuid, r.name, r.description, r.start_ms, r.end_ms, r.group_by, r.filters_json, r.created_by, r.created_ms"
typedef struct sqlite3_stmt sqlite3_stmt;
// All but the file; the arena's.
void report_from_row(sqlite3_stmt *row, struct arena *arena, struct report *out_report);

// With its file. 1: found; 0: none; -1: error.
int db_find_report(struct db_conn *conn, const char *uuid, struct arena *arena, struct report *out_report,
                   struct error *err);
// ERROR_INVALID where there are REPORTS_MAX already: the contract has no 409 here.
int db_create_report(struct db *db, const struct report *report, struct error *err);
// ERROR_NOT_FOUND.
int db_delete_report(struct db *db, const char *uuid, struct error *err);
