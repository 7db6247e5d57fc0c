// The audit's thread, which looks after the chain of records: it writes what was refused, signs heads, and removes what
// is too old, on no request's time.
#pragma once
#include <stdint.h>

struct audit; // api/audit/audit.h
struct db;
struct error;

struct audit_options {
    struct db *db;
    const char *data; // the folder: DATA/keys/audit.key, DATA/audit.heads
    int64_t keep_ms;
};

// Reads or makes the key, says in the log where the last head contradicts the database, and starts the thread. The
// caller owns *out_audit.
int audit_open(const struct audit_options *options, struct audit **out_audit, struct error *err);
// Writes what waits, and the last head. NULL is fine.
void audit_close(struct audit *audit);
