// The assets that a template or a submission names: {environment, compute, datasources: [{id, kind, overrides}]}.
#pragma once
#include "model/scope.h"
#include <jansson.h>

struct error;
struct request;
struct workload_template;

// Each asset named in the body's `assets` and `master.assets` must be there, be of its kind, be the caller's to read,
// and hold for the template's scope. ERROR_INVALID names the member.
int template_assets_check(struct request *req, const struct workload_template *template, const json_t *body,
                          struct error *err);
