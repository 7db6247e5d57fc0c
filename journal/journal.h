// The journal: what each cycle saw and decided, kept on disk for a while, so that any of them can be run again.
//
// A folder of segments (segment.h). A segment begins with a whole snapshot; each record after it holds what changed
// since the one before, the decisions, how long planning took, and two digests of the whole plan, of what was decided
// and of the words. A new segment begins when the changes have grown beyond the snapshot, and the oldest go when the
// folder is too old or too large.
//
// A thread of its own does the work: journal_add only hands the cycle over. Where that thread cannot follow, the caller
// waits for it, a second at most; then the cycle is missed, and the next record says what changed since the last kept
// one. A disk that refuses stops the journal, not the caller: it is tried again each minute with a new segment.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct journal;
struct plan;
struct snapshot;

struct journal_options {
    const char *folder;
    int64_t keep_ms;     // how long a cycle is kept at least, where the bound allows it
    int64_t bound_bytes; // of all segments; a snapshot larger than a quarter of it is kept nevertheless
};

// Creates the folder where it is missing, takes a torn end off the last segment, starts the thread.
int journal_open(const struct journal_options *options, int64_t now_ms, struct journal **out_journal,
                 struct error *err);
// Writes what was handed over, then ends. NULL is fine.
void journal_close(struct journal *journal);
// The number of the last cycle in the folder when it was opened; 0: none. Numbers go on from there.
int64_t journal_last_cycle(const struct journal *journal);

const char *journal_folder(const struct journal *journal);

struct journal_cycle {
    int64_t cycle;
    int64_t plan_us;
    const struct snapshot *snapshot; // its node pools, nodes, departments and projects are `world`'s
    const struct plan *plan;
    uint64_t world; // not 0; the same number in two cycles: the same organisation and nodes, but for usage
    void *owner;    // of all these; release(owner) is called on the journal's thread when it is done with them
    void (*release)(void *owner);
};
void journal_add(struct journal *journal, const struct journal_cycle *cycle);
// Returns when all that was handed over is in the file, or was missed.
void journal_flush(struct journal *journal);

struct journal_stats {
    int64_t cycles;        // written since the start
    int64_t missed_cycles; // not written: the disk refused, or the thread could not follow
    int64_t written_bytes; // since the start
    int64_t kept_bytes;    // in the folder
    int64_t segments;      // in the folder
    int64_t busy_us;       // of the thread
    bool is_stopped;       // the disk refuses
    char cause[256];       // why, where it is stopped
};
void journal_get_stats(struct journal *journal, struct journal_stats *out_stats); // any thread
