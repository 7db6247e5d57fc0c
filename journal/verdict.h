// Whether a recorded cycle, planned again, comes out as it did: equal in every word, decided alike in other words, or
// decided differently.
//
// The recorded decisions are compared one by one, but for `why`; all else by its digests. A segment of the first format
// has one digest of figures and words together. Where it differs, alike means the decisions alone, for the rest may
// differ in words or in figures.
#pragma once
#include "journal/digest.h"
#include <stddef.h>

struct plan;
struct recorded_cycle;

enum verdict_kind {
    VERDICT_EQUAL,
    VERDICT_ALIKE,
    VERDICT_DIFFERENT
};

struct verdict {
    enum verdict_kind kind;
    const char *word;               // of the kind, for people
    const char *sentence;           // what differs; NULL: nothing
    size_t decision;                // the first that differs; SIZE_MAX: none does
    struct plan_digests digests;    // of the plan made now; blank where the record has one digest, then there is
    char whole_digest[DIGEST_SIZE]; // this one; else blank
};

// decisions: the plan's, as plan_write_decisions has them.
struct verdict verdict_of(const struct recorded_cycle *recorded, const struct plan *plan, const char *decisions);
