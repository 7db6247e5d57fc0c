// Heads: where the chain of audit records ended at a time, signed, in a file beside the database. Who takes records
// away from the end, or puts an older database in place, contradicts a head. A line each:
//
//     2026-01-01T12:00:00.000Z 812 MAC SIGNATURE
#pragma once
#include "db/audit/chain.h"

struct arena;
struct error;

#define AUDIT_HEADS_FILE "audit.heads"

struct audit_head {
    int64_t time_ms;
    struct audit_mark mark;
    unsigned char signature[AUDIT_MAC_SIZE];
};

struct audit_heads {
    struct audit_head *items; // in the order of the file
    size_t count;
    size_t bad_line; // the first that is no head; 0: none is
};

// Appends the present end of the chain to DIR/audit.heads and syncs it; lines from before oldest_ms go. The file has
// mode 0600. ERROR_UNAVAILABLE where the disk refuses.
int audit_heads_add(const char *folder, const struct audit_key *key, const struct audit_mark *mark, int64_t now_ms,
                    int64_t oldest_ms, struct error *err);
// Reads the file; none is no head. Signatures are the caller's to check. In the arena.
int audit_heads_read(const char *folder, struct arena *arena, struct audit_heads *out_heads, struct error *err);
