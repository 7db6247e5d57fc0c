// What happens to departments, projects, node pools and the cluster's name, as events with who did it and what changed
// from what to what: written where the rows are, in the same transaction. What the server itself makes, such as a new
// installation's first units, is not told. Inside db/ alone, but for notices.
#pragma once
#include "model/org_unit.h"

#include <stdint.h>

struct arena;
struct db_conn;
struct error;
struct node_pool;

int org_events_add_creation(struct db_conn *conn, const struct org_unit *unit, struct error *err);
// Nothing where nothing differs.
int org_events_add_change(struct db_conn *conn, const struct org_unit *before, const struct org_unit *after,
                          const char *who, int64_t now_ms, struct arena *arena, struct error *err);
// A unit that is being deleted and whose workloads have to go first; and one that is gone: its row is still there.
int org_events_add_deletion_wish(struct db_conn *conn, enum org_unit_kind kind, int64_t id, const char *who,
                                 int64_t now_ms, struct error *err);
int org_events_add_deletion(struct db_conn *conn, enum org_unit_kind kind, int64_t id, int64_t now_ms,
                            struct error *err);

// A warning about a project.
struct project_notice {
    int64_t department_id, project_id;
    const char *project_name, *reason, *message;
    int64_t since_ms; // nothing where it was told since then
};
// Two statements.
int org_events_add_notice_once(struct db_conn *conn, const struct project_notice *notice, int64_t now_ms,
                               struct error *err);

int org_events_add_pool_creation(struct db_conn *conn, const struct node_pool *pool, struct error *err);
int org_events_add_pool_change(struct db_conn *conn, const struct node_pool *before, const struct node_pool *after,
                               struct arena *arena, struct error *err);
int org_events_add_pool_deletion(struct db_conn *conn, const struct node_pool *pool, const char *who, int64_t now_ms,
                                 struct error *err);

int org_events_add_renaming(struct db_conn *conn, int64_t cluster_id, const char *name, const char *who, int64_t now_ms,
                            struct error *err);
