// Roles that administrators made. What they hold is JSON text here; api/access/custom_roles.h reads it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

struct custom_role {
    int64_t id;
    const char *name; // unique without regard to case
    const char *description;
    bool is_enabled;
    const char *rights_json; // {"permissionSets": [id], "permissions": [{"resourceType", "actions"}]}
    const char *created_by;
    int64_t created_ms;
    const char *updated_by;
    int64_t updated_ms;
};

enum {
    ROLE_PREDEFINED_MAX = 1000, // ids up to it are the predefined roles'
    CUSTOM_ROLE_MAX = 500
};

// 1: found; 0: none; -1: error.
int db_find_role(struct db_conn *conn, int64_t id, struct arena *arena, struct custom_role *out_role,
                 struct error *err);
// All of them by id, in the arena.
int db_list_roles(struct db_conn *conn, struct arena *arena, struct custom_role **out_roles, size_t *out_count,
                  struct error *err);

// Sets id. ERROR_CONFLICT where the name is taken or there are CUSTOM_ROLE_MAX.
int db_create_role(struct db *db, struct custom_role *role, struct error *err);
// Changes name, description, is_enabled and rights_json. ERROR_NOT_FOUND; ERROR_CONFLICT where the name is taken.
int db_update_role(struct db *db, const struct custom_role *role, struct error *err);
// ERROR_NOT_FOUND; ERROR_CONFLICT while access rules in force give it.
int db_delete_role(struct db *db, int64_t id, int64_t now_ms, struct error *err);

// Inside a write function: 1 where there is such a role, 0 where not.
int db_role_exists(struct db_conn *conn, int64_t id, struct error *err);
