// Reads the journal: which cycles there are, and any of them as it was. While the server runs, or when it does not;
// nothing is changed.
#pragma once
#include "journal/digest.h"
#include "scheduler/snapshot.h"

struct arena;
struct error;

struct journal_row {
    int64_t cycle;
    int64_t time_ms;
    int64_t plan_us;
    int64_t decision_count;
};

// Cycles of these times, both included, in the order they were written. The list is the arena's. The only error: the
// folder has no segment.
int journal_list(const char *folder, int64_t from_ms, int64_t to_ms, struct arena *arena, struct journal_row **out_rows,
                 size_t *out_count, struct error *err);

// The same one by one, with what each decided (JSON, as `prorata simulate` prints it).
int journal_visit(const char *folder, int64_t from_ms, int64_t to_ms,
                  void (*visit)(const struct journal_row *row, const char *decisions, void *context), void *context,
                  struct error *err);

struct recorded_cycle {
    struct journal_row row;
    const char *version;            // of the program that wrote it
    struct plan_digests digests;    // of its plan; blank in a segment of the first format, which has
    char whole_digest[DIGEST_SIZE]; // this one; else blank
    const char *decisions;          // JSON, as `prorata simulate` prints it
    const struct snapshot *snapshot;
};

// The cycle of that number, or with cycle 0 the last one at that time or before it. All of it is the arena's.
// ERROR_NOT_FOUND says which cycles there are.
int journal_find(const char *folder, int64_t cycle, int64_t at_ms, struct arena *arena,
                 struct recorded_cycle *out_cycle, struct error *err);

// What cannot be read, a sentence for each segment with such a place, with a line's end behind each; NULL: nothing. The
// text is the arena's. Reads every byte.
const char *journal_damage(const char *folder, struct arena *arena);
