// Reads a snapshot from JSON text: the form of docs/snapshot.md. What comes out is what scheduler/snapshot.h asks of a
// caller: everything in the order of names, defaults filled in, references as indices. The order of the document's
// lists leaves no trace, but for those whose order means something (actions, a workload's node pools, levels).
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct error;

// The snapshot is the arena's and independent of the text. ERROR_INVALID where the text is not a snapshot; the message
// says where: `workloads[3].pods[0].node: no node "node9"`. O(n log n).
int snapshot_read(const char *text, size_t length, struct arena *arena, struct snapshot **out_snapshot,
                  struct error *err);
// The same from a file, "-" being standard input. A file that can't be read is ERROR_INVALID too; every message starts
// with the file's name.
int snapshot_read_file(const char *path, struct arena *arena, struct snapshot **out_snapshot, struct error *err);
struct json_t;
// A file's JSON value, not read any further; the caller owns it.
int snapshot_load_json(const char *path, struct json_t **out_value, struct error *err);
// The same from a value that is parsed already: the `snapshot` of a conformance case.
int snapshot_read_json(const struct json_t *value, struct arena *arena, struct snapshot **out_snapshot,
                       struct error *err);
