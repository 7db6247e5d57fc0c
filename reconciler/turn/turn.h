// One turn: what was found, and what is to be written and ordered because of it. Lives in the turn's arena; the cache's
// objects are changed in place and marked as touched.
#pragma once
#include "backends/backend.h"
#include "db/receipts.h"
#include "reconciler/reconciler.h"
#include "reconciler/world/cache.h"

struct turn_event {
    const struct cache_workload *workload; // NULL: of a node
    const char *type;                      // EVENT_NORMAL, EVENT_WARNING
    const char *reason;
    const char *message;
    const char *source;
    const char *object_kind;
    const char *object_name;
    const char *object_uuid;
};

struct turn_transition {
    struct cache_workload *workload;
    enum workload_phase phase;
    const char *message;
};

struct turn_creation {
    const struct cache_workload *workload;
    const char *role;
    int64_t pod_index; // -1: the next that is free
    int64_t attempt;
};

struct turn_order {
    struct cache_pod *pod;
    enum backend_verb verb;
};

struct turn_node_state {
    const char *name;
    bool ready;
    const char *reason;
    const char *unusable_gpus_json; // NULL: it is about the node, not its devices
};

// A node as the backend found it.
struct turn_machine {
    const char *name;
    const struct backend_machine *machine; // NULL: it is gone
    const char *unusable_gpus_json;
    int64_t gpu_count; // no fewer than our pods hold
};

struct turn {
    struct cache *cache;
    const struct backend *backend; // asked for addresses of replicas; NULL: there are none
    struct page_reader *pages;     // NULL: nothing is measured
    struct page_target *targets;   // that are to be read
    size_t target_count, target_capacity;
    struct backend_service *services; // that the backend is to hold
    size_t service_count, service_capacity;
    const struct reconciler_options *options;
    struct arena *arena;
    int64_t now_ms;
    int64_t next_due_ms; // the earliest time at which something is to be done without any change; INT64_MAX: none
    int64_t plan_due_ms; // the same of planning
    struct turn_event *events;
    size_t event_count, event_capacity;
    struct turn_transition *transitions;
    size_t transition_count, transition_capacity;
    struct turn_creation *creations;
    size_t creation_count, creation_capacity;
    struct receipt_row *receipts;
    size_t receipt_count, receipt_capacity;
    struct turn_order *orders;
    size_t order_count, order_capacity;
    struct turn_node_state *node_states;
    size_t node_state_count, node_state_capacity;
    struct turn_machine *machines; // rows to be brought up to date
    size_t machine_count, machine_capacity;
    const char **drained; // nodes that a drain leaves nothing to do on
    size_t drained_count, drained_capacity;
    const struct project_notice *notices; // to be told
    size_t notice_count;
    struct cache_pod **pods; // touched
    size_t pod_count, pod_capacity;
    struct cache_workload **workloads; // touched
    size_t workload_count, workload_capacity;
};

void turn_touch_workload(struct turn *turn, struct cache_workload *workload);
void turn_touch_pod(struct turn *turn, struct cache_pod *pod); // and its workload
void turn_add_event(struct turn *turn, const struct turn_event *event);
// About a pod, from the backend or the scheduler.
void turn_add_pod_event(struct turn *turn, const struct cache_pod *pod, const char *type, const char *reason,
                        const char *source, const char *message);
// How a pod has ended that failed in this turn: "a1-0-0 ended with exit code 139: ended by SIGSEGV".
const char *turn_describe_failure(struct turn *turn, const struct cache_pod *pod);
void turn_add_workload_event(struct turn *turn, const struct cache_workload *workload, const char *type,
                             const char *reason, const char *source, const char *message);
void turn_create_pod(struct turn *turn, const struct cache_workload *workload, bool is_master, int64_t pod_index,
                     int64_t attempt);
void turn_order(struct turn *turn, struct cache_pod *pod, enum backend_verb verb);
void turn_add_receipt(struct turn *turn, const struct receipt_row *receipt);
void turn_add_node_state(struct turn *turn, const struct turn_node_state *state);
void turn_add_drained(struct turn *turn, const char *node_name);
// The workload wants this number of replicas from now on.
void turn_scale(struct turn *turn, struct cache_workload *workload, int64_t replicas);
// Changes the phase in memory and notes the record; nothing where it is the same. message NULL: as it was.
void turn_set_phase(struct turn *turn, struct cache_workload *workload, enum workload_phase phase, const char *message);
// Something is to be looked at again then; what is due already, in a second.
void turn_note_due(struct turn *turn, int64_t due_ms);
// The same for planning: until then a plan of what is unchanged would say the same.
void turn_note_plan_due(struct turn *turn, int64_t due_ms);
// Whether pods took GPUs, or gave some back.
bool turn_moves_gpus(const struct turn *turn);
// Whether there is anything to write.
bool turn_has_changes(const struct turn *turn);
// Whether nodes, or which of their devices may be used, are among them.
bool turn_changes_devices(const struct turn *turn);
// The turn's marks on the objects are taken off.
void turn_clear_marks(struct turn *turn);

// The pod is to go: one without a place is deleted at once, one with a place is told to stop.
void turn_release_pod(struct turn *turn, struct cache_pod *pod, const char *reason);
// A workload that waits for nothing any more.
void turn_explain_nothing(struct turn *turn, struct cache_workload *workload);
