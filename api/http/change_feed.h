// What has changed lately, for event streams: a ring of the database's changes. The writer thread adds to it after each
// commit; streams read it from a revision on and wait for more.
#pragma once
#include "db/db.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CHANGE_FEED_SIZE = 8192
};

struct change_feed;

// Listens to db from now on: to be made before others use the database. Nobody may read any more when it is destroyed;
// the database must be closed before.
struct change_feed *change_feed_create(struct db *db);
void change_feed_destroy(struct change_feed *feed); // NULL is fine

// Copies changes with revisions above `after`, oldest first, at most maximum and only whole revisions. False where the
// reader must begin again at change_feed_last: the ring no longer holds all of them, or one revision alone is more than
// maximum.
bool change_feed_read(struct change_feed *feed, int64_t after, struct db_change *out_changes, size_t maximum,
                      size_t *out_count);
// Waits until there is a revision above `after`, at most wait_ms. True where there is one.
bool change_feed_wait(struct change_feed *feed, int64_t after, int64_t wait_ms);
int64_t change_feed_last(struct change_feed *feed);
// Wakes all who wait: the server stops.
void change_feed_wake(struct change_feed *feed);
