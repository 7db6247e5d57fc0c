// Pods: of the whole cluster and of one workload. A page costs one statement.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/lists/workload_scope.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_list.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "db/db.h"
#include "model/scope.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <string.h>

enum {
    COLUMN_NAME,
    COLUMN_UUID,
    COLUMN_WORKLOAD_UUID,
    COLUMN_CLUSTER_UUID,
    COLUMN_PRIORITY_CLASS,
    COLUMN_PROJECT,
    COLUMN_PROJECT_NAME,
    COLUMN_WORKLOAD_NAME,
    COLUMN_NODE,
    COLUMN_NODE_POOL,
    COLUMN_REQUESTED_POOLS,
    COLUMN_IMAGE,
    COLUMN_K8S_PHASE,
    COLUMN_K8S_PHASE_UPDATED,
    COLUMN_CREATED,
    COLUMN_STARTED,
    COLUMN_COMPLETED,
    COLUMN_DELETED,
    COLUMN_IP,
    COLUMN_GPU_DEVICES,
    COLUMN_GPU_PORTION,
    COLUMN_GPU_MEMORY,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_GPU_ALLOCATED,
    COLUMN_STATUS,
    COLUMN_TOLERATIONS,
    COLUMN_AFFINITY,
    COLUMN_GPU_INDICES,
    COLUMN_MESSAGE,
    COLUMN_EXIT_CODE,
    COLUMN_ATTEMPT,
    COLUMN_FAILED_MS,
    COLUMN_USED, // and the others of USED
};

// When a pod p ended that is tried again after a while; 0: it is not. Replicas have delays of their own.
#define FAILED_MS                                                                                            \
    "iif(p.status = 'Failed' AND p.reason NOT IN ('NodeLost', 'Lost') AND w.type <> 'Inference' AND w.phase" \
    " NOT IN ('Failed', 'Completed', 'Stopped', 'Stopping', 'Deleting') AND NOT EXISTS (SELECT 1 FROM pods"  \
    " later WHERE later.workload_id = p.workload_id AND later.role = p.role AND later.pod_index ="           \
    " p.pod_index AND later.attempt > p.attempt), p.completed_ms, 0)"

// When a pod p went; one that had ended stays until its workload is deleted. 0: it is there.
#define GONE_MS "iif(p.deleted_ms > 0, p.deleted_ms, w.deleted_ms)"

// What it uses now, as it was measured last; NULL: nobody measures it.
#define USED(metric)                                                                                              \
    "iif(p.status = 'Running', nullif((SELECT s.value FROM samples s WHERE s.scope = 'pod' AND s.scope_id = p.id" \
    " AND s.node_pool_id = 0 AND s.metric = '" metric "' ORDER BY s.time_ms DESC LIMIT 1), -1), NULL)"

#define USED_COLUMNS        \
    USED("GPU_UTILIZATION") \
    ", " USED("GPU_MEMORY_USAGE_BYTES") ", " USED("CPU_USAGE_CORES") ", " USED("CPU_MEMORY_USAGE_BYTES")

static const char *const USED_KEYS[] = {"gpuUtilization", "gpuMemoryBytes", "cpuCores", "cpuMemoryBytes"};

#define COLUMNS                                                                                                    \
    "p.name, p.uuid, w.uuid, (SELECT uuid FROM clusters WHERE id = w.cluster_id), w.priority_class, w.project_id," \
    " w.project_name, w.name, p.node_name, np.name,"                                                               \
    " json_extract('{' || w.listing_json || '}', '$.requestedNodePools'),"                                         \
    " json_extract(iif(p.role = 'master', coalesce(w.master_spec_json, w.spec_json), w.spec_json), '$.image'),"    \
    " p.k8s_phase, p.k8s_phase_updated_ms, p.created_ms, p.started_ms, p.completed_ms, " GONE_MS ", p.ip,"         \
    " p.gpu_devices, p.gpu_portion_milli, p.gpu_memory_mib, p.cpu_milli, p.memory_bytes, p.gpu_allocated_milli,"   \
    " p.status, json_extract(p.constraints_json, '$.tolerations'), json_extract(p.constraints_json, "              \
    "'$.nodeAffinity'),"                                                                                           \
    " p.gpu_indices_json, " POD_MESSAGE ", p.exit_code, p.attempt, " FAILED_MS ", " USED_COLUMNS

