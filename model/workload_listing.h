// The part of a workload's row in GET /workloads that never changes after submission, as members without braces
// (workloads.listing_json): written once, copied into every list.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct workload_spec; // submission.h

struct workload_listing {
    const char *uuid;
    const char *name;
    const char *created_by;
    bool is_by_cli; // by the command line
    int64_t created_ms;
    const char *cluster_uuid;
    int64_t project_id;
    const char *project_name;
    int64_t department_id;
    const char *department_name;
    const char *namespace_name;
    bool has_services;             // the ports of workloads answer at names of the cluster
    const char *const *node_pools; // as asked, or what the project says
    size_t node_pool_count;
    const struct workload_spec *spec;
    const json_t *spec_json;        // completed by workload_spec_read
    const json_t *master_spec_json; // NULL: none of its own
};

// In the arena.
const char *workload_listing_text(const struct workload_listing *listing, struct arena *arena);
