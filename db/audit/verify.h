// Reads the whole chain of audit records and says where it breaks: a record that was changed, added or taken away.
//
// What it proves: who cannot read the key has changed nothing between the base and the last head. What it cannot:
// records after the last head that are gone from the end; a database put back together with an older file of heads (the
// log has them too); anything by who holds the key.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct audit_key;
struct audit_heads;
struct db_conn;
struct error;

struct audit_verdict {
    int64_t first_seq, last_seq; // of the records that are there; 0: none
    int64_t record_count;
    int64_t head_count;       // heads that the records bear out
    const char *problem;      // the first; NULL: none. In the arena
    const char *last_mac_hex; // of the last record, to compare with the log
};

// heads were read before, so that those of a running server are not ahead of what is read here. O(records).
int audit_verify(struct db_conn *conn, const struct audit_key *key, const struct audit_heads *heads,
                 struct arena *arena, struct audit_verdict *out_verdict, struct error *err);
