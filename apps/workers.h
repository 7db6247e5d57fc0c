// A few threads that do what may block, for a loop that must not. Jobs are done in the order in which they came.
#pragma once
#include "apps/passes.h"
#include "apps/rights.h"
#include "base/error.h"
#include <stdbool.h>

struct link;
struct workers;

struct job {
    struct link *link; // that waits for a port; NULL: a right is looked up
    struct app_pass pass;
    int number;       // of the pass
    int fd;           // of the port; -1: see err
    struct error err; // ERROR_NONE: the right is there
    struct job *next;
};

// done_fd is an eventfd that is written to when a job is done.
int workers_start(const struct apps_rights *rights, int done_fd, struct workers **out_workers, struct error *err);
// Waits for what is being done; ports that were opened and not asked for are closed.
void workers_stop(struct workers *workers);
void workers_give(struct workers *workers, const struct job *job);
// A job that is done, to be freed; NULL: none.
struct job *workers_take(struct workers *workers);
