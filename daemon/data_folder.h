// The data folder: prorata.db, keys/, and the lock that keeps a second server out.
#pragma once

#include <stdbool.h>

struct arena;
struct error;

struct data_folder {
    const char *path;
    const char *database; // path/prorata.db
    const char *keys;     // path/keys
    const char *journal;  // path/journal
    const char *refused;  // path/refused
    bool was_used;        // it holds what a server leaves beside a database with tables
    int lock_fd;          // of path/lock, which names the holder
    int folder_fd;        // of the folder, locked as well
};

// Creates the folder where it is missing (mode 0700) and takes its lock. Errors say which folder and why; where another
// server holds it, its process number. A folder with keys, pods, a journal or a write-ahead log and no database is
// refused.
int data_folder_open(const char *path, struct arena *arena, struct data_folder *out_folder, struct error *err);
// A folder that has lost its database is not a new one: a start would make another site of it and end what runs. An
// empty file, one that was cut off and one without tables are no database; of an empty one SQLite throws the
// write-ahead log away. A folder where a server kept what was taken from under it waits for people. Changes nothing.
// ERROR_INVALID with what is there, and the way out in details.
int data_folder_check_database(const char *path, struct arena *arena, struct error *err);
void data_folder_close(struct data_folder *folder);
// For commands that root may run on a folder of another user: what they write is its owner's. ERROR_INVALID where the
// folder is not there. step_up is given what step_down set.
int data_folder_step_down(const char *path, bool *out_has_stepped, struct error *err);
int data_folder_step_up(bool has_stepped, struct error *err);
// Removes a demo's temporary folder with all that a server puts there.
void data_folder_remove(const struct data_folder *folder);
