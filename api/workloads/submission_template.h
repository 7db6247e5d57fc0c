// Templates and assets of a submission: `templateId`, and our own `assets`. From below: the template's assets, its own
// values, the submission's assets, the submission's own values (model/spec_layers.h). Policies come after this.
#pragma once
#include "model/workload_type.h"
#include <jansson.h>

struct error;
struct request;
struct scope_path;

// Fills body.spec, and of distributed trainings masterSpec and masterSpecSameAsWorker, from what body names. place is
// the project's. ERROR_INVALID for a template or an asset that is unknown, hidden, of another type, or doesn't hold in
// the project. Statements: 1 for a template, 1 for each asset.
int submission_template_apply(struct request *req, json_t *body, enum workload_type type,
                              const struct scope_path *place, struct error *err);
