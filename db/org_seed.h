// What a new installation starts with: one cluster, its node pool `default`, department `default` and project
// `default`.
#pragma once
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

// A write function: to be called inside db_write(). Does nothing where a cluster exists. Gives the cluster's id.
int org_seed(struct db_conn *conn, const char *cluster_name, const char *version, int64_t now_ms,
             int64_t *out_cluster_id, struct error *err);
