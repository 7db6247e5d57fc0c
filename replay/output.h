// Where the results go: standard output, and the files of --out.
#pragma once
#include <stdio.h>

struct error;
struct report;

// Makes the folder where it is missing, and opens decisions.csv in it with its header written.
int output_open(const char *folder, FILE **out_decisions, struct error *err);
// All the other files.
int output_write(const char *folder, const struct report *report, struct error *err);
// The tables on standard output.
int output_print(const struct report *report, struct error *err);
