// The ring of changes: whole revisions in order, and the truth about what it no longer holds.
#include "api/http/change_feed.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// A write function that touches so many things under one revision.
static int touch(struct db_conn *conn, void *context, struct error *err)
{
    (void)err;
    db_revision(conn);
    for (int i = 0; i < *(const int *)context; i++)
        db_touch_number(conn, CHANGE_PROJECT, i);
    return 0;
}

static void write_changes(struct db *db, int count)
{
    check_int(db_write(db, touch, &count, NULL), 0, "write %d changes", count);
}

static void check_order(struct change_feed *feed, struct db *db)
{
    static struct db_change changes[16];
    size_t count;
    int64_t start = change_feed_last(feed);
    check_int(start, db_last_revision(db), "the feed begins where the database is");
    check_true(change_feed_read(feed, start, changes, 16, &count) && count == 0, "nothing has changed");
    check_true(!change_feed_wait(feed, start, 1), "nothing comes");
    write_changes(db, 3);
    write_changes(db, 2);
    check_true(change_feed_wait(feed, start, 1000), "something came");
    check_true(change_feed_read(feed, start, changes, 16, &count), "all of it is here");
    check_int((int64_t)count, 5, "changes of two revisions");
    check_int(changes[0].revision, start + 1, "the oldest first");
    check_int(changes[4].revision, start + 2, "the newest last");
    check_text(changes[3].id, "0", "with their ids");
    check_true(change_feed_read(feed, start + 1, changes, 16, &count) && count == 2, "what is newer than the first");
    check_true(change_feed_read(feed, start + 2, changes, 16, &count) && count == 0, "what is newer than the last");
}

static void check_bounds(struct change_feed *feed, struct db *db)
{
    static struct db_change changes[CHANGE_FEED_SIZE];
    size_t count;
    int64_t start = change_feed_last(feed);
    write_changes(db, 3);
    write_changes(db, 3);
    check_true(change_feed_read(feed, start, changes, 4, &count) && count == 3, "a revision is not cut in two");
    check_true(!change_feed_read(feed, start, changes, 2, &count), "a revision larger than what is read: begin again");
    check_true(!change_feed_read(feed, start + 1000, changes, 4, &count), "a revision of the future: begin again");
    write_changes(db, CHANGE_FEED_SIZE - 6);
    check_true(change_feed_read(feed, start, changes, CHANGE_FEED_SIZE, &count), "a full ring holds all");
    check_int((int64_t)count, CHANGE_FEED_SIZE, "as many as it has places");
    write_changes(db, 1);
    check_true(!change_feed_read(feed, start, changes, CHANGE_FEED_SIZE, &count), "one more: the oldest is gone");
    check_true(change_feed_read(feed, start + 1, changes, CHANGE_FEED_SIZE, &count), "the next revision is whole");
    check_int(changes[0].revision, start + 2, "and is the first that is read");
    check_true(!change_feed_read(feed, 0, changes, CHANGE_FEED_SIZE, &count), "from the beginning: begin again");
}

int main(void)
{
    char folder[] = "/tmp/prorata-feed-XXXXXX";
    char path[64];
    struct error err = {0};
    struct db *db = NULL;
    check_true(mkdtemp(folder) != NULL, "a temporary folder");
    snprintf(path, sizeof(path), "%s/prorata.db", folder);
    check_int(db_open(&(struct db_options){.path = path}, &db, &err), 0, "open: %s", err.message);
    if (!db)
        return check_finish();
    struct change_feed *feed = change_feed_create(db);
    check_order(feed, db);
    check_bounds(feed, db);
    db_close(db);
    change_feed_destroy(feed);
    unlink(path);
    rmdir(folder);
    return check_finish();
}
