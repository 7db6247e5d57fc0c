// What trainings, workspaces and distributed trainings have in common: to be shown as submitted, and the wishes
// suspend, resume, delete. Statements: 1 to find; in the write 1 to find again, and 6 where something changes.
#pragma once
#include "api/access/roles.h"
#include "db/workloads.h"
#include "model/workload_type.h"
#include <stdbool.h>

struct error;
struct reconciler_caller; // reconciler/reconciler.h
struct request;
struct response;

// A kind of workload as its paths see it.
struct workload_kind {
    bool is_any;
    enum workload_type type;     // unless it is any
    enum resource_type resource; // what permissions are about
};

extern const struct workload_kind KIND_TRAINING;
extern const struct workload_kind KIND_WORKSPACE;
extern const struct workload_kind KIND_DISTRIBUTED;
extern const struct workload_kind KIND_INFERENCE;
extern const struct workload_kind KIND_ANY;
// The kind of each type.
extern const struct workload_kind *const WORKLOAD_KINDS[WORKLOAD_TYPE_COUNT];

// The workload of the path, where the caller may do this with it; 404 else. A deleted one can only be read.
int workload_of_path(struct request *req, const struct workload_kind *kind, enum access_action action,
                     struct workload_state *out_state, struct error *err);
int workload_answer(struct request *req, struct response *res, const struct workload_kind *kind, struct error *err);
int workload_act(struct request *req, struct response *res, const struct workload_kind *kind, enum workload_wish wish,
                 struct error *err);
// Whether the caller may decide what the workload's pods run: one whose pods run as a person of the machine is that
// person's alone, since who else may steer it could be him there. ERROR_FORBIDDEN. *out_caller is who asks.
int workload_check_person(const struct request *req, const struct workload_state *workload,
                          struct reconciler_caller *out_caller, struct error *err);
// An event of the workload that says what somebody did with it; on disk when it returns.
int workload_record(struct request *req, const struct workload_state *workload, const char *reason, const char *message,
                    struct error *err);
// One workload of a batch; the write goes through db_write by itself.
int workload_wish(struct request *req, const char *uuid, const struct workload_kind *kind, enum workload_wish wish,
                  struct error *err);
