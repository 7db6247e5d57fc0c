#include "db/events/org_events.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events.h"
#include "model/node_pool.h"
#include "model/org_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SERVER "prorata" // who makes what a new installation begins with

static const char SQL_PROJECT[] = "SELECT name, updated_by, department_id FROM projects WHERE id = ?";
static const char SQL_DEPARTMENT[] = "SELECT name, updated_by, id FROM departments WHERE id = ?";
static const char SQL_FIND_NOTICE[] =
    "SELECT 1 FROM events INDEXED BY events_of_warnings WHERE type = 'Warning' AND time_ms >= ?1 AND project_id = ?2"
    " AND reason = ?3 AND message = ?4";
static const char SQL_CLUSTER[] = "SELECT name, uuid FROM clusters WHERE id = ?";

enum {
    MESSAGE_SIZE = 2048
};

struct place {
    enum org_unit_kind kind;
    int64_t id, department_id;
    const char *name;
};

// The event as one of that unit.
static int add_at(struct db_conn *conn, const struct place *place, struct event event, struct error *err)
{
    bool is_project = place->kind == ORG_UNIT_PROJECT;
    char number[24];
    snprintf(number, sizeof(number), "%" PRId64, place->id);
    event.department_id = is_project ? place->department_id : place->id;
    event.project_id = is_project ? place->id : 0;
    event.object_kind = is_project ? "Project" : "Department";
    event.object_name = place->name;
    event.object_uuid = number;
    return db_add_event(conn, &event, err);
}

static int add_of_unit(struct db_conn *conn, const struct place *place, const char *reason, const char *message,
                       int64_t now_ms, const char *touched, struct error *err)
{
    struct event event = {.time_ms = now_ms,
                          .type = EVENT_NORMAL,
                          .reason = reason,
                          .message = message,
                          .source = "control-plane",
                          .touched = touched};
    return add_at(conn, place, event, err);
}

static struct place place_of(const struct org_unit *unit)
{
    return (struct place){unit->kind, unit->id, unit->department_id, unit->name};
}

int org_events_add_creation(struct db_conn *conn, const struct org_unit *unit, struct error *err)
{
    char message[MESSAGE_SIZE];
    bool is_project = unit->kind == ORG_UNIT_PROJECT;
    struct place place = place_of(unit);
    if (strcmp(unit->created_by, SERVER) == 0)
        return 0;
    snprintf(message, sizeof(message), "%s created %s %s%s%s", unit->created_by, org_unit_kind_text(unit->kind),
             unit->name, is_project ? " in department " : "",
             is_project && unit->department_name ? unit->department_name : "");
    return add_of_unit(conn, &place, is_project ? "ProjectCreated" : "DepartmentCreated", message, unit->created_ms,
                       NULL, err);
}

int org_events_add_change(struct db_conn *conn, const struct org_unit *before, const struct org_unit *after,
                          const char *who, int64_t now_ms, struct arena *arena, struct error *err)
{
    struct place place = place_of(after);
    const char *what = org_unit_change_text(before, after, arena);
    if (!what)
        return 0;
    return add_of_unit(
        conn, &place, after->kind == ORG_UNIT_PROJECT ? "ProjectChanged" : "DepartmentChanged",
        arena_printf(arena, "%s changed %s %s: %s", who, org_unit_kind_text(after->kind), after->name, what), now_ms,
        NULL, err);
}

// The unit's name and place; who deletes it stands in its row.
static int find(struct db_conn *conn, enum org_unit_kind kind, int64_t id, struct arena *arena, struct place *out,
                const char **out_who, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, kind == ORG_UNIT_PROJECT ? SQL_PROJECT : SQL_DEPARTMENT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        *out = (struct place){kind, id, db_column_int(stmt, 2), db_column_text(stmt, 0, arena)};
        *out_who = db_column_text(stmt, 1, arena);
    }
    db_release(conn, stmt);
    return rc;
}

int org_events_add_deletion_wish(struct db_conn *conn, enum org_unit_kind kind, int64_t id, const char *who,
                                 int64_t now_ms, struct error *err)
{
    struct arena arena;
    struct place place;
    const char *by;
    arena_init(&arena);
    int rc = find(conn, kind, id, &arena, &place, &by, err);
    if (rc == 1)
        rc = add_of_unit(conn, &place, kind == ORG_UNIT_PROJECT ? "ProjectDeleting" : "DepartmentDeleting",
                         arena_printf(&arena, "%s deletes %s %s, which goes with its last workload", who,
                                      org_unit_kind_text(kind), place.name),
                         now_ms, NULL, err);
    arena_done(&arena);
    return rc < 0 ? -1 : 0;
}

