// Workload types and the defaults that a submission of theirs gets. Thirty are predefined; their defaults may be
// changed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    WORKLOAD_TYPES_MAX = 500 // predefined ones among them
};

struct workload_type_row {
    const char *uuid;
    const char *name, *group;
    const char *category;                 // Build, Train, Deploy
    const char *priority_class;           // a name of model/priority.h
    const char *resource_interfaces_json; // NULL: none
    bool is_predefined;
    const char *created_by, *updated_by;
    int64_t created_ms, updated_ms;
};

// In the order of their making; the arena's.
int db_list_workload_types(struct db_conn *conn, struct arena *arena, struct workload_type_row **out_types,
                           size_t *out_count, struct error *err);
// 1: found; 0: none; -1: error.
int db_find_workload_type(struct db_conn *conn, const char *uuid, struct arena *arena,
                          struct workload_type_row *out_type, struct error *err);
// Of the kinds that are submitted here (group run.ai), by name. 1, 0, -1.
int db_find_submitted_type(struct db_conn *conn, const char *name, struct arena *arena,
                           struct workload_type_row *out_type, struct error *err);

// ERROR_CONFLICT where name and group are taken, or there are WORKLOAD_TYPES_MAX.
int db_create_workload_type(struct db *db, const struct workload_type_row *type, struct error *err);
// Category, priority and resource interfaces. ERROR_NOT_FOUND.
int db_update_workload_type(struct db *db, const struct workload_type_row *type, struct error *err);
// ERROR_NOT_FOUND, also of a predefined one.
int db_delete_workload_type(struct db *db, const char *uuid, struct error *err);
