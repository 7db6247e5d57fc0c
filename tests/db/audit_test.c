// The chain of audit records: what is old goes from its front, and the rest still proves itself.
#include "base/arena.h"
#include "base/error.h"
#include "db/audit/heads.h"
#include "db/audit/records.h"
#include "db/audit/verify.h"
#include "db/db.h"
#include "tests/support/check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct audit_key KEY = {.secret = "a key", .id = "key"};

static struct audit_record record_of(int64_t time_ms, const char *subject)
{
    return (struct audit_record){.time_ms = time_ms,
                                 .subject_type = "User",
                                 .subject = subject,
                                 .address = "127.0.0.1",
                                 .operation = "create_project",
                                 .action = "create",
                                 .method = "POST",
                                 .url = "/api/v1/org-unit/projects",
                                 .entity_type = "project",
                                 .entity_id = "1",
                                 .entity_name = "team-a",
                                 .status = 201,
                                 .count = 1,
                                 .last_ms = time_ms,
                                 .request = "r",
                                 .details_json = "{}",
                                 .changes_json = "[]"};
}

// One record each of these times.
static int add_all(struct db_conn *conn, void *context, struct error *err)
{
    int rc = 0;
    for (const int64_t *time = context; *time && rc == 0; time++) {
        struct audit_record record = record_of(*time, "admin");
        rc = db_add_audit_record(conn, &KEY, &record, NULL, err);
    }
    return rc;
}

struct removal {
    int64_t before_ms;
    int limit;
    int64_t count;
};

static int remove_old(struct db_conn *conn, void *context, struct error *err)
{
    struct removal *removal = context;
    return db_remove_audit_records(conn, &KEY, removal->before_ms, 9999, removal->limit, &removal->count, err);
}

static int64_t remove_before(struct db *db, int64_t before_ms, int limit)
{
    struct removal removal = {.before_ms = before_ms, .limit = limit};
    struct error err = {0};
    check_int(db_write(db, remove_old, &removal, &err), 0, "removed: %s", err.message);
    return removal.count;
}

static void check_whole(struct db *db, int64_t first, int64_t last, const char *what)
{
    struct arena arena;
    struct audit_verdict verdict;
    struct error err = {0};
    struct audit_heads none = {0};
    arena_init(&arena);
    struct db_conn *conn = db_acquire(db);
    check_int(audit_verify(conn, &KEY, &none, &arena, &verdict, &err), 0, "%s: %s", what, err.message);
    check_text(verdict.problem ? verdict.problem : "", "", "%s", what);
    check_int(verdict.first_seq, first, "%s: the first", what);
    check_int(verdict.last_seq, last, "%s: the last", what);
    db_give_back(db, conn);
    arena_done(&arena);
}

static void test_retention(struct db *db)
{
    struct error err = {0};
    check_int(db_write(db, add_all, (int64_t[]){10, 20, 30, 25, 40, 50, 0}, &err), 0, "added: %s", err.message);
    check_whole(db, 1, 6, "all of them");
    check_int(remove_before(db, 10, 100), 0, "nothing is older");
    check_int(remove_before(db, 26, 1), 1, "a step takes no more than its limit");
    check_whole(db, 2, 6, "without the first");
    check_int(remove_before(db, 26, 100), 1, "a record behind a newer one stays: the chain is cut at its front");
    check_whole(db, 3, 6, "without two");
    check_int(remove_before(db, 1000, 100), 4, "all that is left");
    check_whole(db, 0, 6, "only the beginning is left");
    check_int(db_write(db, add_all, (int64_t[]){60, 70, 0}, &err), 0, "added: %s", err.message);
    check_whole(db, 7, 8, "numbers go on");
}

struct companion_log {
    int64_t runs;
    bool fails;
};

static int accompany(struct db_conn *conn, const struct db_change *changes, size_t count, void *context,
                     struct error *err)
{
    struct companion_log *log = context;
    struct audit_record record = record_of(80, count > 0 ? changes[0].id : "nothing touched");
    log->runs++;
    if (log->fails)
        return error_set(err, ERROR_CONFLICT, "no record");
    return db_add_audit_record(conn, &KEY, &record, NULL, err);
}

static int touch(struct db_conn *conn, void *context, struct error *err)
{
    (void)err;
    db_touch(conn, CHANGE_WORKLOAD, context);
    return 0;
}

static int refuse(struct db_conn *conn, void *context, struct error *err)
{
    db_touch(conn, CHANGE_WORKLOAD, context);
    return error_set(err, ERROR_INVALID, "refused");
}

// A change and its record are one.
static void test_companion(struct db *db)
{
    struct companion_log log = {0};
    struct db_companion companion = {.fn = accompany, .context = &log};
    struct error err = {0};
    db_accompany(db, &companion);
    check_int(db_write(db, touch, "w", &err), 0, "changed: %s", err.message);
    check_int(companion.committed, 1, "with its record");
    check_int(db_write(db, refuse, "w", &err), -1, "what is refused");
    check_int(log.runs, 1, "has none");
    check_int(db_write_alone(db, touch, "w", &err), 0, "what is kept beside the change");
    check_int(log.runs, 1, "has none either");
    log.fails = true;
    check_int(db_write(db, touch, "w", &err), -1, "no record, no change");
    check_text(err.message, "no record", "and its reason");
    check_int(companion.committed, 1, "only the first is on disk");
    db_accompany(db, NULL);
    check_int(db_write(db, touch, "w", &err), 0, "nothing goes with it any more");
    check_int(log.runs, 2, "not even this");
    check_whole(db, 7, 9, "the chain has one record more");
}

int main(void)
{
    char folder[] = "/tmp/prorata-audit-XXXXXX", path[64];
    struct db *db;
    struct error err = {0};
    check_true(sodium_init() >= 0 && mkdtemp(folder), "a folder");
    snprintf(path, sizeof(path), "%s/prorata.db", folder);
    check_int(db_open(&(struct db_options){.path = path}, &db, &err), 0, "opens: %s", err.message);
    test_retention(db);
    test_companion(db);
    db_close(db);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0 || check_finish();
}
