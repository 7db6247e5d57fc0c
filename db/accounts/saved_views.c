#include "db/accounts/saved_views.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

static const char SQL_LIST[] = "SELECT uuid, page, name, query, created_ms, updated_ms FROM saved_views"
                               " WHERE user_id = :user_id AND (:page IS NULL OR page = :page) ORDER BY page, name";
static const char SQL_INSERT[] = "INSERT INTO saved_views (uuid, user_id, page, name, query, created_ms, updated_ms)"
                                 " SELECT :uuid, :user_id, :page, :name, :query, :created_ms, :updated_ms"
                                 " WHERE (SELECT count(*) FROM saved_views WHERE user_id = :user_id) < :most";
static const char SQL_UPDATE[] = "UPDATE saved_views SET page = :page, name = :name, query = :query,"
                                 " updated_ms = :updated_ms WHERE uuid = :uuid AND user_id = :user_id"
                                 " RETURNING created_ms";
static const char SQL_DELETE[] = "DELETE FROM saved_views WHERE uuid = :uuid AND user_id = :user_id";

int db_list_saved_views(struct db_conn *conn, int64_t user_id, const char *page, struct arena *arena,
                        struct saved_view **out_views, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt;
    struct saved_view *views = arena_array(arena, SAVED_VIEWS_MAX, sizeof(*views));
    size_t count = 0;
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", user_id);
    db_set_text(stmt, ":page", page);
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1 && count < SAVED_VIEWS_MAX)
        views[count++] = (struct saved_view){
            .uuid = db_column_text(stmt, 0, arena),
            .user_id = user_id,
            .page = db_column_text(stmt, 1, arena),
            .name = db_column_text(stmt, 2, arena),
            .query = db_column_text(stmt, 3, arena),
            .created_ms = db_column_int(stmt, 4),
            .updated_ms = db_column_int(stmt, 5),
        };
    db_release(conn, stmt);
    *out_views = views;
    *out_count = count;
    return rc < 0 ? -1 : 0;
}

static void set_view(sqlite3_stmt *stmt, const struct saved_view *view)
{
    db_set_text(stmt, ":uuid", view->uuid);
    db_set_int(stmt, ":user_id", view->user_id);
    db_set_text(stmt, ":page", view->page);
    db_set_text(stmt, ":name", view->name);
    db_set_text(stmt, ":query", view->query);
    db_set_int(stmt, ":updated_ms", view->updated_ms);
}

static int refuse(const struct saved_view *view, const struct error *cause, struct error *err)
{
    if (cause->code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "name: you already have a view %.100s", view->name);
    if (err)
        *err = *cause;
    return -1;
}

static int create(struct db_conn *conn, void *context, struct error *err)
{
    const struct saved_view *view = context;
    sqlite3_stmt *stmt;
    struct error cause = {0};
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    set_view(stmt, view);
    db_set_int(stmt, ":created_ms", view->created_ms);
    db_set_int(stmt, ":most", SAVED_VIEWS_MAX);
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0)
        return refuse(view, &cause, err);
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_CONFLICT, "views: you have %d, the most there may be; delete one first",
                         SAVED_VIEWS_MAX);
    return 0;
}

int db_create_saved_view(struct db *db, const struct saved_view *view, struct error *err)
{
    struct saved_view copy = *view;
    return db_write(db, create, &copy, err);
}

static int change(struct db_conn *conn, void *context, struct error *err)
{
    struct saved_view *view = context;
    sqlite3_stmt *stmt;
    struct error cause = {0};
    if (db_prepare(conn, SQL_UPDATE, &stmt, err) < 0)
        return -1;
    set_view(stmt, view);
    int rc = db_step(conn, stmt, &cause);
    if (rc == 1)
        view->created_ms = db_column_int(stmt, 0);
    db_release(conn, stmt);
    if (rc < 0)
        return refuse(view, &cause, err);
    return rc == 1 ? 0 : error_set(err, ERROR_NOT_FOUND, "view %.60s: not found", view->uuid);
}

int db_change_saved_view(struct db *db, struct saved_view *view, struct error *err)
{
    return db_write(db, change, view, err);
}

static int delete (struct db_conn *conn, void *context, struct error *err)
{
    const struct saved_view *view = context;
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", view->uuid);
    db_set_int(stmt, ":user_id", view->user_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "view %.60s: not found", view->uuid);
    return rc;
}

int db_delete_saved_view(struct db *db, int64_t user_id, const char *uuid, struct error *err)
{
    struct saved_view view = {.uuid = uuid, .user_id = user_id};
    return db_write(db, delete, &view, err);
}
