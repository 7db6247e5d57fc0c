// Specifications under the policies that hold in a place. One statement each.
#pragma once
#include "api/policies/policy_schema.h"

struct arena;
struct db_conn;
struct error;
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
