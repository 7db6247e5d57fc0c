// The plan, read from a cycle that has come to its end.
#pragma once
struct cycle;
struct plan;

struct plan *outcome_make(struct cycle *cycle);
