// A turn that could not be written is none: the next finds all that it had found. Here, that the clock was set back.
#include "base/error.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <sqlite3.h>

// From another connection, as a full disk would come: from outside.
static void change_schema(const struct live *live, const char *sql)
{
    sqlite3 *db = NULL;
    check_int(sqlite3_open(live->path, &db), SQLITE_OK, "the database opens twice");
    check_int(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sql);
    sqlite3_close(db);
}

static void test_clock_set_back_on_a_full_disk(void)
{
    struct live live = {0};
    live_open(&live, 2, 2);
    live_add_project(&live, "team-a", 2);
    live_submit(&live, &(struct live_spec){.name = "bad",
                                           .project = "team-a",
                                           .backoff_limit = 2,
                                           .annotations = "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"1s\"},"
                                                          "{\"name\":\"prorata.io/sim-exit-code\",\"value\":\"3\"}]"});
    live_advance(&live, 2000);
    check_text(live_text(&live, "SELECT status FROM pods"), "Failed", "it waits to be tried again");
    change_schema(&live, "CREATE TRIGGER full BEFORE UPDATE ON pods BEGIN SELECT raise(ABORT, 'no space'); END");
    live.now_ms -= 3600 * 1000;
    struct error err = {0};
    bool busy;
    check_int(reconciler_turn(live.reconciler, &busy, &err), -1, "nothing can be written");
    change_schema(&live, "DROP TRIGGER full");
    live_advance(&live, 11000);
    check_int(live_number(&live, "SELECT count(*) FROM pods"), 2, "the second attempt does not wait for an hour");
    live_close(&live);
}

int main(void)
{
    test_clock_set_back_on_a_full_disk();
    return check_finish();
}
