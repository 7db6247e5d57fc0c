// Reads the whole file in the background and says when it is damaged: after an end that was no stop, for a start must
// not wait for that. A table at a time, so that the write-ahead log is not held for long. Inside db/ only.
#pragma once
#include "db/connection.h"

#include <pthread.h>

struct checker {
    struct db_conn conn;
    pthread_t thread;
    bool started;
    atomic_bool stopping;
};

// Damage is told by health, and logged.
int checker_start(struct checker *checker, const char *path, struct db_health *health, struct error *err);
void checker_stop(struct checker *checker); // breaks a check off
