// A policy: how the scheduler is set for one run of a trace, and what is taken for its quotas.
//
// Its file (YAML or JSON) holds `actions`, `settings` and `nodePool` in the very form of docs/snapshot.md, read by the
// same reader, and a few keys of the replay's own (docs/replay.md).
#pragma once
#include "replay/quota.h"
#include "scheduler/snapshot.h"

struct arena;
struct error;
struct json_t;
struct nodes;
struct trace;

struct policy {
    const char *name;
    bool keeps_progress;   // an evicted job goes on where it was; else it starts over
    bool is_one_project;   // every job counts as of one project, so that priority and age alone order them
    bool has_one_priority; // every job has the same
    bool knows_run_times;  // the scheduler knows how long each job runs; else that it may run for ever
    enum quota_source quota;
    bool has_quota;                // the file says which
    int64_t period_ms;             // cycles take place at multiples of it only; 0: whenever something happened
    bool has_usage;                // time-based fair share sees what each project held so far
    int64_t usage_half_life_ms;    // of that; 0: nothing is forgotten
    const struct json_t *document; // actions, settings, nodePool: for policy_make_snapshot
};

// What holds where no file says otherwise.
struct policy policy_default(void);
// Owned by policy: policy_done.
int policy_read_file(const char *path, struct arena *arena, struct policy *out_policy, struct error *err);
int policy_read_text(const char *name, const char *text, size_t length, struct arena *arena, struct policy *out_policy,
                     struct error *err);
void policy_done(struct policy *policy);

// A snapshot without workloads: the policy's settings, the nodes, and the projects with their quotas.
int policy_make_snapshot(const struct policy *policy, const struct nodes *nodes, const struct trace *trace,
                         const struct quota_file *quotas, struct arena *arena, struct snapshot *out_snapshot,
                         struct error *err);
