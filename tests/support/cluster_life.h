// A cluster lives through some cycles while the invariants are watched.
#pragma once
#include "tests/support/invariants.h"
#include <jansson.h>

enum {
    RESTLESS_CYCLES = 24, // after so many a cluster that stands still has come to rest
    LIFE_CYCLES = RESTLESS_CYCLES + 3
};

struct life {
    uint32_t running_pods; // in the end, or when it broke a rule
    bool rests;            // nothing was evicted after the first RESTLESS_CYCLES
    unsigned decisions;    // in all cycles
    unsigned evictions;
};

// Whether all rules held. prints: each decision on standard output.
bool cluster_live(const struct snapshot *snapshot, int cycles, bool prints, struct life *out_life,
                  struct breach *out_breach);
// The same for a document (docs/snapshot.md). false and a breach without a rule where it is no snapshot.
bool cluster_live_document(const json_t *document, int cycles, bool prints, struct life *out_life,
                           struct breach *out_breach);
// What simulate prints of some cycles over the document, to be freed; NULL where it is no snapshot.
char *cluster_text(const json_t *document, int cycles);
