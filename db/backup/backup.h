// A backup: one file with a consistent copy of the database and the keys that sign tokens. It is a tar file
// (prorata.db, keys/..., SHA256SUMS), so that it can be looked into, and checked, without this program.
// Which pods ran is in the database. What they wrote and printed is not in it, nor is the journal of cycles.
#pragma once
#include "db/backup/tar.h"

#include <stdbool.h>

struct error;

struct backup_options {
    const char *data; // the data folder; a server may serve it
    const char *file; // replaced where it is there, and only by a whole backup
    bool without_keys;
};

struct backup {
    int64_t bytes;
    char sum[TAR_SUM_SIZE]; // SHA-256 of the file
};

// The file has mode 0600 and is on disk with its name when this returns; after a failure, and after a crash, there is
// none of that name or the one from before. ERROR_UNAVAILABLE with how much is missing where the disk is full (it needs
// the database twice while it works), ERROR_CONFLICT while another backup is written into the same folder.
int backup_make(const struct backup_options *options, struct backup *out_backup, struct error *err);

// Writes prorata.db and keys/ of a backup into an empty folder, and syncs them. Sums are checked while it reads; a
// failure leaves what it wrote.
int backup_extract(const char *file, const char *folder, struct error *err);
