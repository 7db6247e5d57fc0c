// Access rules: who (subject) has which role where (scope). Rules are made and deleted, never changed; a deleted one
// stays as a record with deleted_ms set, and so does one that has ended at its date.
#pragma once
#include "model/scope.h"

struct arena;
struct db;
struct db_conn;
struct error;
typedef struct sqlite3_stmt sqlite3_stmt;

struct access_rule {
    int64_t id;
    const char *subject_type; // user, service-account, app (its old name), group
    const char *subject_id;   // e-mail, client id, group name
    int64_t role_id;
    enum scope_type scope_type;
    const char *scope_id;     // as the API names it
    const char *cluster_uuid; // of the cluster that the scope lies in; NULL for system and tenant
    const char *created_by;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t deleted_ms;     // 0: in force
    int64_t expires_ms;     // when it ends by itself; 0: never
    const char *scope_name; // NULL: the place is gone
    struct scope_path path;
    const char *role_name;        // of a role that an administrator made (db/roles.h); NULL: a predefined one
    const char *role_rights_json; // the same role's; NULL too where it is switched off
};

// For lists: FROM and columns, in the order that db_access_rule_from_row reads.
#define DB_ACCESS_RULE_FROM                                                                                   \
    "access_rules r LEFT JOIN projects p ON r.scope_type = 'project' AND p.id = CAST(r.scope_id AS INTEGER) " \
    "LEFT JOIN departments d ON r.scope_type = 'department' AND d.id = CAST(r.scope_id AS INTEGER) "          \
    "LEFT JOIN clusters c ON c.uuid = r.cluster_uuid LEFT JOIN roles ro ON ro.id = r.role_id"
#define DB_ACCESS_RULE_SCOPE_NAME                                                                            \
    "CASE r.scope_type WHEN 'project' THEN p.name WHEN 'department' THEN d.name WHEN 'cluster' THEN c.name " \
    "ELSE coalesce((SELECT value FROM meta WHERE key = 'tenant_name'), 'prorata') END"
#define DB_ACCESS_RULE_COLUMNS                                                                                \
    "r.id, r.subject_type, r.subject_id, r.role_id, r.scope_type, r.scope_id, r.cluster_uuid, r.created_by, " \
    "r.created_ms, r.updated_ms, r.deleted_ms, " DB_ACCESS_RULE_SCOPE_NAME                                    \
    ", c.id, coalesce(p.department_id, d.id), p.id, r.expires_ms, ro.name, iif(ro.is_enabled, ro.rights_json, NULL)"
void db_access_rule_from_row(sqlite3_stmt *stmt, struct arena *arena, struct access_rule *out_rule);

// 1: found (deleted ones too); 0: none; -1: error.
int db_find_access_rule(struct db_conn *conn, int64_t id, struct arena *arena, struct access_rule *out_rule,
                        struct error *err);
// What is in force for a subject, of a user also by his groups; a rule whose place has gone is left out. is_user: else
// a service account.
int db_list_rules_in_force(struct db_conn *conn, bool is_user, const char *subject_id, struct arena *arena,
                           struct access_rule **out_rules, size_t *out_count, struct error *err);

// Sets id. ERROR_INVALID where the subject, the role or the scope is unknown; ERROR_CONFLICT where the same rule is in
// force.
int db_create_access_rule(struct db *db, struct access_rule *rule, struct error *err);
// ERROR_NOT_FOUND; ERROR_CONFLICT where nobody would be left who may do everything.
int db_delete_access_rule(struct db *db, int64_t id, int64_t now_ms, struct error *err);

// Inside a write function.
int db_create_access_rule_in(struct db_conn *conn, struct access_rule *rule, struct error *err);
int db_delete_access_rules_of_in(struct db_conn *conn, const char *subject_type, const char *subject_id, int64_t now_ms,
                                 struct error *err);
// ERROR_CONFLICT unless some local user has the first role (system administrator) for the whole tenant, without an end.
int db_check_administrator_in(struct db_conn *conn, struct error *err);
