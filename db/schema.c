#include "db/schema.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/connection.h"
#include "db/migrations.h"

#include <string.h>

struct object {
    const char *type, *name, *table;
    const char *sql;
};

struct objects {
    struct object *items; // by type and name
    size_t count;
};

static int list_objects(struct db_conn *conn, struct arena *arena, struct objects *out, struct error *err)
{
    // Indexes without a text follow from their table's. What the planner knows comes and goes (statistics.h).
    static const char SQL[] = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE CASE type WHEN "
                              "'index' THEN sql IS NOT NULL WHEN 'table' THEN name NOT IN ('sqlite_stat1', "
                              "'sqlite_stat4') ELSE true END ORDER BY type, name, tbl_name, sql";
    struct objects objects = {0};
    size_t capacity = 0;
    sqlite3_stmt *stmt;
    int rc;
    if (db_prepare_once(conn, SQL, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        objects.items = arena_grow(arena, objects.items, &capacity, objects.count + 1, sizeof(*objects.items));
        struct object *object = &objects.items[objects.count++];
        const char **const texts[] = {&object->type, &object->name, &object->table, &object->sql};
        for (int i = 0; i < 4; i++) {
            const char *text = db_column_text(stmt, i, arena);
            *texts[i] = text ? text : "";
        }
    }
    db_release(conn, stmt);
    *out = objects;
    return rc < 0 ? -1 : 0;
}

static int make_objects(int64_t version, struct arena *arena, struct objects *out, struct error *err)
{
    struct db_conn conn;
    if (connection_open(&conn, ":memory:", false, err) < 0)
        return -1;
    int rc = connection_exec(&conn, "PRAGMA foreign_keys=OFF", err);
    for (size_t i = 0; rc == 0 && i < MIGRATION_COUNT && MIGRATIONS[i].number <= version; i++)
        rc = connection_exec(&conn, MIGRATIONS[i].sql, err);
    if (rc == 0)
        rc = list_objects(&conn, arena, out, err);
    connection_close(&conn);
    return rc;
}

static int compare_names(const struct object *a, const struct object *b)
{
    int order = strcmp(a->type, b->type);
    return order ? order : strcmp(a->name, b->name);
}

// <0: the file lacks it; >0: the file has it more.
static const char *tell(int order, const struct object *object, struct arena *arena)
{
    bool is_part = strcmp(object->table, object->name) != 0;
    const char *what = arena_printf(arena, "%s %s%s%s", object->type, object->name, is_part ? " of " : "",
                                    is_part ? object->table : "");
    const char *form = order < 0   ? "the schema lacks the %s"
                       : order > 0 ? "the schema has the %s, which no migration makes"
                                   : "the schema has the %s otherwise than the migrations make it";
    return arena_printf(arena, form, what);
}

int schema_compare(struct db_conn *conn, int64_t version, struct arena *arena, const char **problems, size_t max,
                   size_t *out_count, struct error *err)
{
    struct objects made, found;
    size_t count = 0;
    if (make_objects(version, arena, &made, err) < 0 || list_objects(conn, arena, &found, err) < 0)
        return -1;
    for (size_t i = 0, j = 0; (i < made.count || j < found.count) && count < max;) {
        const struct object *wanted = i < made.count ? &made.items[i] : NULL;
        const struct object *there = j < found.count ? &found.items[j] : NULL;
        int order = !there ? -1 : !wanted ? 1 : compare_names(wanted, there);
        if (order != 0 || strcmp(wanted->sql, there->sql) != 0 || strcmp(wanted->table, there->table) != 0)
            problems[count++] = tell(order, order < 0 ? wanted : there, arena);
        i += order <= 0;
        j += order >= 0;
    }
    *out_count = count;
    return 0;
}
