// A consistent copy of a database file, made while others read and write it; and the full check of a file. Both by a
// connection of their own, which takes no reader from the pool.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct db_opening;
struct error;

// ERROR_UNAVAILABLE with how much is missing where the disk of folder has not bytes free.
int db_check_room(const char *folder, int64_t bytes, struct error *err);

// What a copy of the file takes, about: its pages in use. 0 for a file that is not there.
int db_copy_bytes(const char *path, int64_t *out_bytes, struct error *err);
// Writes the file as it is at one instant to target: compact, mode 0600, on disk when it returns. A target that is
// there is replaced; after a failure there is none. Needs room for db_copy_bytes.
int db_copy(const char *path, const char *target, struct error *err);

// What follows the name of a database whose file was lost under its server. A start refuses a folder with such a copy:
// people decide which of the two goes on.
#define DB_RESCUED_SUFFIX ".rescued"
// Writes what an open connection reads to PATH.rescued, as db_copy does, though PATH is gone. Its folder must have room
// for it.
int db_rescue(struct db_conn *conn, struct error *err);

// The copy that is kept before migration `number` runs: path.before-NUMBER, and no older one. Without room for it, and
// for what the migration itself writes, nothing is done: ERROR_UNAVAILABLE says how much is missing. opening may be
// NULL.
int db_copy_before_migration(const char *path, int number, struct db_opening *opening, struct error *err);

struct db_check {
    const char *
        *problems; // a sentence each, the arena's; at most 100 each of the file, of references and of the schema
    size_t problem_count;
    int64_t schema;
};

// Reads the whole file: integrity, references, and whether its schema is that of its migrations. 0 also where there are
// problems; -1: it cannot be opened as one of ours.
int db_verify(const char *path, struct arena *arena, struct db_check *out_check, struct error *err);
