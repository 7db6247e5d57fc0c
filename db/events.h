// What happened to workloads, nodes and the organisation: events, and the phases a workload went through. Rows are only
// added.
#pragma once
#include <stdint.h>

struct db_conn;
struct error;

#define EVENT_NORMAL "Normal"
#define EVENT_WARNING "Warning"

struct event {
    int64_t workload_id;       // workloads.id; 0: of a node, a unit or the cluster
    const char *workload_uuid; // for the change feed; NULL without a workload
    // Who may read an event of a project (both) or a department (the first); 0: no unit.
    int64_t department_id, project_id;
    int64_t time_ms;
    const char *type;        // EVENT_NORMAL, EVENT_WARNING
    const char *reason;      // Submitted, Scheduled, Started, Preempted, Unschedulable, ...
    const char *message;     // a sentence that starts with who
    const char *source;      // scheduler, backend, control-plane
    const char *object_kind; // Workload, Pod, Node, Project, Department, NodePool, Cluster
    const char *object_name;
    const char *object_uuid; // or its number; "" where it has none
    const char *touched;     // for the change feed; NULL: the workload's uuid, else the object's
};

// One statement. Touches CHANGE_EVENT.
int db_add_event(struct db_conn *conn, const struct event *event, struct error *err);
// A record of phase_history; one statement. db_set_phase (db/workloads.h) calls it.
int db_add_phase_record(struct db_conn *conn, int64_t workload_id, int64_t time_ms, const char *phase,
                        const char *message, struct error *err);
