// Submission of workloads of every kind: names, projects, clusters, pools, and the specification's own rules
// (model/workload_spec.h), then one write. Statements: 1 to find the project, 1 per node pool named; in the write 3 and
// one per pod.
#pragma once
#include "model/submission.h"

struct error;
struct request;
struct response;

// Checks req->body, stores the workload, answers with it.
int workload_submit(struct request *req, struct response *res, enum workload_type type, struct error *err);
