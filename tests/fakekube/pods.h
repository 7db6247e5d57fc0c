// Pods: defaults, checks, what they ask for, and the requests that only pods know: binding, eviction.
#pragma once
#include "tests/fakekube/objects.h"

void pod_complete(struct call *call, json_t *pod, json_t *causes);
// What of spec may not change after creation; appends causes.
void pod_check_update(const json_t *before, const json_t *after, json_t *causes);
bool pod_is_terminal(const json_t *pod);
bool pod_is_bound(const json_t *pod);
// Thousandths of what the pod asks of a resource: containers' sum, or the largest init container if that is more.
int64_t pod_asks_milli(const json_t *pod, const char *resource);
// A quantity in thousandths; 0 if it is none.
int64_t quantity_milli(const json_t *value);
// Sets or replaces a condition of the status.
void pod_set_condition(json_t *pod, const char *type, const char *status, const char *reason);

// 0 or -1; both have answered.
int pod_bind(struct call *call);
int pod_evict(struct call *call);
