// A workload as its own paths (trainings, workspaces, distributed) answer it: what was submitted, and the two phases.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;
struct db_conn;
struct error;

struct submitted_workload {
    const char *name;
    const char *requested_name;
    const char *uuid;
    const char *type;
    int64_t project_id;
    int64_t department_id;
    const char *cluster_uuid;
    const char *created_by;
    int64_t created_ms;
    int64_t deleted_ms;
    const char *desired_phase;
    const char *phase;
    const char *spec_json;
    const char *master_spec_json; // NULL: none of its own
    bool is_master_same;          // has a master that is like the workers
};

void submitted_workload_write(const struct submitted_workload *workload, struct buffer *out, struct arena *arena);
