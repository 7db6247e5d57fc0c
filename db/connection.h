// A connection with its kept statements. Inside db/ only.
#pragma once
#include "db/db.h"

#include <sqlite3.h>
#include <stdatomic.h>

enum {
    DB_APPLICATION_ID = 0x70727472, // "prtr", in the file's header
    CONNECTION_BUSY_MS = 5000
};

// What reading has shown of the file; of all connections of a database.
struct db_health {
    atomic_bool is_damaged;         // the check of the whole file said so
    _Atomic int64_t read_failed_us; // monotonic, the last time; 0: never
};

struct kept_statement {
    const char *sql; // address of a constant: the key
    sqlite3_stmt *stmt;
    bool in_use;
};

struct db_conn {
    sqlite3 *handle;
    struct kept_statement *kept; // open addressing; a power of two
    size_t kept_capacity, kept_count;
    struct db_health *health;    // NULL: nobody looks at it
    _Atomic int64_t *statements; // begun so far, of all connections of its use; NULL: not counted
    // The writer's connection only:
    int64_t *next_revision;   // NULL for a reader
    int64_t present_revision; // of the running write function; 0 until it asks
    struct db_change *changes;
    size_t change_count, change_capacity;
    bool is_full;               // the last write that the disk refused found no room
    struct db_opening *opening; // of the file, while it is opened
    // Readers only:
    struct reader_pool *pool;
    struct db_conn *next_free;
    int64_t limit_ms;
    int64_t ends_us; // by the monotonic clock; 0: never
};

int connection_open(struct db_conn *conn, const char *path, bool readonly, struct error *err);
void connection_close(struct db_conn *conn);
int connection_exec(struct db_conn *conn, const char *sql, struct error *err);
// What is read from now on ends after limit_ms; 0: never.
void connection_limit(struct db_conn *conn, int64_t limit_ms);
// Until it is told NULL: others see how this connection gets on, and may end what it does.
void connection_watch(struct db_conn *conn, struct db_opening *opening);
// Sets err from the connection's last error; the codes as db.h says. Always -1.
int connection_error(struct db_conn *conn, int code, struct error *err);
// The disk refuses: nothing was written, and there may be room later.
bool connection_code_is_refusal(int code);
// What to call the last refusal: only a disk without room is full. Static text.
const char *connection_refusal(bool is_full);
