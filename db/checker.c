#include "db/checker.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"

#include <string.h>

static int list_tables(struct db_conn *conn, struct arena *arena, const char ***out_names, size_t *out_count,
                       struct error *err)
{
    static const char SQL[] = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    const char **names = NULL;
    size_t count = 0, capacity = 0;
    sqlite3_stmt *stmt;
    int rc;
    if (db_prepare(conn, SQL, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        names = arena_grow(arena, names, &capacity, count + 1, sizeof(*names));
        names[count++] = db_column_text(stmt, 0, arena);
    }
    db_release(conn, stmt);
    *out_names = names;
    *out_count = count;
    return rc < 0 ? -1 : 0;
}

static int check_table(struct db_conn *conn, const char *name, struct arena *arena, struct error *err)
{
    static const char SQL[] = "SELECT quick_check FROM pragma_quick_check(?1)";
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, name);
    int rc = db_step(conn, stmt, err);
    const char *text = rc > 0 ? db_column_text(stmt, 0, arena) : "ok";
    db_release(conn, stmt);
    if (rc >= 0 && text && strcmp(text, "ok") != 0) {
        atomic_store(&conn->health->is_damaged, true);
        rc = error_set(err, ERROR_INTERNAL, "%s", text);
    }
    return rc < 0 ? -1 : 0;
}

static void *checker_main(void *context)
{
    struct checker *checker = context;
    struct arena arena;
    struct error err = {0};
    const char **names;
    size_t count = 0;
    arena_init(&arena);
    int rc = list_tables(&checker->conn, &arena, &names, &count, &err);
    for (size_t i = 0; i < count && rc == 0 && !atomic_load(&checker->stopping); i++)
        rc = check_table(&checker->conn, names[i], &arena, &err);
    if (rc < 0 && !atomic_load(&checker->stopping)) {
        char text[LOG_TEXT_SIZE];
        log_write(LOG_ERROR, "db", "the check of the database found damage; prorata verify says more cause=%s",
                  log_text(err.message, text));
    }
    arena_done(&arena);
    return NULL;
}

int checker_start(struct checker *checker, const char *path, struct db_health *health, struct error *err)
{
    if (connection_open(&checker->conn, path, true, err) < 0)
        return -1;
    checker->conn.health = health;
    int rc = pthread_create(&checker->thread, NULL, checker_main, checker);
    if (rc != 0) {
        connection_close(&checker->conn);
        return error_set(err, ERROR_INTERNAL, "cannot start the thread that checks the database: %s", strerror(rc));
    }
    checker->started = true;
    return 0;
}

void checker_stop(struct checker *checker)
{
    if (!checker->started)
        return;
    atomic_store(&checker->stopping, true);
    sqlite3_interrupt(checker->conn.handle);
    pthread_join(checker->thread, NULL);
    connection_close(&checker->conn);
    checker->started = false;
}
