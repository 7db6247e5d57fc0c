// What the overview is made of: nodes and their devices by pool, projects with their shares, and who waits. Read inside
// one read transaction, so that the parts agree.
#pragma once
#include "api/lists/list_query.h"
#include "model/org_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db_conn;
struct error;
struct json_writer;
struct request;

// A project's amounts in one node pool, in thousandths of a GPU.
struct overview_share {
    const struct queue *queue;
    int64_t waiting; // asked for and not held, without what is refused
    int64_t refused; // asked for by workloads that cannot be served as asked
    int64_t owed;    // of what waits, what the quota still has room for
};

struct overview_shares {
    struct org_unit *projects; // by name
    size_t project_count;
    struct org_unit **by_id;
    struct overview_share **shares; // of by_id[i], one for each of its queues
};

// The workloads that wait.
struct overview_waiting {
    int64_t count;
    int64_t gpu_milli;
    int64_t owed_milli; // the sums over the projects
    int64_t refused_milli;
};

// The projects that the caller may read; two statements.
int overview_read_shares(struct request *req, struct db_conn *conn, struct overview_shares *out_shares,
                         struct error *err);
// Of a project in a node pool; NULL where the caller does not see one.
struct overview_share *overview_find_share(const struct overview_shares *shares, int64_t project_id,
                                           const char *node_pool);
// What waits and is owed, once all that is refused has been added.
void overview_reckon_shares(struct overview_shares *shares);
// The workloads that wait, of those that the caller may read; one statement over them. Fills in the shares.
int overview_read_waiting(struct request *req, struct db_conn *conn, struct overview_shares *shares,
                          struct overview_waiting *out_waiting, struct error *err);
// "waiting" and "projects" as members of the open object.
void overview_write_waiting(const struct overview_waiting *waiting, struct json_writer *json);
void overview_write_projects(const struct overview_shares *shares, struct json_writer *json);

// "nodePools" and "notReady" as members of the open object; four statements.
int overview_write_pools(struct request *req, struct db_conn *conn, struct json_writer *json, struct error *err);

// The scope that the page looks at (departmentId, projectId) as conditions on `projects p`.
void overview_add_scope(const struct request *req, struct list_query *query);
