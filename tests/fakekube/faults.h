// Faults that a test asked for: each waits for a request that matches it.
// {"match": {"verb","resource","subresource","namespace","name"}, "skip": n, "times": n (0: for ever), one action}
#pragma once
#include "tests/fakekube/call.h"

// The first fault that the request meets and whose turn it is: a new reference, or NULL. Counts it.
json_t *faults_strike(struct kube *kube, const struct call *call);
// An action of the request's fault: its value, or NULL.
json_t *fault_action(const struct call *call, const char *name);
bool fault_is(const struct call *call, const char *name);
// The number of an action; -1 without.
int64_t fault_number(const struct call *call, const char *name);
// Answers the fault's Status.
void fault_answer(struct call *call, const json_t *status);
