// decisions.csv: every decision of every cycle, in the order they were taken.
#pragma once
#include <stdint.h>
#include <stdio.h>

struct error;
struct plan;
struct snapshot;

int decisions_write_header(FILE *file, struct error *err);
// cycle: its number in the run.
int decisions_write(FILE *file, const char *policy, uint64_t cycle, const struct snapshot *snapshot,
                    const struct plan *plan, struct error *err);
