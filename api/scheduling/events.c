// Events: of one workload, and of everything that the caller may see: workloads, nodes, and the organisation.
#include "db/events.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/event_json.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/lists/visibility.h"
#include "api/lists/workload_scope.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/db.h"

#include <inttypes.h>
#include <string.h>

// The node of the event's pod, or the node itself.
#define NODE_NAME "iif(e.object_kind = 'Node', e.object_name, (SELECT node_name FROM pods WHERE uuid = e.object_uuid))"
#define COLUMNS EVENT_COLUMNS ", " NODE_NAME
#define ANY_EVENTS "events e LEFT JOIN workloads w ON w.id = e.workload_id"
// A sentence with a name that may be hidden is not searched: a hit would tell the name.
#define TOLD_MESSAGE "iif(e.message GLOB '*[' || char(1) || '-' || char(3) || ']*', '', e.message)"
#define TEXTS(message)                                                                                     \
    {"workloadName", "w.name", LIST_TEXT, 0, true}, {"projectName", "w.project_name", LIST_TEXT, 0, true}, \
        {"objectName", "e.object_name", LIST_TEXT, 0, true}, {"reason", "e.reason", LIST_TEXT, 0, true},   \
    {                                                                                                      \
        "message", message, LIST_TEXT, 0, true                                                             \
    }

static const struct list_field ALL_TEXTS[] = {TEXTS("e.message")}, TOLD_TEXTS[] = {TEXTS(TOLD_MESSAGE)};

// By who asks, and by the order. A small part is found by its workloads, beside what is of none, and then sorted: with
// + it is no index's order; only then are its rows read. All else walks the index of times until the page is full.
enum {
    OF_ALL, // whoever sees everything
    OF_MOST,
    OF_FEW_OF_ALL,
    OF_FEW,
    SOURCE_COUNT
};
#define SOURCE(texts, sorted, rows)                                                                           \
    {                                                                                                         \
        .columns = COLUMNS, .from = ANY_EVENTS, .id = "e.id", .late = rows, .order = sorted, .fields = texts, \
        .field_count = 5                                                                                      \
    }
#define WALKED(texts)                                                                            \
    {                                                                                            \
        SOURCE(texts, "e.time_ms DESC, e.id DESC", NULL), SOURCE(texts, "e.time_ms, e.id", NULL) \
    }
#define SORTED(texts)                                                     \
    {                                                                     \
        SOURCE(texts, "+e.time_ms DESC, +e.id DESC", "(" ANY_EVENTS ")"), \
            SOURCE(texts, "+e.time_ms, +e.id", "(" ANY_EVENTS ")")        \
    }
static const struct list_source SOURCES[SOURCE_COUNT][2] = {
    [OF_ALL] = WALKED(ALL_TEXTS),
    [OF_MOST] = WALKED(TOLD_TEXTS),
    [OF_FEW_OF_ALL] = SORTED(ALL_TEXTS),
    [OF_FEW] = SORTED(TOLD_TEXTS),
};

// What the kinds of the API are, by reason or by what it happened to. Rare ones have an index each, of these words.
#define EVICTIONS                                                                 \
    "e.reason = 'Preempted' OR e.reason = 'Consolidated' OR e.reason = 'Drained'" \
    " OR e.reason = 'StaleJob' OR e.reason = 'TimeLimitExceeded'"                 \
    " OR e.reason = 'IdleLimitExceeded'"
#define NO_EVICTION_NO_WAIT                                                            \
    "e.reason <> 'Preempted' AND e.reason <> 'Consolidated' AND e.reason <> 'Drained'" \
    " AND e.reason <> 'StaleJob' AND e.reason <> 'TimeLimitExceeded'"                  \
    " AND e.reason <> 'IdleLimitExceeded' AND e.reason <> 'Unschedulable'"             \
    " AND e.reason <> 'NotReady' AND e.reason <> 'TimeLimitWarning'"                   \
    " AND e.reason <> 'IdleLimitWarning'"
