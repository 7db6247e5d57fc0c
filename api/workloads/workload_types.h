// The types of workloads and the defaults that they bring to a submission.
#pragma once
#include <jansson.h>

struct error;
struct request;

// Category and priority of this kind's type where the specification names none. One statement. 0, or -1 with err set.
int workload_type_fill(const struct request *req, const char *type, json_t *spec, struct error *err);
