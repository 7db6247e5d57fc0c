// Writes explanations, forecasts, receipts, what-if answers, fair-share trees and queue orders as JSON: one form for
// the API, the command line and what is stored. docs/snapshot.md, "Why".
#pragma once
#include "scheduler/ask/queue_question.h"
#include "scheduler/ask/quota_change.h"
#include "scheduler/ask/share_question.h"
#include "scheduler/ask/what_if.h"
#include "scheduler/plan.h"
struct arena;
struct buffer;
struct json_writer;

// How things are called outside. A function that is NULL, or an id that is: names are the snapshot's, ids are left out.
struct why_names {
    const struct snapshot *snapshot;
    // What the reader may see of a workload: its name, or words that tell nothing.
    const char *(*workload_name)(void *context, uint32_t workload);
    const char *(*workload_id)(void *context, uint32_t workload); // NULL: null
    // What the reader may see of a sentence, in which projects and departments may be named.
    const char *(*sentence)(void *context, const char *text);
    // Of a project, department or node pool.
    const char *(*node_id)(void *context, enum share_node_kind kind, uint32_t index);
    void *context;
};

// An object: code, message, ... of the workload (for the names of its sub-groups; may be NULL):
// queue, nodeReasons, progress, reclaim, protectedUntil.
void why_write_explanation(struct json_writer *json, const struct why_names *names,
                           const struct plan_explanation *explanation, const struct snapshot_workload *workload);
// Why a workload waits, as an object without its closing brace, so that equal explanations are equal texts whatever
// time is put behind them: sentence, why, code, pool, forecast, nodePools. Names keep their marks: who reads it is told
// some.
void why_write_waiting(struct buffer *out, const struct snapshot *snapshot, const struct plan_workload *planned,
                       const struct snapshot_workload *workload, struct arena *arena);
// An object: kind, at, sentence.
void why_write_forecast(struct json_writer *json, const struct why_names *names, const struct plan_forecast *forecast);
// Members of the open object, without id and time. The decision is an eviction with a receipt.
void why_write_receipt(struct json_writer *json, const struct why_names *names, const struct plan_decision *decision);
// A value: one side of a receipt; null where there is none.
void why_write_receipt_side(struct json_writer *json, const struct why_names *names,
                            const struct plan_receipt_side *side);
// Members of the open object, without verifiedAt and cycle.
void why_write_what_if(struct json_writer *json, const struct why_names *names, const struct what_if_answer *answer,
                       const struct snapshot_workload *workload);
// Members of the open object, without verifiedAt and cycle. At most 200 workloads are listed.
void why_write_quota(struct json_writer *json, const struct why_names *names, const struct quota_answer *answer);
// An object.
void why_write_share_tree(struct json_writer *json, const struct why_names *names, const struct share_tree *tree);
// An object with the entries offset to offset + limit - 1.
void why_write_queue_order(struct json_writer *json, const struct why_names *names, const struct queue_listing *listing,
                           size_t offset, size_t limit);

// Inside: an amount in the resource's unit (GPUs, cores, bytes), null where unlimited; the GPUs of a
// queue; a workload by name and id.
void why_write_amount(struct json_writer *json, const char *key, enum resource resource, int64_t amount);
void why_write_numbers(struct json_writer *json, const char *key, const struct plan_queue *queue);
void why_write_sentence(struct json_writer *json, const struct why_names *names, const char *key, const char *text);
void why_write_workload(struct json_writer *json, const struct why_names *names, const char *key, const char *id_key,
                        uint32_t workload);