// The change feed is told of the department: the project's row, by which rights are known, is gone.
int org_events_add_deletion(struct db_conn *conn, enum org_unit_kind kind, int64_t id, int64_t now_ms,
                            struct error *err)
{
    struct arena arena;
    struct place place;
    const char *who;
    char department[24];
    arena_init(&arena);
    int rc = find(conn, kind, id, &arena, &place, &who, err);
    if (rc == 1) {
        snprintf(department, sizeof(department), "%" PRId64, place.department_id);
        rc = add_of_unit(conn, &place, kind == ORG_UNIT_PROJECT ? "ProjectDeleted" : "DepartmentDeleted",
                         arena_printf(&arena, "%s deleted %s %s", who, org_unit_kind_text(kind), place.name), now_ms,
                         department, err);
    }
    arena_done(&arena);
    return rc < 0 ? -1 : 0;
}

static int add_of_pool(struct db_conn *conn, const struct node_pool *pool, const char *reason, const char *message,
                       int64_t now_ms, struct error *err)
{
    char number[24], touched[40];
    snprintf(number, sizeof(number), "%" PRId64, pool->id);
    snprintf(touched, sizeof(touched), "node-pool-%" PRId64, pool->id);
    struct event event = {.time_ms = now_ms,
                          .type = EVENT_NORMAL,
                          .reason = reason,
                          .message = message,
                          .source = "control-plane",
                          .object_kind = "NodePool",
                          .object_name = pool->name,
                          .object_uuid = number,
                          .touched = touched};
    return db_add_event(conn, &event, err);
}

int org_events_add_notice_once(struct db_conn *conn, const struct project_notice *notice, int64_t now_ms,
                               struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_FIND_NOTICE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, notice->since_ms);
    db_bind_int(stmt, 2, notice->project_id);
    db_bind_text(stmt, 3, notice->reason);
    db_bind_text(stmt, 4, notice->message);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    struct place place = {ORG_UNIT_PROJECT, notice->project_id, notice->department_id, notice->project_name};
    struct event event = {.time_ms = now_ms,
                          .type = EVENT_WARNING,
                          .reason = notice->reason,
                          .message = notice->message,
                          .source = "scheduler"};
    return add_at(conn, &place, event, err);
}

int org_events_add_pool_creation(struct db_conn *conn, const struct node_pool *pool, struct error *err)
{
    char message[MESSAGE_SIZE];
    if (strcmp(pool->created_by, SERVER) == 0)
        return 0;
    snprintf(message, sizeof(message), "%s created node pool %s%s%s%s%s", pool->created_by, pool->name,
             pool->label_key ? " of nodes with " : "", pool->label_key ? pool->label_key : "",
             pool->label_key ? "=" : "", pool->label_key ? pool->label_value : "");
    return add_of_pool(conn, pool, "NodePoolCreated", message, pool->created_ms, err);
}

int org_events_add_pool_change(struct db_conn *conn, const struct node_pool *before, const struct node_pool *after,
                               struct arena *arena, struct error *err)
{
    const char *what = node_pool_change_text(before, after, arena);
    if (!what || strcmp(after->updated_by, SERVER) == 0)
        return 0;
    return add_of_pool(conn, after, "NodePoolChanged",
                       arena_printf(arena, "%s changed node pool %s: %s", after->updated_by, after->name, what),
                       after->updated_ms, err);
}

int org_events_add_pool_deletion(struct db_conn *conn, const struct node_pool *pool, const char *who, int64_t now_ms,
                                 struct error *err)
{
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof(message), "%s deleted node pool %s", who, pool->name);
    return add_of_pool(conn, pool, "NodePoolDeleted", message, now_ms, err);
}

int org_events_add_renaming(struct db_conn *conn, int64_t cluster_id, const char *name, const char *who, int64_t now_ms,
                            struct error *err)
{
    struct arena arena;
    sqlite3_stmt *stmt = NULL;
    arena_init(&arena);
    int rc = db_prepare(conn, SQL_CLUSTER, &stmt, err);
    if (rc < 0)
        goto done;
    db_bind_int(stmt, 1, cluster_id);
    rc = db_step(conn, stmt, err);
    const char *before = rc == 1 ? db_column_text(stmt, 0, &arena) : name;
    struct event event = {.time_ms = now_ms,
                          .type = EVENT_NORMAL,
                          .reason = "ClusterRenamed",
                          .source = "control-plane",
                          .object_kind = "Cluster",
                          .object_name = name,
                          .object_uuid = rc == 1 ? db_column_text(stmt, 1, &arena) : ""};
    db_release(conn, stmt);
    if (rc < 0 || strcmp(before, name) == 0)
        goto done;
    event.message = arena_printf(&arena, "%s renamed cluster %s to %s", who, before, name);
    rc = db_add_event(conn, &event, err);
done:
    arena_done(&arena);
    return rc < 0 ? -1 : 0;
}
