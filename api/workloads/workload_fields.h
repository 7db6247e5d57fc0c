// `fields` of the list of workloads: rows that hold the members asked for, and always the id.
#pragma once
#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

struct json_writer;
struct request;
struct runtime_pools;
struct visibility;
typedef struct sqlite3_stmt sqlite3_stmt;

struct workload_fields {
    const char **names;      // in the request's arena
    size_t count;            // 0: all of them
    struct buffer row, part; // of one row: the whole, and what is asked for
};

// The names have been checked against the document. The caller calls workload_fields_done.
void workload_fields_init(struct workload_fields *fields, const struct request *req);
void workload_fields_done(struct workload_fields *fields);

// A row as an object: what workload_write_row writes, or the members asked for.
void workload_fields_write_row(struct workload_fields *fields, struct json_writer *json, sqlite3_stmt *stmt,
                               const struct runtime_pools *pools, int64_t now_ms, const struct visibility *visibility);