static const struct event_kind {
    const char *name, *condition;
} KINDS[] = {
    {"starts", "e.reason IN ('Pipelined', 'Scheduled', 'Pulling', 'Pulled', 'Created', 'Started')"},
    {"evictions", "(" EVICTIONS ")"},
    {"failures",
     "e.type = 'Warning' AND (e.object_kind = 'Pod' OR e.object_kind = 'Workload') AND " NO_EVICTION_NO_WAIT},
    {"people",
     "(e.reason = 'Submitted' OR e.reason = 'Suspended' OR e.reason = 'Resumed' OR e.reason = 'DeletionRequested')"},
    {"nodes", "(e.object_kind = 'Node' OR e.reason IN ('NodeLost', 'Drained'))"},
    {"organisation", "e.workload_id IS NULL AND e.object_kind IN ('Project', 'Department', 'NodePool', 'Cluster')"},
};

struct row_context {
    struct visibility visibility;
    bool has_workload; // each row says of which it is
};

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    const struct row_context *rows = context;
    json_begin_object(json);
    event_write_members(json, row, rows->has_workload, &rows->visibility, req->arena);
    if (rows->has_workload)
        json_text(json, "nodeName", db_column_text(row, EVENT_COLUMN_COUNT, req->arena));
    json_end_object(json);
}

static const struct list_form FORM = {.key = "events", .tells_next = true, .write_row = write_row};

static int answer(struct list_query *query, struct request *req, struct response *res, bool has_workload,
                  struct error *err)
{
    struct row_context rows = {.has_workload = has_workload};
    visibility_open(&rows.visibility, req);
    int rc = list_answer(req, res, query, &FORM, &rows, err);
    visibility_close(&rows.visibility);
    return rc;
}

static const struct list_source *source_of(const struct request *req, int source)
{
    const char *order = request_query(req, "sortOrder");
    return &SOURCES[source][order && strcmp(order, "asc") == 0];
}

int op_get_workload_events(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    struct list_query query;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0 ||
        list_query_init(&query, source_of(req, OF_MOST), req, err) < 0)
        return -1;
    list_query_where_int(&query, "e.workload_id = ?", state.id);
    return answer(&query, req, res, false, err);
}

static int add_period(const struct request *req, struct list_query *query, struct error *err)
{
    const char *start = request_query(req, "start"), *end = request_query(req, "end");
    int64_t time_ms = 0;
    if (start && timestamp_parse(start, &time_ms, err) < 0)
        return -1;
    if (start)
        list_query_where_int(query, "e.time_ms >= ?", time_ms);
    if (end && timestamp_parse(end, &time_ms, err) < 0)
        return -1;
    if (end)
        list_query_where_int(query, "e.time_ms <= ?", time_ms);
    return 0;
}

// What a page asks for by its project or node.
struct part {
    const char *project, *node; // NULL: any
    bool is_small;              // enough to find its rows and sort them
};

static const char SQL_MANY_OF_PROJECT[] = "SELECT 1 FROM workloads WHERE project_id = ?1 LIMIT 1 OFFSET 10000";
static const char SQL_MANY_OF_NODE[] = "SELECT 1 FROM pods WHERE node_name = ?1 LIMIT 1 OFFSET 10000";

