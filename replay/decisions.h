// decisions.csv: every decision of every cycle, in the order they were taken.
#pragma once
#include <stdio.h>

struct error;
struct plan;
struct run;
struct snapshot;

int decisions_write_header(FILE *file, struct error *err);
int decisions_write(FILE *file, const struct run *run, const struct snapshot *snapshot, const struct plan *plan,
                    struct error *err);
