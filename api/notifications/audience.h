// Who is told: what somebody may see now, whatever it was when it happened.
#pragma once
#include "api/identity.h"
#include "model/scope.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct db_conn;
struct error;
struct notification_line;

struct person {
    int64_t user_id;
    const char *email; // NULL: there is no such person any more
    struct identity rights;
};

// People as they are needed, for the time of one step.
struct audience {
    struct db_conn *conn;
    struct arena *arena;
    struct person *people;
    size_t count, capacity;
};

// The person, read once; it lives until another is asked for. -1: error.
int audience_person(struct audience *audience, int64_t user_id, const struct person **out_person, struct error *err);
bool person_sees_workloads(const struct person *person, const struct scope_path *where);
bool person_sees_project(const struct person *person, const struct scope_path *where);
// Lines that their people may still see, each said once; in place. -1: error.
int audience_keep_seen(struct audience *audience, struct notification_line *lines, size_t *count, struct error *err);
