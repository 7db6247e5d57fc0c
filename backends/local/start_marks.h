// Which pod's start is at work: a start that ends the server must not end each next one too. The mark is a line of the
// file `starting` beside the pods' folders, there while the server carries an order out; the next server counts it as a
// death. It is written and not synced: it is to outlive the process, not the machine.
#pragma once
#include "base/uuid.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    START_DEATHS_MAX = 2,  // a third try is not made
    START_MARKS_KEPT = 16, // workloads that are remembered; the oldest give way
};

struct start_death {
    char pod[UUID_SIZE], workload[UUID_SIZE];
    int count;
};

struct start_marks {
    int fd; // -1: no mark can be kept
    struct start_death deaths[START_MARKS_KEPT];
    size_t death_count;
};

// Reads what the server before has left, and counts it. Logs where it was a death, or where no mark can be kept.
void start_marks_open(struct start_marks *marks, int home_fd);
void start_marks_close(struct start_marks *marks);

// From here until start_marks_end the server works for this pod. A system call each; not nested.
void start_marks_begin(const struct start_marks *marks, const char *pod, const char *workload);
void start_marks_end(const struct start_marks *marks);

// Whether starts of this workload's pods have ended the server too often.
bool start_marks_forbid(const struct start_marks *marks, const char *workload);
// Its start is behind it: earlier deaths do not count any more.
void start_marks_started(struct start_marks *marks, const char *pod);
// The workload is deleted.
void start_marks_forget(struct start_marks *marks, const char *workload);
