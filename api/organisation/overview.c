// The overview in three answers: GET /overview, /overview/nodes, /overview/counts. What a caller may not read is
// absent.
#include "api/organisation/overview.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/kind_counts.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "model/phase.h"

static bool may_read(const struct request *req, enum resource_type type)
{
    struct permission_set held;
    access_permissions(req->caller, &held);
    return held.actions[type] & ACTION_READ;
}

// A query over a source of our own, in the caller's view of a resource type.
static int init_query(struct request *req, struct list_query *query, const struct list_source *source,
                      enum resource_type type, const char *const columns[3], struct error *err)
{
    struct scope_filter filter;
    if (list_query_init(query, source, req, err) < 0)
        return -1;
    access_filter(req, type, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, columns[0], columns[1], columns[2]);
    list_query_take_all(query);
    return 0;
}

static const struct list_source CLUSTERS = {
    .columns = "c.uuid, c.name", .from = "clusters c", .id = "c.id", .order = "c.id"};

static int write_clusters(struct request *req, struct db_conn *conn, struct json_writer *json, struct error *err)
{
    static const char *const COLUMNS[] = {"c.id", "NULL", "NULL"};
    struct list_query query;
    if (init_query(req, &query, &CLUSTERS, RESOURCE_TYPE_CLUSTER, COLUMNS, err) < 0 ||
        list_query_open(&query, conn, err) < 0)
        return -1;
    json_key(json, "clusters");
    json_begin_array(json);
    int rc;
    while ((rc = list_query_step(&query, err)) == 1) {
        json_begin_object(json);
        json_text(json, "id", db_column_text(query.stmt, 0, req->arena));
        json_text(json, "name", db_column_text(query.stmt, 1, req->arena));
        json_end_object(json);
    }
    json_end_array(json);
    list_query_close(&query);
    return rc;
}

static const struct list_source PHASES = {
    .columns = "s.phase, sum(s.workload_count)",
    .from = "projects p JOIN workload_sums s ON s.project_id = p.id",
    .group = "s.phase",
    .id = "s.phase",
    .order = "s.phase",
};

static int write_phases(struct request *req, struct db_conn *conn, struct json_writer *json, struct error *err)
{
    static const char *const COLUMNS[] = {"p.cluster_id", "p.department_id", "p.id"};
    struct list_query query;
    if (init_query(req, &query, &PHASES, RESOURCE_TYPE_WORKLOADS, COLUMNS, err) < 0)
        return -1;
    overview_add_scope(req, &query);
    if (list_query_open(&query, conn, err) < 0)
        return -1;
    int64_t counts[PHASE_COUNT] = {0};
    int rc;
    while ((rc = list_query_step(&query, err)) == 1)
        counts[phase_parse(db_column_text(query.stmt, 0, req->arena))] += db_column_int(query.stmt, 1);
    json_key(json, "phases");
    json_begin_object(json);
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        if (counts[phase])
            json_int(json, phase_text((enum workload_phase)phase), counts[phase]);
    json_end_object(json);
    list_query_close(&query);
    return rc;
}

static int write_organisation(struct request *req, struct db_conn *conn, struct json_writer *json, struct error *err)
{
    struct overview_shares shares = {0};
    struct overview_waiting waiting;
    bool reads_projects = may_read(req, RESOURCE_TYPE_PROJECT),
         reads_workloads = may_read(req, RESOURCE_TYPE_WORKLOADS);
    if (reads_projects && overview_read_shares(req, conn, &shares, err) < 0)
        return -1;
    if (overview_read_waiting(req, conn, &shares, &waiting, err) < 0)
        return -1;
    if (reads_workloads && write_phases(req, conn, json, err) < 0)
        return -1;
    if (reads_workloads)
        overview_write_waiting(&waiting, json);
    if (reads_projects)
        overview_write_projects(&shares, json);
    return 0;
}

int op_get_overview(struct request *req, struct response *res, struct error *err)
{
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_begin(conn, err);
    if (rc == 0) {
        json_writer_init(&json, res->body, false);
        json_begin_object(&json);
        if ((may_read(req, RESOURCE_TYPE_CLUSTER) && write_clusters(req, conn, &json, err) < 0) ||
            (may_read(req, RESOURCE_TYPE_NODES) && overview_write_pools(req, conn, &json, err) < 0) ||
            write_organisation(req, conn, &json, err) < 0)
            rc = -1;
        json_end_object(&json);
        db_read_end(conn);
    }
    db_give_back(req->server->db, conn);
    return rc;
}

int op_get_overview_counts(struct request *req, struct response *res, struct error *err)
{
    json_t *counts = kind_counts(req, err);
    return counts ? response_json(res, counts) : -1;
}
