// Questions to the scheduler about the present: what would happen if, who is next, how the shares came about.
//
// The present is the snapshot of the latest cycle with that cycle's plan carried out, as the next cycle would see it.
// It shares everything else with the published view, so that asking stops nobody. A question plans cycles on the
// caller's thread: only so many may be asked at once.
#pragma once
#include "reconciler/present.h"
#include "scheduler/ask/queue_question.h"
#include "scheduler/ask/quota_change.h"
#include "scheduler/ask/share_question.h"
#include "scheduler/ask/what_if.h"

struct org_unit;
struct place_claim; // base/places.h

// ERROR_UNAVAILABLE before the first cycle and where too many ask at once. After 0, present_close is due. Any thread.
int present_open(struct reconciler *reconciler, const struct place_claim *claim, struct present *out_present,
                 struct error *err);
void present_close(struct present *present);

// What would happen to a workload that the submission makes. out_workload is the workload asked about.
int present_what_if(struct present *present, const struct submission *submission, bool wants_fixes,
                    const struct snapshot_workload **out_workload, struct what_if_answer **out_answer,
                    struct error *err);
// The same for a workload's row. ERROR_CONFLICT where it does not wait.
int present_what_if_again(struct present *present, int64_t workload_id, bool wants_fixes,
                          const struct snapshot_workload **out_workload, struct what_if_answer **out_answer,
                          struct error *err);
// What it leads to if projects and departments have these queues: each unit has kind, id and queues. ERROR_UNAVAILABLE
// where the present does not know one of them yet. No further cycle begins after ten seconds.
int present_what_if_quota(struct present *present, const struct org_unit *units, size_t count,
                          struct quota_answer *out_answer, struct error *err);
// node_pool is an index.
int present_queue_order(struct present *present, uint32_t node_pool, struct queue_listing **out_listing,
                        struct error *err);
int present_share_tree(struct present *present, uint32_t node_pool, enum resource resource,
                       struct share_tree **out_tree, struct error *err);
