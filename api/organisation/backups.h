// The backups in the data folder.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;
struct request;

struct backup_file {
    const char *name;
    int64_t bytes;
    int64_t created_ms;
};

struct backup_list {
    struct backup_file *items; // the newest first
    size_t count, capacity;
};

// Reads the folder; none where it is absent. The list is the request's arena's. ERROR_INTERNAL: it cannot be read.
int backups_list(const struct request *req, struct backup_list *out_list, struct error *err);
