#include "db/access_rules.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/roles.h"
#include "db/scopes.h"

#include <inttypes.h>
#include <string.h>

#define SELECT_RULE "SELECT " DB_ACCESS_RULE_COLUMNS " FROM " DB_ACCESS_RULE_FROM " WHERE "
#define IN_TIME "(r.expires_ms = 0 OR r.expires_ms > ?2)"
static const char SQL_BY_ID[] = SELECT_RULE "r.id = ?";
static const char SQL_OF_USER[] =
    SELECT_RULE "r.deleted_ms = 0 AND " IN_TIME
                " AND ((r.subject_type = 'user' AND r.subject_id = ?1) OR (r.subject_type = 'group' AND "
                "r.subject_id IN (SELECT g.name FROM user_groups g JOIN users u ON u.id = g.user_id WHERE u.email = "
                "?1)))";
static const char SQL_OF_SERVICE_ACCOUNT[] =
    SELECT_RULE "r.subject_type IN ('service-account', 'app') AND r.subject_id = ?1 AND r.deleted_ms = 0 AND " IN_TIME;
static const char SQL_INSERT[] = "INSERT INTO access_rules (subject_type, subject_id, role_id, scope_type, scope_id, "
                                 "cluster_uuid, created_by, created_ms, "
                                 "updated_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
// One that has ended makes room for another like it.
static const char SQL_END[] =
    "UPDATE OR REPLACE access_rules SET deleted_ms = expires_ms WHERE subject_type = ? AND subject_id = ? AND "
    "deleted_ms = 0 AND expires_ms BETWEEN 1 AND ?";
static const char SQL_DELETE[] =
    "UPDATE access_rules SET deleted_ms = ?2, updated_ms = ?2 WHERE id = ?1 AND deleted_ms = 0";
static const char SQL_DELETE_OF[] =
    "UPDATE access_rules SET deleted_ms = ?3, updated_ms = ?3 WHERE deleted_ms = 0 AND "
    "subject_id = ?2 AND (subject_type = ?1 OR (?1 = 'service-account' AND subject_type = 'app'))";
static const char SQL_HAS_ADMINISTRATOR[] =
    "SELECT count(*) FROM access_rules r JOIN users u ON u.email = r.subject_id WHERE r.subject_type = 'user' AND "
    "u.is_local = 1 AND r.role_id = 1 AND r.scope_type IN ('system', 'tenant') AND r.deleted_ms = 0 AND "
    "r.expires_ms = 0";
static const char SQL_USER_EMAIL[] = "SELECT email FROM users WHERE email = ?1 OR uuid = ?1";
static const char SQL_CLIENT_ID[] = "SELECT client_id FROM service_accounts WHERE client_id = ?1 OR uuid = ?1 OR name "
                                    "= ?1 ORDER BY client_id = ?1 DESC, uuid = ?1 DESC LIMIT 1";
static const char SQL_CLUSTER_UUID[] = "SELECT uuid FROM clusters WHERE id = ?";

void db_access_rule_from_row(sqlite3_stmt *stmt, struct arena *arena, struct access_rule *out_rule)
{
    *out_rule = (struct access_rule){
        .id = db_column_int(stmt, 0),
        .subject_type = db_column_text(stmt, 1, arena),
        .subject_id = db_column_text(stmt, 2, arena),
        .role_id = db_column_int(stmt, 3),
        .scope_id = db_column_text(stmt, 5, arena),
        .cluster_uuid = db_column_text(stmt, 6, arena),
        .created_by = db_column_text(stmt, 7, arena),
        .created_ms = db_column_int(stmt, 8),
        .updated_ms = db_column_int(stmt, 9),
        .deleted_ms = db_column_int(stmt, 10),
        .scope_name = db_column_text(stmt, 11, arena),
        .path = {.cluster_id = db_column_int(stmt, 12),
                 .department_id = db_column_int(stmt, 13),
                 .project_id = db_column_int(stmt, 14)},
        .expires_ms = db_column_int(stmt, 15),
        .role_name = db_column_text(stmt, 16, arena),
        .role_rights_json = db_column_text(stmt, 17, arena),
    };
    scope_type_parse(db_column_text(stmt, 4, arena), &out_rule->scope_type);
}

int db_find_access_rule(struct db_conn *conn, int64_t id, struct arena *arena, struct access_rule *out_rule,
                        struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_ID, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        db_access_rule_from_row(stmt, arena, out_rule);
    db_release(conn, stmt);
    return rc;
}

int db_list_rules_in_force(struct db_conn *conn, bool is_user, const char *subject_id, struct arena *arena,
                           struct access_rule **out_rules, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct access_rule *rules = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, is_user ? SQL_OF_USER : SQL_OF_SERVICE_ACCOUNT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, subject_id);
    db_bind_int(stmt, 2, timestamp_now_ms());
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        rules = arena_grow(arena, rules, &capacity, count + 1, sizeof(*rules));
        db_access_rule_from_row(stmt, arena, &rules[count]);
        if (rules[count].scope_name)
            count++;
    }
    db_release(conn, stmt);
    *out_rules = rules;
    *out_count = count;
    return rc;
}

static int read_text(struct db_conn *conn, const char *sql, const char *text, int64_t number, struct arena *arena,
                     const char **out_text, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (text)
        db_bind_text(stmt, 1, text);
    else
        db_bind_int(stmt, 1, number);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_text = db_column_text(stmt, 0, arena);
    db_release(conn, stmt);
    return rc;
}

