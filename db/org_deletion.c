// Deleting departments and projects: asked for here, finished when the last workload is gone.
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events/org_events.h"
#include "db/org_units.h"
#include "db/scopes.h"

#include <inttypes.h>

static const char SQL_IS_DEFAULT[] =
    "SELECT CASE ?1 WHEN 'project' THEN (SELECT is_default FROM projects WHERE id = ?2) "
    "ELSE (SELECT is_default FROM departments WHERE id = ?2) END";
static const char SQL_MARK_PROJECTS[] =
    "UPDATE projects SET phase = 'Deleting', updated_by = ?2, updated_ms = ?3, revision = ?4 "
    "WHERE CASE WHEN ?5 THEN department_id = ?1 ELSE id = ?1 END AND phase <> 'Deleting' RETURNING id";
static const char SQL_MARK_DEPARTMENT[] =
    "UPDATE departments SET phase = 'Deleting', updated_by = ?2, updated_ms = ?3, revision = ?4 "
    "WHERE id = ?1 AND phase <> 'Deleting'";
static const char SQL_MARK_WORKLOADS[] =
    "UPDATE workloads SET desired_phase = 'Deleted', updated_by = ?2, updated_ms = ?3, revision = ?4 "
    "WHERE deleted_ms = 0 AND desired_phase <> 'Deleted' AND project_id IN "
    "(SELECT id FROM projects WHERE CASE WHEN ?5 THEN department_id = ?1 ELSE id = ?1 END) RETURNING uuid";
static const char SQL_PROJECTS_OF[] = "SELECT id FROM projects WHERE department_id = ? ORDER BY id";
static const char SQL_IS_FINISHED[] =
    "SELECT p.phase = 'Deleting' AND NOT EXISTS "
    "(SELECT 1 FROM workloads w WHERE w.project_id = p.id AND w.deleted_ms = 0) FROM projects p WHERE p.id = ?";
static const char SQL_DEPARTMENT_OF[] = "SELECT department_id FROM projects WHERE id = ?";
static const char SQL_PROJECT_EXISTS[] = "SELECT count(*) FROM projects WHERE id = ?";
static const char SQL_DEPARTMENT_EXISTS[] = "SELECT count(*) FROM departments WHERE id = ?";
static const char SQL_DEPARTMENT_IS_EMPTY[] =
    "SELECT d.phase = 'Deleting' AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.department_id = d.id) "
    "FROM departments d WHERE d.id = ?";
// ?1 is "project" or "department", ?2 the id.
static const char *const SQL_REMOVE_BELONGINGS[] = {
    "DELETE FROM assets WHERE scope = ?1 AND scope_id = CAST(?2 AS TEXT)",
    ("UPDATE access_rules SET deleted_ms = ?3, updated_ms = ?3 "
     "WHERE scope_type = ?1 AND scope_id = CAST(?2 AS TEXT) AND deleted_ms = 0"),
    "DELETE FROM templates WHERE scope = ?1 AND scope_id = CAST(?2 AS TEXT)",
    "DELETE FROM policies WHERE scope = ?1 AND owner_id = ?2",
    "DELETE FROM samples WHERE scope = ?1 AND scope_id = ?2",
    "DELETE FROM overtime WHERE owner_kind = ?1 AND owner_id = ?2",
    "DELETE FROM queues WHERE owner_kind = ?1 AND owner_id = ?2",
};
static const char SQL_REMOVE_PROJECT[] = "DELETE FROM projects WHERE id = ?2";
static const char SQL_REMOVE_DEPARTMENT[] = "DELETE FROM departments WHERE id = ?2";

enum {
    ACCESS_RULES = 1,
    BELONGING_COUNT = sizeof(SQL_REMOVE_BELONGINGS) / sizeof(SQL_REMOVE_BELONGINGS[0])
};

