// What nodes lack for a pod, in a sentence: the amount that is short, how much of it is free, how far a gang came.
#pragma once
#include "scheduler/placing/placement.h"
#include "scheduler/state/cycle.h"
struct arena;

// Sets code, message and node reasons from the attempt's failed pod and node counts.
void lack_explain(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                  const struct attempt *attempt, struct plan_explanation *explanation);
// "1 GPU", "0.5 of a GPU", "8000 MiB of a GPU", "2 cores", "MIG instances": what a request is known by.
const char *lack_describe_request(struct arena *arena, const struct request *request);
