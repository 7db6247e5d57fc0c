// What a caller may be told of projects and workloads that an answer of the scheduler speaks of: those outside the
// caller's scopes keep their numbers and lose their names.
#pragma once
#include "form/why_writer.h"
#include "model/told.h"
#include "reconciler/reconciler.h"
#include <stdbool.h>

struct db_conn;
struct request;

#define HIDDEN_WORKLOAD "another project's workload"
#define HIDDEN_PROJECT "another project"
#define HIDDEN_DEPARTMENT "another department"

struct known_name {
    enum told_kind kind;
    const char *name;
    bool is_shown;
};

struct expected_workload {
    int64_t id;
    const char *name, *uuid; // NULL until it is read, and where its row has gone
};

struct visibility {
    const struct request *req;
    const struct reconciler_view *view; // NULL: no cycle has run, and no name is told
    struct known_name *known;           // projects and departments, in the order of kinds and names
    size_t known_count;
    bool shows_gone;                    // may read every project: names of those that are gone are told
    bool hides_workloads;               // whatever workload a sentence names is somebody else's
    struct snapshot shown;              // the view's, with names that may be shown
    struct db_conn *conn;               // for names of workloads, while answers are written
    struct expected_workload *expected; // by id once they are read
    size_t expected_count, expected_capacity;
    bool is_read; // all that are expected
};

// Over the latest cycle, which is held until it is closed.
void visibility_open(struct visibility *visibility, const struct request *req);
void visibility_close(struct visibility *visibility);
// The same over a view of the caller's.
void visibility_init(struct visibility *visibility, const struct request *req, const struct reconciler_view *view);
// Sentences, names and ids for the writers of simulation/; snapshot is the one asked about, whose first workloads are
// the view's. The connection is the caller's.
void visibility_names(struct visibility *visibility, const struct snapshot *snapshot, struct db_conn *conn,
                      struct why_names *out_names);

// A workload of the view that will be asked for by those writers: all that are expected before the first is asked for
// are read by one statement; one that was not costs a statement more.
void visibility_expect(struct visibility *visibility, uint32_t workload);

// The text with hidden names replaced (model/told.h); the request arena's, or text itself.
const char *visibility_sentence(const struct visibility *visibility, const char *text);
// The same of a sentence that does not say whose workloads it names: they lose their names with the first hidden
// project.
const char *visibility_event(const struct visibility *visibility, const char *text);
// A name of this kind as it stands in stored answers: itself, or what is said instead. NULL for NULL.
const char *visibility_name(const struct visibility *visibility, enum told_kind kind, const char *name);
// Whether workloads of the project with this row id may be read.
bool visibility_shows_workloads(const struct visibility *visibility, int64_t project_id);
