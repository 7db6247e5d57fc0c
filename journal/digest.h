// A digest of a whole plan: decisions, where pods stand, why workloads wait, the queues' and nodes' numbers. Two plans
// with one digest say the same in every field.
#pragma once
struct plan;
struct snapshot;

enum {
    DIGEST_SIZE = 33 // 128 bits in hexadecimal, and the end
};

void plan_digest(const struct snapshot *snapshot, const struct plan *plan, char out_digest[static DIGEST_SIZE]);
