// Audit records: rows that are only added, each chained to the one before (chain.h). All of this runs on the
// writer thread, inside a write function, so the chain has one end.
#pragma once
#include "db/audit/chain.h"
#include "model/scope.h"

struct arena;
struct db_conn;
struct error;
typedef struct sqlite3_stmt sqlite3_stmt;

// No text is NULL; bad UTF-8 is the caller's to prevent.
struct audit_record {
    int64_t time_ms;
    const char *subject_type, *subject, *address;
    const char *operation, *action, *method, *url;
    const char *entity_type, *entity_id, *entity_name;
    struct scope_path where;
    int64_t status; // of the answer
    int64_t count;  // tries alike
    int64_t last_ms;
    const char *request;
    const char *details_json, *changes_json;
};

// The columns of SELECT for audit_record_from_row, before any other.
extern const char AUDIT_RECORD_COLUMNS[];

// Adds the record to the end of the chain. Its number and MAC come back where out_mark is not NULL.
int db_add_audit_record(struct db_conn *conn, const struct audit_key *key, const struct audit_record *record,
                        struct audit_mark *out_mark, struct error *err);
// The end of the chain. Any connection.
int db_find_audit_end(struct db_conn *conn, struct audit_mark *out_mark, struct error *err);
// Removes the oldest records from before a time, at most limit; signs where the rest begins.
int db_remove_audit_records(struct db_conn *conn, const struct audit_key *key, int64_t before_ms, int64_t now_ms,
                            int limit, int64_t *out_count, struct error *err);

// What the row says; texts are the statement's, until its next step.
void audit_record_from_row(sqlite3_stmt *row, struct audit_record *out_record);
// The number and MAC in two columns of a row. A MAC of another size is all zeros: no record has that one.
void audit_mark_from_row(sqlite3_stmt *row, int column, struct audit_mark *out_mark);
// The MAC of a record behind that of the one before.
void audit_record_mac(const struct audit_key *key, const struct audit_record *record, int64_t seq,
                      const unsigned char before[AUDIT_MAC_SIZE], unsigned char out_mac[AUDIT_MAC_SIZE]);

#define AUDIT_PURPOSE_BASE "prorata audit base 1"
#define AUDIT_PURPOSE_HEAD "prorata audit head 1"

// What a change touched: its name and place, where its row is still there. id is the API's.
struct audit_place {
    struct scope_path where;
    const char *name; // NULL: unknown; the arena's
};
// 1: found; 0: no row of that kind; -1: error. kind: "workload", "project", "department",
// "cluster".
int db_find_audit_place(struct db_conn *conn, const char *kind, const char *id, struct arena *arena,
                        struct audit_place *out_place, struct error *err);
