// The writer: what was answered is on disk, a failing function undoes only itself, listeners hear of what was
// committed.
#include "base/error.h"
#include "db/db.h"
#include "tests/support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS = 8,
    ROUNDS = 50, // of each: a write, and a long one, of which each second fails
    EXPECTED = 1 + THREADS * (ROUNDS + 2 * ROUNDS / 2)
};

struct setting {
    const char *key;
    bool fail;
};

static int insert_setting(struct db_conn *conn, void *context, struct error *err)
{
    const struct setting *setting = context;
    sqlite3_stmt *stmt;
    if (db_prepare(conn, "INSERT INTO tenant_settings(key, value, updated_ms) VALUES (?1, 'v', ?2)", &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, setting->key);
    db_bind_int(stmt, 2, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch(conn, CHANGE_SETTING, setting->key);
    if (rc == 0 && setting->fail)
        return error_set(err, ERROR_CONFLICT, "told to fail");
    return rc;
}

// Two settings, of which the second may be refused.
static int insert_two(struct db_conn *conn, void *context, struct error *err)
{
    const struct setting *second = context;
    char first[32];
    snprintf(first, sizeof(first), "%s-first", second->key);
    struct setting setting = {first, false};
    return insert_setting(conn, &setting, err) < 0 ? -1 : insert_setting(conn, context, err);
}

static int64_t count_settings(struct db *db)
{
    struct db_conn *conn = db_acquire(db);
    int64_t count = -1;
    db_read_number(conn, "SELECT count(*) FROM tenant_settings", &count, NULL);
    db_give_back(db, conn);
    return count;
}

static pthread_mutex_t heard_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t heard_count, heard_revision;

static void hear(const struct db_change *changes, size_t count, void *context)
{
    (void)context;
    pthread_mutex_lock(&heard_lock);
    heard_count += (int64_t)count;
    heard_revision = changes[count - 1].revision;
    pthread_mutex_unlock(&heard_lock);
}

static void *write_many(void *context)
{
    struct db *db = context;
    static _Atomic int number;
    for (int i = 0; i < ROUNDS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "many-%d", number++);
        struct setting setting = {key, false};
        db_write(db, insert_setting, &setting, NULL);
        snprintf(key, sizeof(key), "long-%d", number++);
        db_write_long(db, insert_two, &(struct setting){key, i % 2 == 0}, NULL);
    }
    return NULL;
}

int main(void)
{
    char folder[] = "/tmp/prorata-db-XXXXXX";
    char path[64];
    struct error err = {0};
    struct db *db = NULL;
    check_true(mkdtemp(folder) != NULL, "a temporary folder");
    snprintf(path, sizeof(path), "%s/prorata.db", folder);
    check_int(db_open(&(struct db_options){.path = path}, &db, &err), 0, "open: %s", err.message);
    if (!db)
        return check_finish();
    db_add_listener(db, hear, NULL);

    check_int(db_write(db, insert_setting, &(struct setting){"a", false}, &err), 0, "insert: %s", err.message);
    check_int(db_write(db, insert_setting, &(struct setting){"b", true}, &err), -1, "a function that fails");
    check_text(err.message, "told to fail", "passes its error on");
    check_int(count_settings(db), 1, "and undoes itself");
    check_int(db_write(db, insert_setting, &(struct setting){"a", false}, &err), -1, "the same key again");
    check_int(err.code, ERROR_CONFLICT, "is a conflict");
    check_int(heard_count, 1, "listeners hear of committed changes only");

    pthread_t threads[THREADS];
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_create(&threads[i], NULL, write_many, db);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    check_int(count_settings(db), EXPECTED, "every write of many threads is there, and nothing of those that failed");
    check_int(heard_count, EXPECTED, "and was announced");
    check_int(db_last_revision(db), heard_revision, "the last revision is the last one announced");
    int64_t last = db_last_revision(db);
    db_close(db);

    check_int(db_open(&(struct db_options){.path = path}, &db, &err), 0, "open again: %s", err.message);
    check_int(count_settings(db), EXPECTED, "all is on disk");
    check_int(db_last_revision(db), last, "revisions go on where they were");
    db_close(db);

    FILE *file = fopen(path, "w");
    fputs("this is not a database, but long enough to be taken for one by a careless reader of files......", file);
    fclose(file);
    check_int(db_open(&(struct db_options){.path = path}, &db, &err), -1, "a foreign file is refused");
    check_true(strstr(err.message, path) != NULL, "and named: %s", err.message);

    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0 || check_finish();
}
