// What the migrations make of an empty file, against what a file has: who may write a backup could put a trigger into
// it. Inside db/ only.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

// A sentence, the arena's, for each table, index, trigger or view that the file has more, lacks, or has otherwise than
// the migrations up to `version` make it; at most `max` of them are stored. Runs those migrations in memory.
int schema_compare(struct db_conn *conn, int64_t version, struct arena *arena, const char **problems, size_t max,
                   size_t *out_count, struct error *err);
