// What the file takes of the disk. A file that is new gives pages back in small steps; one of an older release is
// rebuilt once for that, as a whole.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct db_conn;
struct error;

struct db_space {
    int64_t used_bytes; // pages in use
    int64_t free_bytes; // pages of the file that are not
    bool shrinks;       // the file can be shortened in steps; false: only by a rebuild
};
// Four statements that read no table.
int db_read_space(struct db_conn *conn, struct db_space *out_space, struct error *err);
// Shortens the file by so many free pages at most. Moves as many pages from its end. A write function.
int db_give_back_pages(struct db_conn *conn, int pages, struct error *err);

// Writes the whole file again, without free pages, so that it can be shortened in steps from then on. Nobody else may
// write meanwhile, nor any other thread of this process use a database. Needs room for what is in use twice:
// ERROR_UNAVAILABLE says how much is missing. Killed or failed, the file is as it was. Takes about a second for 50 MiB.
int db_rebuild(struct db_conn *conn, struct error *err);
// The same for a file that no server holds; out_before and out_after are its sizes in bytes.
int db_compact(const char *path, int64_t *out_before, int64_t *out_after, struct error *err);
