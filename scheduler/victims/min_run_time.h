// Minimum run times: a workload that has not run that long yet is protected from eviction. docs/scheduler.md, 9.4.
#pragma once
#include "scheduler/victims/search_state.h"

// How long workloads of the project are protected from the other workload in the action that is being run.
int64_t min_run_time_of(const struct cycle *cycle, const struct pool *pool, uint32_t project,
                        const struct workload *other);
// When the victim's protection from the other workload ends; SNAPSHOT_TIME_NONE where it is not protected now.
int64_t min_run_time_protects_until(struct cycle *cycle, const struct pool *pool, const struct workload *victim,
                                    const struct workload *other);
// Whether the victim can give up pods and keep its minimum: then it stays a candidate although it is protected.
bool min_run_time_can_shrink(const struct workload *victim);
// Whether no protected workload falls below a minimum through the scenario that was just simulated.
bool min_run_time_allows(struct search *search, const struct scenario *scenario);
