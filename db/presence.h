// Whether the files that the writer has open are still those of their names. Whoever removes prorata.db under a running
// server, or puts another in its place, takes with it all that is written from then on: SQLite does not look. They are
// looked for in the folder that was opened, so people may rename that. Inside db/ only.
#pragma once
#include <limits.h>

struct db_conn;
struct error;

enum {
    PRESENCE_FILES = 3 // the database, its write-ahead log and the index of that
};

struct presence {
    int folder_fd; // 0: nothing is looked at
    int fds[PRESENCE_FILES];
    char names[PRESENCE_FILES][NAME_MAX + 1];
};

// conn has read something, so all its files are there. presence_done undoes it, after a failure too.
int presence_open(struct presence *presence, struct db_conn *conn, struct error *err);
void presence_done(struct presence *presence);
// The name of a file that is gone or another's; NULL: none is. Any thread.
const char *presence_find_lost(const struct presence *presence);
// Keeps what only this process still has, and ends it with exit 70. Without its write-ahead log the database gets what
// was in that; where the database itself is lost, PATH.rescued is a copy of it. conn, the writer's, is in no
// transaction.
_Noreturn void presence_end(struct presence *presence, const char *lost, struct db_conn *conn);
