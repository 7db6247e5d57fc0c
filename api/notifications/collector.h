// From what happened to deliveries: what lies behind the cursor, for each person whose subscriptions it meets.
#pragma once
#include "db/notifications/outbox.h"

#include <stdbool.h>
#include <stdint.h>

struct db;
struct error;

struct collector {
    struct db *db;
    int64_t per_hour;
    struct notification_cursor cursor; // ahead of the one on disk by what concerned nobody
    bool has_cursor;
};

// One step, at most NOTIFICATION_SOURCES_MAX of each kind. out_has_more: there may be more to do at once.
int collector_step(struct collector *collector, int64_t now_ms, bool *out_has_more, struct error *err);
