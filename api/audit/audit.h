// The audit of one server: its key, and what was refused lately. One a server; keeper.h makes it.
//
// A change carries its record in its own transaction (recorder.h). What was refused is written behind, within a second,
// and folded: of the tries that are alike (subject, address, operation, status) the first of a minute has a record, and
// the others of that minute have one together, with their count. New kinds of tries beyond a number a minute are
// counted in one record for all. So a flood costs little, and what is kept of it is bounded.
#pragma once
#include "db/audit/records.h"

#include <pthread.h>
#include <stdbool.h>

struct db;

enum {
    REFUSALS_MAX = 1024,      // kinds of tries at once
    REFUSALS_NEW_MAX = 60,    // a minute, of callers that nobody knows
    REFUSALS_KNOWN_MAX = 600, // of those that are known
    REFUSALS_FOLD_MS = 60000
};

// A record that waits, with its texts in one piece of memory.
struct refusal {
    struct audit_record record;        // count: of tries that have no record yet
    const char *scope_type, *scope_id; // NULL: nowhere below
    char *texts;
    int64_t began_ms;
    bool is_told; // the first has its record
    bool is_over; // no other is folded into it
};

struct audit {
    struct db *db;
    struct audit_key key;
    char *data;
    int64_t keep_ms;
    pthread_t keeper;
    pthread_mutex_t lock; // of all below
    pthread_cond_t work;
    bool is_stopping, has_keeper;
    struct refusal refusals[REFUSALS_MAX];
    size_t refusal_count;
    int64_t minute_ms; // when the present minute of new ones began
    int new_count, known_count;
    int64_t overflow_count; // tries beyond the bounds, without a record yet
};

// Hands over a refused try; the texts are copied. Never waits for the disk.
void audit_refuse(struct audit *audit, const struct audit_record *record, const char *scope_type, const char *scope_id);
