// Workload rows: submission, and what a caller may ask of one afterwards. The reconciler carries wishes out; here only
// the wish, the phase that shows it at once, the event and the history are written.
// A submission takes 3 statements, and one per pod: the row (its project is looked up by the same statement), the
// event, the first record of its history.
#pragma once
#include "model/phase.h"
#include "model/scope.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;
struct submission; // model/submission.h
struct workload_spec;

// What is needed to act on a workload.
struct workload_state {
    int64_t id;
    const char *uuid;
    const char *name;
    const char *type;
    struct scope_path scope;
    const char *cluster_uuid;
    const char *project_name;
    const char *department_name;
    const char *namespace_name;
    const char *created_by;
    const char *desired_phase;
    enum workload_phase phase;
    int64_t phase_updated_ms;
    int64_t created_ms;
    int64_t deleted_ms;
    const char *machine_user; // that its pods run as: NAME:NUMBER; "": nobody's
};

// Inserts the row, its pods, event Submitted and the first record of the history; fills in what the project says
// (department, names, time limits). ERROR_CONFLICT: the project has a living workload of that name; ERROR_INVALID: the
// project is gone or going.
int db_insert_workload(struct db_conn *conn, const struct submission *submission, struct error *err);

// How many workloads may be unfinished; 0: any number.
struct workload_bounds {
    int64_t per_project;
    int64_t per_person; // who submitted them
};

// Whether there is room for this one too; else ERROR_INVALID, with the number and the setting's name. A statement for
// each bound. Exact only in the write function that inserts it.
int db_check_workload_counts(struct db_conn *conn, const struct submission *submission,
                             const struct workload_bounds *bounds, struct error *err);

// The fact waits_for of what is submitted to the project now; the arena's. ERROR_INVALID names what is not there.
int db_find_waits(struct db_conn *conn, int64_t project_id, const struct workload_spec *spec, struct arena *arena,
                  const char **out_waits_for, struct error *err);

// By the API's id, in the arena. ERROR_NOT_FOUND also where it is of another type than wanted (NULL: any).
int db_find_workload(struct db_conn *conn, const char *uuid, const char *type, struct arena *arena,
                     struct workload_state *out_state, struct error *err);

// Moves a workload to another phase: adds the time spent in the one before to its totals, writes the history, touches
// the workload. Nothing happens where it is in that phase already. Three statements.
int db_set_phase(struct db_conn *conn, int64_t workload_id, const char *workload_uuid, enum workload_phase phase,
                 const char *message, int64_t now_ms, struct error *err);

enum workload_wish {
    WISH_RUNNING, // resume
    WISH_STOPPED, // suspend
    WISH_DELETED,
};

// Writes a wish by this caller and its event. A wish that holds already, or that comes too late to matter (to stop what
// has completed), changes nothing. ERROR_INVALID where it cannot be: to resume what has completed or failed.
int db_wish_workload(struct db_conn *conn, const struct workload_state *state, enum workload_wish wish,
                     const char *caller_name, int64_t now_ms, struct error *err);
