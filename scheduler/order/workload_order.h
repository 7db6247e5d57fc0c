// Which workload of a project goes first. docs/scheduler.md, 3.3.
#pragma once
#include "scheduler/state/cycle.h"

// <0: a first; >0: b first; 0 only where a == b. *out_rule (may be NULL) is the rule that decided, static text.
int workload_compare(const struct workload *a, const struct workload *b, const char **out_rule);
// Why a goes first, in numbers of both: a sentence, in which b is "the next".
const char *workload_compare_words(struct arena *arena, const struct workload *a, const struct workload *b);
// <0: a gives way first, looking at what the victim walk left of both.
int workload_compare_victims(const struct workload *a, const struct workload *b, const char **out_rule);
// Where it belongs among count workloads that stand in that order.
size_t workload_place_among_victims(struct workload *const *sorted, size_t count, const struct workload *workload);
// What the victim walk left of it: 0: some gang lacks pods; 1: all have just their minimum; 2: some has more.
int workload_rest_state(const struct workload *workload);
// What is left of a workload to be taken as a victim, and in how many pods.
struct amounts workload_left(const struct cycle *cycle, const struct workload *workload);
uint32_t workload_count_left(const struct workload *workload);
