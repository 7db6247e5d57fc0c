// The data folder: prorata.db, keys/, and the lock that keeps a second server out.
#pragma once

struct arena;
struct error;

struct data_folder {
    const char *path;
    const char *database; // path/prorata.db
    const char *keys;     // path/keys
    const char *journal;  // path/journal
    const char *refused;  // path/refused
    int lock_fd;
};

// Creates the folder where it is missing (mode 0700) and takes its lock. Errors say which folder and why; where another
// server holds it, its process number.
int data_folder_open(const char *path, struct arena *arena, struct data_folder *out_folder, struct error *err);
void data_folder_close(struct data_folder *folder);
// Removes a demo's temporary folder with all that a server puts there.
void data_folder_remove(const struct data_folder *folder);
