// Submission of workloads of every kind: names, projects, clusters, pools, and the specification's own rules
// (model/workload_spec.h), then one write. Statements: 1 to find the project, 1 for its policies, 1 per node pool
// named; in the write 5 and one per pod.
#pragma once
#include "api/access/roles.h"
#include "db/workload_places.h"
#include "model/submission.h"
#include "model/workload_listing.h"
#include <jansson.h>
#include <stdint.h>

struct error;
struct request;
struct response;

// What the body says outside the specification.
struct submission_envelope {
    const char *name;
    bool is_prefix;
    bool is_suspended; // it waits to be resumed
    int64_t project_id;
    const char *cluster_uuid;
    enum access_action action; // that the caller must be allowed in the project
};

// A submission that has passed every check and only lacks an id and, where its name is a prefix, its name.
struct prepared_submission {
    struct submission_envelope envelope;
    struct workload_spec spec;
    struct workload_place place;
    struct submission submission;    // points to spec: stays in place
    const json_t *spec_json;         // completed with defaults; the body's
    const json_t *master_spec_json;  // NULL: none of its own
    struct workload_listing listing; // likewise; points to spec too
};

// Reads the body of a create operation and completes it, for a workload that runs already: what is ruled and possible
// today is not asked. Writes nothing.
int workload_submission_read(struct request *req, json_t *body, enum workload_type type,
                             struct prepared_submission *out, struct error *err);
// Checks the body of a create operation and completes it; the caller must be allowed to create the workload. Writes
// nothing.
int workload_submission_prepare(struct request *req, json_t *body, enum workload_type type,
                                struct prepared_submission *out, struct error *err);
// The same of a workload that is there and is to change; nothing takes its name or its place in a count.
int workload_change_prepare(struct request *req, json_t *body, enum workload_type type, struct prepared_submission *out,
                            struct error *err);
// Gives an inference its address, which is its own from now on, by its uuid; a backend without addresses gives it one
// by its name alone.
int workload_submission_take_address(struct request *req, struct prepared_submission *prepared, struct error *err);
// Checks req->body, stores the workload, answers with it.
int workload_submit(struct request *req, struct response *res, enum workload_type type, struct error *err);
