// Runs another program to its end and takes what it prints: container runtimes, asked and told.
#pragma once
#include <stddef.h>

struct buffer;

enum {
    PROGRAM_TIMED_OUT = -2,
    PROGRAM_NOT_STARTED = -1
};

// The first file `name` on PATH that can be run, written to out_path; NULL where there is none.
const char *program_find(const char *name, char *out_path, size_t size);
// Runs argv with this process's environment, standard input empty; standard output and error go to out (NULL: nowhere),
// up to its maximum. Its process group is killed after timeout_ms, or when cancel_fd (-1: none) can be read. Returns
// the exit status, 128 + N where signal N ended it, PROGRAM_TIMED_OUT or PROGRAM_NOT_STARTED.
int program_run(const char *const *argv, int timeout_ms, int cancel_fd, struct buffer *out);
