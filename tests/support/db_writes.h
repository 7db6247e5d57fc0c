// The main writes of db/, one after the other: each stands on what those before it have left.
#pragma once
#include "base/arena.h"
#include "db/db.h"
#include "model/workload_spec.h"

// What they act on. The ids are looked up again before each.
struct db_writes {
    struct arena arena;
    struct workload_spec spec;
    int64_t department_id, project_id, workload_id, pod_id;
    const char *workload_uuid, *pod_uuid;
};

// A write function on a new file; context is the struct. The arena was begun by the caller, who ends it.
int db_writes_seed(struct db_conn *conn, void *context, struct error *err);

// Of them those that change an inference (db_write_inferences.c).
int db_write_specification(struct db_conn *conn, void *context, struct error *err);
int db_write_scale(struct db_conn *conn, void *context, struct error *err);

// Those about nodes and node pools (db_write_nodes.c).
int db_write_failed_node(struct db_conn *conn, void *context, struct error *err);
int db_write_drain(struct db_conn *conn, void *context, struct error *err);
int db_write_pool(struct db_conn *conn, void *context, struct error *err);

struct write_case {
    const char *name;   // NULL: the end
    db_write_fn fn;     // its context is a struct db_writes
    int64_t statements; // that it begins
};
extern const struct write_case DB_WRITES[];

// The same of functions that make their change themselves, by one db_write.
struct whole_write_case {
    const char *name;
    int (*run)(struct db *db, struct db_writes *writes, struct error *err);
    int64_t statements;
};
extern const struct whole_write_case ACCOUNT_WRITES[];