static int read_part(const struct request *req, struct db_conn *conn, struct part *out, struct error *err)
{
    const char *project = request_query(req, "projectId");
    sqlite3_stmt *stmt;
    *out = (struct part){.node = request_query(req, "node")};
    if (project)
        out->project = arena_printf(req->arena, "%" PRId64, id_from_text(project));
    if (!out->project && !out->node)
        return 0;
    if (db_prepare(conn, project ? SQL_MANY_OF_PROJECT : SQL_MANY_OF_NODE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, project ? out->project : out->node);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    out->is_small = rc == 0;
    return rc < 0 ? -1 : 0;
}

static void add_part(const struct part *part, struct list_query *query)
{
    const char *const projects[] = {part->project, part->project}, *const nodes[] = {part->node, part->node,
                                                                                     part->node};
    if (part->project && part->is_small)
        list_query_where_texts(query,
                               "(e.workload_id IN (SELECT id FROM workloads WHERE project_id = ?) OR "
                               "e.workload_id IS NULL AND e.project_id = ?)",
                               projects, 2);
    else if (part->project)
        list_query_where_text(query, "coalesce(w.project_id, e.project_id) = ?", part->project);
    if (part->node && part->is_small && !part->project)
        list_query_where_texts(query,
                               "(e.workload_id IS NULL AND e.object_kind = 'Node' AND e.object_name = ? OR "
                               "e.workload_id IN (SELECT workload_id FROM pods WHERE node_name = ?) AND "
                               "(SELECT node_name FROM pods WHERE uuid = e.object_uuid) = ?)",
                               nodes, 3);
    else if (part->node)
        list_query_where_text(query, NODE_NAME " = ?", part->node);
}

// What the other parameters ask for; the schema has checked their words.
static int add_wishes(const struct request *req, struct list_query *query, struct error *err)
{
    const char *kind = request_query(req, "kind"), *value;
    if ((value = request_query(req, "workloadId")) != NULL)
        list_query_where_text(query, "w.uuid = ?", value);
    if ((value = request_query(req, "type")) != NULL)
        list_query_where(query, strcmp(value, EVENT_WARNING) == 0 ? "e.type = 'Warning'" : "e.type = 'Normal'");
    if ((value = request_query(req, "departmentId")) != NULL)
        list_query_where_int(query, "coalesce(w.department_id, e.department_id) = ?", id_from_text(value));
    for (size_t i = 0; kind && i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (strcmp(kind, KINDS[i].name) == 0)
            list_query_where(query, KINDS[i].condition);
    return add_period(req, query, err);
}

// What the caller may read, by what it happened to.
struct reach {
    struct workload_scope workloads;
    struct scope_filter nodes, pools, projects, departments;
};

static int read_reach(const struct request *req, struct db_conn *conn, struct reach *out, struct error *err)
{
    access_filter(req, RESOURCE_TYPE_NODES, ACTION_READ, &out->nodes);
    access_filter(req, RESOURCE_TYPE_NODEPOOLS, ACTION_READ, &out->pools);
    access_filter(req, RESOURCE_TYPE_PROJECT, ACTION_READ, &out->projects);
    access_filter(req, RESOURCE_TYPE_DEPARTMENT, ACTION_READ, &out->departments);
    return workload_scope_of_page(req, conn, true, &out->workloads, err);
}

static bool is_everything(const struct reach *reach)
{
    return reach->workloads.filter.is_all && reach->nodes.is_all && reach->pools.is_all && reach->projects.is_all &&
           reach->departments.is_all;
}

#define CLUSTER "(SELECT id FROM clusters ORDER BY id LIMIT 1)" // that this server runs
#define OF_KIND(kind) "e.workload_id IS NULL AND e.object_kind = '" kind "' AND "

// A unit may be gone: whoever reads the place that it had still reads what happened to it.
static void add_reach(const struct reach *reach, struct list_query *query)
{
    const struct scope_filter *workloads = &reach->workloads.filter;
    const struct list_scope any = {"e.workload_id IS NOT NULL AND ",
                                   "",
                                   workloads,
                                   "w.cluster_id",
                                   "w.department_id",
                                   "w.project_id"},
                            few = {"e.workload_id IN (SELECT w.id FROM " WORKLOAD_SCOPE_FROM " WHERE ",
                                   ")",
                                   workloads,
                                   "NULL",
                                   "sp.department_id",
                                   "sp.id"};
    const struct list_scope scopes[] = {
        reach->workloads.is_narrow ? few : any,
        {OF_KIND("Node"), "", &reach->nodes, CLUSTER, "NULL", "NULL"},
        {OF_KIND("NodePool"), "", &reach->pools, CLUSTER, "NULL", "NULL"},
        {OF_KIND("Project"), "", &reach->projects, CLUSTER, "e.department_id", "e.project_id"},
        {OF_KIND("Department"), "", &reach->departments, CLUSTER, "e.department_id", "NULL"},
        {OF_KIND("Cluster"), "", workloads, CLUSTER, "NULL", "NULL"},
    };
    list_query_where_any_scope(query, scopes, sizeof(scopes) / sizeof(scopes[0]));
}

static int init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct reach reach;
    struct part part = {0};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = read_reach(req, conn, &reach, err);
    if (rc == 0)
        rc = read_part(req, conn, &part, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    bool sees_all = reach.workloads.filter.is_all, is_few = reach.workloads.is_narrow || part.is_small;
    int source = is_few ? (sees_all ? OF_FEW_OF_ALL : OF_FEW) : sees_all ? OF_ALL : OF_MOST;
    if (list_query_init(query, source_of(req, source), req, err) < 0)
        return -1;
    if (!is_everything(&reach))
        add_reach(&reach, query);
    add_part(&part, query);
    return add_wishes(req, query, err);
}

int op_list_events(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, err) < 0 ? -1 : answer(&query, req, res, true, err);
}
