// Whether the server is well: what /readyz, /metrics and the service manager are told. Any thread.
#pragma once
#include "db/db.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct error;
struct reconciler;

struct health {
    struct db_opening opening;
    struct db *db; // both set before is_open
    struct reconciler *reconciler;
    atomic_bool is_open; // the start is done
};

// 0, or ERROR_UNAVAILABLE with what the server waits for or what fails. context is the health.
int health_check(void *context, struct error *err);
// The database is copied or migrated.
bool health_is_migrating(const struct health *health);
// Appends the database's and the reconciler's metrics. context is the health; only after the start.
void health_write_metrics(void *context, struct buffer *out);
// The first cycle has run, or was tried: from here on it is known what works.
bool health_has_begun(const struct health *health);
// Whether the reconciler took a turn within limit_us and no transaction runs for longer. Only after the start.
bool health_goes_on(const struct health *health, int64_t limit_us);
