// Digests of a whole plan: one of what was decided, one of all words. Decided are the decisions in their order (verb,
// pod, node, devices, beneficiary, receipt), where pods stand, the codes and figures of why workloads wait, the queues'
// and nodes' figures. Words are the sentences about all that. Two plans with equal digests say the same in every field.
#pragma once
struct plan;
struct snapshot;

enum {
    DIGEST_SIZE = 33 // 128 bits in hexadecimal, and the end
};

struct plan_digests {
    char decided[DIGEST_SIZE];
    char words[DIGEST_SIZE];
};

void digest_plan(const struct snapshot *snapshot, const struct plan *plan, struct plan_digests *out_digests);
// The one digest of both, as segments of the first format hold it (segment.h).
void digest_plan_whole(const struct snapshot *snapshot, const struct plan *plan, char out_digest[static DIGEST_SIZE]);
