// Writes a snapshot as JSON, in the form of docs/snapshot.md. Read back (snapshot_reader.h) it gives the same snapshot,
// and so the same plan. Lists stand in the snapshot's order, that of names; keys that say what a default says are
// left out where a document of a live cluster would be full of them.
#pragma once
#include "scheduler/snapshot.h"

struct json_writer;

// Writes one object. The snapshot is good as scheduler_plan asks for. O(n).
void snapshot_write(struct json_writer *json, const struct snapshot *snapshot);

// The same in parts, for who keeps what has changed (journal/). The lists' entries have names that are unique in their
// list; everything else of the document but `now` is "rules", and small.
enum snapshot_list {
    SNAPSHOT_LIST_NODES,
    SNAPSHOT_LIST_DEPARTMENTS,
    SNAPSHOT_LIST_PROJECTS,
    SNAPSHOT_LIST_WORKLOADS,
    SNAPSHOT_LIST_COUNT
};

const char *snapshot_list_key(enum snapshot_list list); // "nodes", ...: static text
size_t snapshot_list_count(const struct snapshot *snapshot, enum snapshot_list list);
const char *snapshot_list_name(const struct snapshot *snapshot, enum snapshot_list list, size_t index);
void snapshot_write_entry(struct json_writer *json, const struct snapshot *snapshot, enum snapshot_list list,
                          size_t index);                                              // an object
void snapshot_write_rules(struct json_writer *json, const struct snapshot *snapshot); // members of the open object