static const struct list_field FIELDS[] = {
    {"clusterId", "(SELECT uuid FROM clusters WHERE id = w.cluster_id)", LIST_TEXT, 0, false},
    {"workloadId", "w.uuid", LIST_TEXT, 0, false},
    {"revisionId", "NULL", LIST_TEXT, 0, false},
    {"nodeName", "p.node_name", LIST_TEXT, 0, true},
    {"currentNodepool", "np.name", LIST_TEXT, 0, true},
    {"createdAt", "p.created_ms", LIST_TIME, 0, false},
    {"completedAt", "nullif(p.completed_ms, 0)", LIST_TIME, 0, false},
    {"deletedAt", "nullif(" GONE_MS ", 0)", LIST_TIME, 0, false},
    {"name", "p.name", LIST_TEXT, 0, true},
    {"workloadName", "w.name", LIST_TEXT, 0, true},
    {"projectName", "w.project_name", LIST_TEXT, 0, true},
    {"k8sPhase", "p.k8s_phase", LIST_TEXT, 0, true},
};

static const struct list_source POD_LIST = {
    .columns = COLUMNS,
    .from = "pods p CROSS JOIN workloads w ON w.id = p.workload_id LEFT JOIN node_pools np ON np.id = p.node_pool_id",
    .id = "p.id",
    .order = "p.created_ms DESC, p.id DESC",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

// Of a caller who sees little.
static const struct list_source SCOPED_POD_LIST = {
    .columns = COLUMNS,
    .from = WORKLOAD_SCOPE_FROM
    " CROSS JOIN pods p ON p.workload_id = w.id LEFT JOIN node_pools np ON np.id = p.node_pool_id",
    .id = "p.id",
    .order = "p.created_ms DESC, p.id DESC",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static const struct list_source WORKLOAD_POD_LIST = {
    .columns = COLUMNS,
    .from = "pods p CROSS JOIN workloads w ON w.id = p.workload_id LEFT JOIN node_pools np ON np.id = p.node_pool_id",
    .id = "p.id",
    .order = "p.role, p.pod_index, p.attempt, p.id", // the master first
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static void write_requested(struct json_writer *json, sqlite3_stmt *stmt)
{
    char memory[QUANTITY_TEXT_SIZE];
    int64_t devices = db_column_int(stmt, COLUMN_GPU_DEVICES), portion = db_column_int(stmt, COLUMN_GPU_PORTION);
    int64_t memory_mib = db_column_int(stmt, COLUMN_GPU_MEMORY);
    json_key(json, "requestedResources");
    json_begin_object(json);
    json_text(json, "gpuRequestType", memory_mib ? "memory" : portion ? "portion" : NULL);
    json_key(json, "gpu");
    json_begin_object(json);
    json_milli(json, "request", memory_mib ? 0 : devices * (portion ? portion : 1000));
    json_end_object(json);
    if (memory_mib) {
        json_key(json, "gpuMemory");
        json_begin_object(json);
        json_text(json, "request", quantity_format_memory(memory_mib * 1024 * 1024, memory));
        json_end_object(json);
    }
    json_key(json, "cpu");
    json_begin_object(json);
    json_milli(json, "request", db_column_int(stmt, COLUMN_CPU));
    json_end_object(json);
    json_key(json, "cpuMemory");
    json_begin_object(json);
    json_text(json, "request", quantity_format_memory(db_column_int(stmt, COLUMN_MEMORY), memory));
    json_end_object(json);
    json_end_object(json);
}

// A pod holds its CPU and memory for as long as it has a place.
static void write_allocated(struct json_writer *json, sqlite3_stmt *stmt, struct arena *arena)
{
    static const char *const HOLDING[] = {"Binding", "Bound", "Running", "Releasing"};
    const char *status = db_column_text(stmt, COLUMN_STATUS, arena);
    bool holds = false;
    for (size_t i = 0; i < sizeof(HOLDING) / sizeof(HOLDING[0]); i++)
        holds = holds || strcmp(status, HOLDING[i]) == 0;
    char memory[QUANTITY_TEXT_SIZE];
    json_key(json, "allocatedResources");
    json_begin_object(json);
    json_milli(json, "gpu", db_column_int(stmt, COLUMN_GPU_ALLOCATED));
    json_milli(json, "cpu", holds ? db_column_int(stmt, COLUMN_CPU) : 0);
    json_text(json, "cpuMemory", quantity_format_memory(holds ? db_column_int(stmt, COLUMN_MEMORY) : 0, memory));
    json_end_object(json);
}

static void write_affinity(struct json_writer *json, const char *terms)
{
    if (!terms)
        return;
    json_key(json, "nodeAffinity");
    json_begin_object(json);
    json_key(json, "required");
    json_begin_object(json);
    json_raw(json, "nodeSelectorTerms", terms);
    json_end_object(json);
    json_end_object(json);
}

static void write_end(struct json_writer *json, sqlite3_stmt *stmt, const struct reconciler *reconciler)
{
    int64_t attempt = db_column_int(stmt, COLUMN_ATTEMPT), failed_ms = db_column_int(stmt, COLUMN_FAILED_MS);
    if (db_column_is_null(stmt, COLUMN_EXIT_CODE))
        json_null_at(json, "exitCode");
    else
        json_int(json, "exitCode", db_column_int(stmt, COLUMN_EXIT_CODE));
    json_int(json, "restarts", attempt);
    json_time(json, "nextTryAt", failed_ms ? failed_ms + reconciler_retry_delay_ms(reconciler, attempt + 1) : 0);
}

static void write_used(struct json_writer *json, sqlite3_stmt *stmt)
{
    json_key(json, "used");
    json_begin_object(json);
    for (int i = 0; i < (int)(sizeof(USED_KEYS) / sizeof(USED_KEYS[0])); i++)
        if (db_column_is_null(stmt, COLUMN_USED + i))
            json_null_at(json, USED_KEYS[i]);
        else
            json_number(json, USED_KEYS[i], db_column_real(stmt, COLUMN_USED + i));
    json_end_object(json);
}

static void write_pod(struct json_writer *json, sqlite3_stmt *stmt, bool is_full, const struct request *req)
{
    struct arena *arena = req->arena;
    const char *ip = db_column_text(stmt, COLUMN_IP, arena);
    const char *tolerations = db_column_text(stmt, COLUMN_TOLERATIONS, arena);
    json_begin_object(json);
    json_int(json, "tenantId", TENANT_ID);
    json_text(json, "name", db_column_text(stmt, COLUMN_NAME, arena));
    json_text(json, "id", db_column_text(stmt, COLUMN_UUID, arena));
    json_text(json, "workloadId", db_column_text(stmt, COLUMN_WORKLOAD_UUID, arena));
    json_text(json, "clusterId", db_column_text(stmt, COLUMN_CLUSTER_UUID, arena));
    json_text(json, "projectId", arena_printf(arena, "%" PRId64, (int64_t)db_column_int(stmt, COLUMN_PROJECT)));
    if (is_full) {
        json_text(json, "workloadName", db_column_text(stmt, COLUMN_WORKLOAD_NAME, arena));
        json_text(json, "projectName", db_column_text(stmt, COLUMN_PROJECT_NAME, arena));
    }
    json_text(json, "priorityClassName", db_column_text(stmt, COLUMN_PRIORITY_CLASS, arena));
    json_text(json, "nodeName", db_column_text(stmt, COLUMN_NODE, arena));
    json_text(json, "currentNodePool", db_column_text(stmt, COLUMN_NODE_POOL, arena));
    json_raw(json, "requestedNodePools", db_column_text(stmt, COLUMN_REQUESTED_POOLS, arena));
    json_text(json, "k8sPhase", db_column_text(stmt, COLUMN_K8S_PHASE, arena));
    json_time(json, "k8sPhaseUpdatedAt", db_column_int(stmt, COLUMN_K8S_PHASE_UPDATED));
    json_time(json, "updatedAt", db_column_int(stmt, COLUMN_K8S_PHASE_UPDATED));
    json_time(json, "createdAt", db_column_int(stmt, COLUMN_CREATED));
    json_time(json, "completedAt", db_column_int(stmt, COLUMN_COMPLETED));
    json_time(json, "deletedAt", db_column_int(stmt, COLUMN_DELETED));
    json_text(json, "ip", ip[0] ? ip : NULL);
    json_key(json, "containers");
    json_begin_array(json);
    json_begin_object(json);
    json_text(json, "name", db_column_text(stmt, COLUMN_WORKLOAD_NAME, arena));
    json_text(json, "image", db_column_text(stmt, COLUMN_IMAGE, arena));
    json_time(json, "startedAt", db_column_int(stmt, COLUMN_STARTED));
    json_end_object(json);
    json_end_array(json);
    write_requested(json, stmt);
    write_allocated(json, stmt, arena);
    json_raw(json, "gpuIndices", db_column_text(stmt, COLUMN_GPU_INDICES, arena));
    json_text(json, "message", db_column_text(stmt, COLUMN_MESSAGE, arena));
    write_end(json, stmt, req->server->reconciler);
    write_used(json, stmt);
    json_raw(json, "tolerations", tolerations ? tolerations : "[]");
    write_affinity(json, db_column_text(stmt, COLUMN_AFFINITY, arena));
    json_end_object(json);
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    const bool *is_full = context;
    write_pod(json, row, *is_full, req);
}

static const struct list_form FORM = {.key = "pods", .tells_next = true, .write_row = write_row};

static int init_query(struct request *req, struct list_query *query, const struct workload_scope *scope,
                      struct error *err)
{
    if (list_query_init(query, scope->is_narrow ? &SCOPED_POD_LIST : &POD_LIST, req, err) < 0)
        return -1;
    workload_scope_where(scope, query);
    list_query_where(query, request_query_boolean(req, "deleted") ? GONE_MS " > 0" : GONE_MS " = 0");
    return 0;
}

static int init_page(struct request *req, struct list_query *query, struct error *err)
{
    struct workload_scope scope;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = workload_scope_of_page(req, conn, true, &scope, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : init_query(req, query, &scope, err);
}

int op_list_pods(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    const char *completed = request_query(req, "completed"), *verbosity = request_query(req, "verbosity");
    if (init_page(req, &query, err) < 0)
        return -1;
    if (completed && strcmp(completed, "true") == 0)
        list_query_where(&query, "p.completed_ms > 0");
    else if (completed && strcmp(completed, "false") == 0)
        list_query_where(&query, "p.completed_ms = 0");
    else if (completed && strcmp(completed, "all") != 0)
        return error_set(err, ERROR_INVALID, "completed: one of true, false, all, got %.40s", completed);
    return list_answer(req, res, &query, &FORM, &(bool){verbosity && strcmp(verbosity, "full") == 0}, err);
}

int op_count_pods(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct workload_scope scope;
    workload_scope_of_sum(req, true, &scope);
    return init_query(req, &query, &scope, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

int op_get_workload_pods(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    struct list_query query;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0 ||
        list_query_init(&query, &WORKLOAD_POD_LIST, req, err) < 0)
        return -1;
    list_query_where_int(&query, "p.workload_id = ?", state.id);
    if (!state.deleted_ms) // else all of them are gone
        list_query_where(&query, request_query_boolean(req, "deleted") ? "p.deleted_ms > 0" : "p.deleted_ms = 0");
    return list_answer(req, res, &query, &FORM, &(bool){true}, err);
}