static int check_not_default(struct db_conn *conn, enum org_unit_kind kind, int64_t id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_IS_DEFAULT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, org_unit_kind_text(kind));
    db_bind_int(stmt, 2, id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1 && db_column_is_null(stmt, 0))
        rc = error_set(err, ERROR_NOT_FOUND, "%s %" PRId64 ": not found", org_unit_kind_text(kind), id);
    else if (rc == 1 && db_column_int(stmt, 0))
        rc = error_set(err, ERROR_INVALID, "%s %" PRId64 ": the default %s cannot be deleted", org_unit_kind_text(kind),
                       id, org_unit_kind_text(kind));
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int read_number(struct db_conn *conn, const char *sql, int64_t id, int64_t *out_number, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    *out_number = rc == 1 ? db_column_int(stmt, 0) : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

struct deletion {
    int64_t id;
    bool is_department;
    const char *who;
    int64_t now_ms;
    bool is_new; // result: it was not asked for before
};

static int prepare_mark(struct db_conn *conn, const char *sql, const struct deletion *deletion, sqlite3_stmt **out_stmt,
                        struct error *err)
{
    if (db_prepare(conn, sql, out_stmt, err) < 0)
        return -1;
    db_bind_int(*out_stmt, 1, deletion->id);
    db_bind_text(*out_stmt, 2, deletion->who);
    db_bind_int(*out_stmt, 3, deletion->now_ms);
    db_bind_int(*out_stmt, 4, db_revision(conn));
    return 0;
}

static int mark(struct db_conn *conn, struct deletion *deletion, struct error *err)
{
    int rc = -1;
    sqlite3_stmt *projects = NULL, *workloads = NULL, *department = NULL;
    struct arena arena;
    arena_init(&arena);
    if (prepare_mark(conn, SQL_MARK_PROJECTS, deletion, &projects, err) < 0)
        goto done;
    db_bind_int(projects, 5, deletion->is_department);
    while ((rc = db_step(conn, projects, err)) == 1) {
        db_touch_number(conn, CHANGE_PROJECT, db_column_int(projects, 0));
        deletion->is_new = true;
    }
    if (rc < 0 || (rc = prepare_mark(conn, SQL_MARK_WORKLOADS, deletion, &workloads, err)) < 0)
        goto done;
    db_bind_int(workloads, 5, deletion->is_department);
    while ((rc = db_step(conn, workloads, err)) == 1)
        db_touch(conn, CHANGE_WORKLOAD, db_column_text(workloads, 0, &arena));
    if (rc < 0 || !deletion->is_department)
        goto done;
    rc = prepare_mark(conn, SQL_MARK_DEPARTMENT, deletion, &department, err);
    if (rc == 0)
        rc = db_run(conn, department, err);
    deletion->is_new = rc == 0 && db_changed_rows(conn) > 0;
    db_touch_number(conn, CHANGE_DEPARTMENT, deletion->id);
done:
    db_release(conn, projects);
    db_release(conn, workloads);
    db_release(conn, department);
    arena_done(&arena);
    return rc;
}

static int remove_unit(struct db_conn *conn, enum org_unit_kind kind, int64_t id, int64_t now_ms, struct error *err)
{
    bool is_project = kind == ORG_UNIT_PROJECT;
    struct scope_path place = {0};
    if ((is_project ? db_find_project_path : db_find_department_path)(conn, id, &place, err) < 0 ||
        org_events_add_deletion(conn, kind, id, now_ms, err) < 0)
        return -1;
    for (size_t i = 0; i <= BELONGING_COUNT; i++) {
        sqlite3_stmt *stmt = NULL;
        const char *sql = i < BELONGING_COUNT ? SQL_REMOVE_BELONGINGS[i]
                          : is_project        ? SQL_REMOVE_PROJECT
                                              : SQL_REMOVE_DEPARTMENT;
        if (db_prepare(conn, sql, &stmt, err) < 0)
            return -1;
        if (i < BELONGING_COUNT)
            db_bind_text(stmt, 1, org_unit_kind_text(kind));
        db_bind_int(stmt, 2, id);
        if (i == ACCESS_RULES)
            db_bind_int(stmt, 3, now_ms);
        int rc = db_run(conn, stmt, err);
        db_release(conn, stmt);
        if (rc < 0)
            return -1;
    }
    db_touch_gone(conn, is_project ? CHANGE_PROJECT : CHANGE_DEPARTMENT, id, &place);
    db_touch_number(conn, CHANGE_ACCESS, id);
    return 0;
}

// Where it is gone at once, its end is told.
static int tell_wish(struct db_conn *conn, const struct deletion *deletion, bool is_finished, struct error *err)
{
    if (is_finished || !deletion->is_new)
        return 0;
    return org_events_add_deletion_wish(conn, deletion->is_department ? ORG_UNIT_DEPARTMENT : ORG_UNIT_PROJECT,
                                        deletion->id, deletion->who, deletion->now_ms, err);
}

static int finish_department(struct db_conn *conn, int64_t id, int64_t now_ms, struct error *err)
{
    int64_t is_empty = 0;
    if (read_number(conn, SQL_DEPARTMENT_IS_EMPTY, id, &is_empty, err) < 0)
        return -1;
    return is_empty ? remove_unit(conn, ORG_UNIT_DEPARTMENT, id, now_ms, err) : 0;
}

int db_finish_project_deletion(struct db_conn *conn, int64_t project_id, int64_t now_ms, struct error *err)
{
    int64_t is_finished = 0, department_id = 0;
    if (read_number(conn, SQL_IS_FINISHED, project_id, &is_finished, err) < 0)
        return -1;
    if (!is_finished)
        return 0;
    if (read_number(conn, SQL_DEPARTMENT_OF, project_id, &department_id, err) < 0 ||
        remove_unit(conn, ORG_UNIT_PROJECT, project_id, now_ms, err) < 0)
        return -1;
    return finish_department(conn, department_id, now_ms, err);
}

int db_delete_project(struct db_conn *conn, int64_t id, const char *who, int64_t now_ms, bool *out_finished,
                      struct error *err)
{
    struct deletion deletion = {.id = id, .who = who, .now_ms = now_ms};
    int64_t left = 0;
    if (check_not_default(conn, ORG_UNIT_PROJECT, id, err) < 0 || mark(conn, &deletion, err) < 0 ||
        db_finish_project_deletion(conn, id, now_ms, err) < 0 ||
        read_number(conn, SQL_PROJECT_EXISTS, id, &left, err) < 0)
        return -1;
    *out_finished = left == 0;
    return tell_wish(conn, &deletion, left == 0, err);
}

// The projects that are finished already; each finish may end the department, too.
static int finish_projects(struct db_conn *conn, int64_t department_id, int64_t now_ms, struct error *err)
{
    int rc = -1;
    sqlite3_stmt *stmt = NULL;
    int64_t *ids = NULL;
    size_t count = 0, capacity = 0;
    struct arena arena;
    arena_init(&arena);
    if (db_prepare(conn, SQL_PROJECTS_OF, &stmt, err) < 0)
        goto done;
    db_bind_int(stmt, 1, department_id);
    while ((rc = db_step(conn, stmt, err)) == 1) {
        ids = arena_grow(&arena, ids, &capacity, count + 1, sizeof(*ids));
        ids[count++] = db_column_int(stmt, 0);
    }
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = db_finish_project_deletion(conn, ids[i], now_ms, err);
done:
    db_release(conn, stmt);
    arena_done(&arena);
    return rc;
}

int db_delete_department(struct db_conn *conn, int64_t id, const char *who, int64_t now_ms, bool *out_finished,
                         struct error *err)
{
    struct deletion deletion = {.id = id, .is_department = true, .who = who, .now_ms = now_ms};
    int64_t left = 0;
    if (check_not_default(conn, ORG_UNIT_DEPARTMENT, id, err) < 0 || mark(conn, &deletion, err) < 0 ||
        finish_projects(conn, id, now_ms, err) < 0 || finish_department(conn, id, now_ms, err) < 0 ||
        read_number(conn, SQL_DEPARTMENT_EXISTS, id, &left, err) < 0)
        return -1;
    *out_finished = left == 0;
    return tell_wish(conn, &deletion, left == 0, err);
}
