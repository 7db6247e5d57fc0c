// Where something is in the organisation: tenant > cluster > department > project; and which part of it a caller may
// see.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENANT_ID 1 // one tenant an installation

enum scope_type {
    SCOPE_SYSTEM,
    SCOPE_TENANT,
    SCOPE_CLUSTER,
    SCOPE_DEPARTMENT,
    SCOPE_PROJECT,
    SCOPE_TYPE_COUNT
};

// "system", "tenant", "cluster", "department", "project": static text.
const char *scope_type_text(enum scope_type type);
// False where the text is none of them.
bool scope_type_parse(const char *text, enum scope_type *out_type);

// Database ids from the cluster down to where the thing is; 0 from there on. All 0: the tenant. A project's path names
// its department and cluster too.
struct scope_path {
    int64_t cluster_id;
    int64_t department_id;
    int64_t project_id;
};

// True where inner is outer, or lies below it.
bool scope_path_contains(const struct scope_path *outer, const struct scope_path *inner);

// The parts of the organisation that somebody may see: everything, or whatever lies in one of the lists (an empty
// filter shows nothing). db/scopes.h turns it into SQL.
struct scope_filter {
    bool is_all;
    const int64_t *cluster_ids;
    size_t cluster_count;
    const int64_t *department_ids;
    size_t department_count;
    const int64_t *project_ids;
    size_t project_count;
};

bool scope_filter_shows(const struct scope_filter *filter, const struct scope_path *path);
