// The network topologies that a distributed submission names: each must be one of its cluster, with the levels named.
#pragma once
#include <stdint.h>

struct arena;
struct db_conn;
struct error;
struct workload_spec;

// One statement for each topology named. ERROR_INVALID names the path.
int submission_topologies_check(struct db_conn *conn, int64_t cluster_id, const struct workload_spec *spec,
                                struct arena *arena, struct error *err);
