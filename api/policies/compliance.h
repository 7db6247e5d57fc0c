// Specifications of submissions, and pieces of them, under the policies that hold in a place. One statement each.
#pragma once
#include "api/policies/policy_effective.h"

struct arena;
struct db_conn;
struct error;
struct request;
struct scope_path;

// What is asked for; the specifications are filled in place.
struct policy_subject {
    enum policy_kind kind;
    json_t *spec;        // of distributed trainings the worker's
    json_t *master;      // NULL: none of its own
    bool is_master_same; // a master like the workers: the master's rules hold for the worker's specification too
};

// Fills the policies' defaults in and tells every rule that is broken: a list of {field, details, rule}, the caller's.
int policy_comply(struct db_conn *conn, const struct scope_path *path, const struct policy_subject *subject,
                  struct arena *arena, json_t **out_issues, struct error *err);
// Refuses for these issues: the message tells the first, the answer has all as complianceIssues. Always -1.
int policy_refuse(struct request *req, const json_t *issues, struct error *err);

// What holds in a place for one kind, to check several pieces by. Released by policy_standard_done.
struct policy_standard {
    enum policy_kind kind;
    struct policy_effective effective;
};

int policy_standard_open(struct db_conn *conn, const struct scope_path *path, enum policy_kind kind,
                         struct arena *arena, struct policy_standard *out, struct error *err);
void policy_standard_done(struct policy_standard *standard);
// A piece of a specification, which may go into many: nothing is filled in, and nothing is required. Of distributed
// trainings it is the worker's, or the master's where is_master is true.
void policy_standard_check(const struct policy_standard *standard, bool is_master, const json_t *piece,
                           struct arena *arena, json_t *issues);
