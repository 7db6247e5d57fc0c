// Writes a snapshot as JSON, in the form of docs/snapshot.md. Read back (snapshot_reader.h) it gives the same snapshot,
// and so the same plan. Lists stand in the snapshot's order, that of names; keys that say what a default says are
// left out where a document of a live cluster would be full of them.
#pragma once
#include "scheduler/snapshot.h"

struct json_writer;

// Writes one object. The snapshot is good as scheduler_plan asks for. O(n).
void snapshot_write(struct json_writer *json, const struct snapshot *snapshot);