// The subject as it is written in its own table: rules are matched exactly.
static int resolve_subject(struct db_conn *conn, struct access_rule *rule, struct arena *arena, struct error *err)
{
    if (!strcmp(rule->subject_type, "group"))
        return 0;
    const char *sql = strcmp(rule->subject_type, "user") ? SQL_CLIENT_ID : SQL_USER_EMAIL;
    int rc = read_text(conn, sql, rule->subject_id, 0, arena, &rule->subject_id, err);
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "subjectId: there is no %s %.100s", rule->subject_type, rule->subject_id);
    return rc < 0 ? -1 : 0;
}

static int resolve_scope(struct db_conn *conn, struct access_rule *rule, struct arena *arena, struct error *err)
{
    int rc = db_find_scope(conn, rule->scope_type, rule->scope_id, arena, &rule->path, &rule->scope_name, err);
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "scopeId: there is no %s %.100s", scope_type_text(rule->scope_type),
                         rule->scope_id);
    if (rule->scope_type <= SCOPE_TENANT)
        rule->scope_id = "1"; // there is one tenant
    if (rc > 0 && rule->path.cluster_id)
        rc = read_text(conn, SQL_CLUSTER_UUID, NULL, rule->path.cluster_id, arena, &rule->cluster_uuid, err);
    return rc < 0 ? -1 : 0;
}

static int insert_rule(struct db_conn *conn, struct access_rule *rule, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, rule->subject_type);
    db_bind_text(stmt, 2, rule->subject_id);
    db_bind_int(stmt, 3, rule->role_id);
    db_bind_text(stmt, 4, scope_type_text(rule->scope_type));
    db_bind_text(stmt, 5, rule->scope_id);
    db_bind_text(stmt, 6, rule->cluster_uuid);
    db_bind_text(stmt, 7, rule->created_by);
    db_bind_int(stmt, 8, rule->created_ms);
    db_bind_int(stmt, 9, rule->created_ms);
    db_bind_int(stmt, 10, rule->expires_ms);
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "%.100s has this role here already", rule->subject_id);
    if (rc < 0 && err)
        *err = cause;
    return rc;
}

static int delete_where(struct db_conn *conn, const char *sql, const char *first, const char *second, int64_t now_ms,
                        struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, first);
    db_bind_text(stmt, 2, second);
    db_bind_int(stmt, 3, now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// A role that was made may be gone again by now.
static int check_role(struct db_conn *conn, int64_t role_id, struct error *err)
{
    int rc = role_id > ROLE_PREDEFINED_MAX ? db_role_exists(conn, role_id, err) : 1;
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "roleId: there is no role %" PRId64, role_id);
    return rc < 0 ? -1 : 0;
}

// The texts that it resolves end with the write; the caller reads the rule again by its id.
int db_create_access_rule_in(struct db_conn *conn, struct access_rule *rule, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    struct access_rule resolved = *rule;
    int rc = resolve_subject(conn, &resolved, &arena, err);
    if (rc == 0)
        rc = resolve_scope(conn, &resolved, &arena, err);
    if (rc == 0)
        rc = check_role(conn, rule->role_id, err);
    if (rc == 0)
        rc = delete_where(conn, SQL_END, resolved.subject_type, resolved.subject_id, rule->created_ms, err);
    if (rc == 0)
        rc = insert_rule(conn, &resolved, err);
    if (rc == 0) {
        rule->id = db_last_insert_id(conn);
        db_touch_number(conn, CHANGE_ACCESS, rule->id);
    }
    arena_done(&arena);
    return rc;
}

static int create_rule(struct db_conn *conn, void *context, struct error *err)
{
    return db_create_access_rule_in(conn, context, err);
}

int db_create_access_rule(struct db *db, struct access_rule *rule, struct error *err)
{
    return db_write(db, create_rule, rule, err);
}

int db_check_administrator_in(struct db_conn *conn, struct error *err)
{
    int64_t count = 0;
    if (db_read_number(conn, SQL_HAS_ADMINISTRATOR, &count, err) < 0)
        return -1;
    if (count)
        return 0;
    error_set(err, ERROR_CONFLICT, "the last system administrator must stay");
    return error_details(err, "give the role to another user first");
}

struct rule_deletion {
    int64_t id;
    int64_t now_ms;
};

static int delete_rule(struct db_conn *conn, void *context, struct error *err)
{
    const struct rule_deletion *deletion = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, deletion->id);
    db_bind_int(stmt, 2, deletion->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "access rule %" PRId64 ": not found", deletion->id);
    db_touch_number(conn, CHANGE_ACCESS, deletion->id);
    return rc < 0 ? -1 : db_check_administrator_in(conn, err);
}

int db_delete_access_rule(struct db *db, int64_t id, int64_t now_ms, struct error *err)
{
    struct rule_deletion deletion = {id, now_ms};
    return db_write(db, delete_rule, &deletion, err);
}

int db_delete_access_rules_of_in(struct db_conn *conn, const char *subject_type, const char *subject_id, int64_t now_ms,
                                 struct error *err)
{
    return delete_where(conn, SQL_DELETE_OF, subject_type, subject_id, now_ms, err);
}
