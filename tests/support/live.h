// A live cluster without a server: a database in a temporary folder, the simulated backend, the reconciler, and a clock
// that the test turns. live_crash drops everything but the file, as kill -9 would, and opens it again.
#pragma once
#include "backends/backend.h"
#include "base/arena.h"
#include "db/db.h"
#include "model/phase.h"
#include "reconciler/reconciler.h"

struct error;

struct live {
    char folder[64];
    char path[96];
    struct db *db;
    struct backend simulated; // what backend passes calls on to
    struct backend backend;
    struct reconciler *reconciler;
    struct reconciler_options options;
    char journal_folder[112];
    struct journal *journal;
    int64_t journal_bound; // bytes; 0: 1 GiB
    int64_t now_ms;
    int64_t cluster_id;
    int64_t department_id;
    struct arena arena;   // of what is read
    int64_t turns;        // taken so far
    int64_t crash_at;     // crash before this turn; 0: never
    int64_t applies;      // times that orders were given so far
    int64_t lose_at;      // crash instead of giving these orders; 0: never
    bool crashes;         // after the present turn
    const char *used_pod; // the next turn hears that it uses its GPUs so much; NULL: nothing is said
    double gpu_utilization;
    bool has_crashed;
    bool has_threads;
    bool has_journal;
};

extern const struct backend_ops LIVE_BACKEND; // passes on to live->simulated; self is the struct live

// node_count nodes node0, node1, ... of gpus GPUs, 64 cores and 512 GiB; department research.
void live_open(struct live *live, int node_count, int gpus);
void live_close(struct live *live);
void live_crash(struct live *live);

// From now on the reconciler and the backend run on threads of their own, by the wall clock.
void live_use_threads(struct live *live);

// Ends the program where rc is not 0.
void live_must(int rc, const char *what, const struct error *err);

void live_add_project(struct live *live, const char *name, int64_t gpu_quota);
void live_delete_project(struct live *live, const char *name);
void live_set_rules(struct live *live, const char *project, const char *rules); // schedulingRules as JSON; runs
void live_add_pool(struct live *live, const char *name);                       // takes nodes whose name begins with its
void live_add_node(struct live *live, const char *name, int gpus, bool ready); // or changes it
void live_remove_node(struct live *live, const char *name);

struct live_spec {
    const char *name;
    const char *project;
    const char *person;     // who submits it; NULL: test
    int gpus;               // of a pod; default 1
    int cpu_pods;           // pods without a GPU instead
    int portion_milli;      // of one device instead
    const char *node_pools; // JSON list; NULL: the project's
    int workers;            // a distributed workload of so many; 0: a training
    int min_pods;           // of the workers; 0: all
    bool has_master;        // as large as a worker
    const char *sub_groups; // JSON as the row has it (model/sub_groups.h), with min_pods; NULL: none
    int completions, parallelism;
    int backoff_limit;
    int64_t time_limit_ms, idle_limit_ms, auto_delete_ms; // limits: of project `project`
    bool non_preemptible;
    int priority; // default 50
    bool terminate_after_preemption;
    const char *annotations; // JSON list
    const char *restart_policy;
    bool fails_by_index;
};
void live_submit(struct live *live, const struct live_spec *spec);
void live_suspend(struct live *live, const char *name);
void live_resume(struct live *live, const char *name);
void live_delete(struct live *live, const char *name);
// The backend tells the next turn how much of its GPUs the workload's newest pod uses, in percent.
void live_report_use(struct live *live, const char *name, double gpu_utilization);

// Turns until one has nothing to do. Fails the test after a thousand.
void live_run(struct live *live);
void live_advance(struct live *live, int64_t ms); // in steps of at most a second, running after each

const char *live_phase(struct live *live, const char *workload); // "" where there is none
int64_t live_number(struct live *live, const char *sql);         // the first column of the first row
const char *live_text(struct live *live, const char *sql);       // the same; "" where there is none
int64_t live_events(struct live *live, const char *workload, const char *reason);
// Checks what must always hold: no device held twice, no node over its GPUs, one live pod per index, allocations that
// agree with pods. Counts the failures.
// Nor may a plan have been refused.
void live_check(struct live *live, const char *when);
