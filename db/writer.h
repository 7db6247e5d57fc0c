// The writer thread: group commit. Inside db/ only; db.h says what callers see.
#pragma once
#include "db/connection.h"
#include "db/presence.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    WRITER_GROUP = 64,
    LISTENERS = 8
};

struct write_job {
    db_write_fn fn;
    void *context;
    struct error *err;
    struct db_companion *companion; // NULL: none
    bool is_long;                   // shares its transaction with no other
    int rc;
    bool done;
    pthread_cond_t finished;
    struct write_job *next;
};

struct listener {
    db_listener_fn fn;
    void *context;
};

struct writer {
    struct db_conn conn;
    struct presence presence;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; // of the queue and the jobs' done flags
    pthread_cond_t work;
    struct write_job *first, *last;
    bool stopping;
    bool has_written; // since the log was last looked at; the thread's
    bool refused;     // by the disk, in the present group
    int64_t next_revision;
    _Atomic int64_t last_revision;
    _Atomic int64_t commits, changes, failed_commits;
    _Atomic int64_t began_us; // the transaction that runs, by the monotonic clock; 0: none does
    _Atomic bool writable;
    _Atomic bool is_full; // why not, where it is not
    struct listener listeners[LISTENERS];
    size_t listener_count;
};

// conn is open and migrated; the thread owns it from here on.
int writer_start(struct writer *writer, struct error *err);
void writer_stop(struct writer *writer); // runs what is queued first
// Queues the job and returns its result once it is on disk. The job is the caller's.
int writer_run(struct writer *writer, struct write_job *job);
