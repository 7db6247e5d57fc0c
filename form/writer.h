// What the files that write a snapshot share. Only simulation/write_*.c and snapshot_writer.c include this.
#pragma once
#include "scheduler/snapshot.h"

struct json_writer;

// Each writes a key of the document ...
void write_topologies(struct json_writer *json, const struct snapshot *snapshot);
void write_usage(struct json_writer *json, const struct snapshot *snapshot);
void write_people(struct json_writer *json, const struct snapshot *snapshot); // where they have used something
// ... or an entry of a list.
void write_node(struct json_writer *json, const struct snapshot *snapshot, size_t index);
void write_department(struct json_writer *json, const struct snapshot *snapshot, size_t index);
void write_project(struct json_writer *json, const struct snapshot *snapshot, size_t index);
void write_workload(struct json_writer *json, const struct snapshot *snapshot, size_t index);

// migInstances and extended of a node or pod, where there are any.
void write_extended(struct json_writer *json, const struct snapshot *snapshot,
                    const struct snapshot_extended_amount *amounts, size_t count);
// A time, 1970 included; SNAPSHOT_TIME_NONE: null.
void write_time(struct json_writer *json, const char *key, int64_t time_ms);
