// What `prorata simulate` prints of a cycle; docs/snapshot.md, "Output".
#pragma once
#include "base/json_writer.h"
#include "scheduler/plan.h"

// One entry of `cycles`; cycle counts from 1.
void plan_write_cycle(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan,
                      int64_t cycle);
// The same with the evidence behind explanations, forecasts, and receipts of evictions.
void plan_write_explained_cycle(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan,
                                int64_t cycle);
// The value of `decisions`, in the order they were taken.
void plan_write_decisions(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan);
// The value of `final`: where pods and nodes stand.
void plan_write_final(struct json_writer *json, const struct snapshot *snapshot, const struct plan *plan);
