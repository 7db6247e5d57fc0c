// Plans that were refused because they break what must always hold: what they were made from, as a snapshot for
// `prorata simulate`, and what they said. Bounded in number; the oldest go.
#pragma once
#include <stdint.h>

struct error;
struct plan;
struct snapshot;

enum {
    REFUSED_KEPT = 10
};

// Writes folder/<time>.json, the snapshot, and folder/<time>.plan.json: cause and decisions (none where plan is NULL).
int refused_keep(const char *folder, const struct snapshot *snapshot, const struct plan *plan, const char *cause,
                 struct error *err);
