#include "api/workloads/workload_list.h"

#include "api/http/request.h"
#include "api/lists/visibility.h"
#include "api/lists/workload_scope.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "db/db.h"
#include "model/phase.h"
#include "model/workload_brief.h"

#include <string.h>

enum {
    COLUMN_LISTING,
    COLUMN_PHASE,
    COLUMN_PHASE_MESSAGE,
    COLUMN_PHASE_REASON,
    COLUMN_PHASE_UPDATED,
    COLUMN_K8S_PHASE,
    COLUMN_K8S_PHASE_UPDATED,
    COLUMN_UPDATED,
    COLUMN_DELETED,
    COLUMN_COMPLETED,
    COLUMN_STARTED,
    COLUMN_PENDING_TOTAL,
    COLUMN_RUNNING_TOTAL,
    COLUMN_GPU_ALLOCATED,
    COLUMN_CPU_ALLOCATED,
    COLUMN_MEMORY_ALLOCATED,
    COLUMN_PODS_RUNNING,
    COLUMN_NODE_POOLS,
    COLUMN_PREEMPTIBLE,
    COLUMN_SENTENCE,
    COLUMN_CODE,
    COLUMN_FORECAST,
    COLUMN_PROJECT,
};

#define COLUMNS                                                                                                    \
    "w.listing_json, w.phase, w.phase_message, w.phase_reason, w.phase_updated_ms, w.k8s_phase,"                   \
    " w.k8s_phase_updated_ms, w.updated_ms, w.deleted_ms, w.completed_ms, w.started_ms, w.pending_total_ms,"       \
    " w.running_total_ms, w.gpu_allocated_milli, w.cpu_allocated_milli, w.memory_allocated_bytes, w.pods_running," \
    " w.current_node_pools_json, w.preemptible,"                                                                   \
    " w.explanation_json ->> '$.sentence', w.explanation_json ->> '$.code', w.explanation_json -> '$.forecast',"   \
    " w.project_id"

// Totals of finished stretches, and the present one (model/phase.h has the same sets).
#define PENDING_MS                                                             \
    "w.pending_total_ms + iif(w.phase IN ('Creating', 'Pending', 'Resuming')," \
    " max(unixepoch() * 1000 - w.phase_updated_ms, 0), 0)"
#define RUNNING_MS                                                             \
    "w.running_total_ms + iif(w.phase IN ('Running', 'Degraded', 'Updating')," \
    " max(unixepoch() * 1000 - w.phase_updated_ms, 0), 0)"
// Of a project's own, else of its department's; in seconds, and NULL where neither says any.
#define OWN_RUNTIME                                                      \
    "coalesce(p.scheduling_rules_json ->> '$.preemptMinRuntimeSeconds'," \
    " d.scheduling_rules_json ->> '$.preemptMinRuntimeSeconds')"
#define PROJECTS_AND_DEPARTMENTS "projects p JOIN departments d ON d.id = p.department_id"
// Of what runs, for which pools_json says where.
#define GUARANTEED_UNTIL                                                                                    \
    "iif(w.phase IN ('Running', 'Degraded', 'Updating') AND w.started_ms > 0 AND w.preemptible,"            \
    " (SELECT w.started_ms + nullif(coalesce((SELECT " OWN_RUNTIME " * 1000 FROM " PROJECTS_AND_DEPARTMENTS \
    " WHERE p.id = w.project_id), np.min_guaranteed_runtime_ms), 0) FROM node_pools np"                     \
    " WHERE np.deleted_ms = 0 AND np.name = w.pool), NULL)"

// As a rule there is one, which is looked up once.
#define CLUSTER                                                                  \
    "iif((SELECT count(*) FROM clusters) = 1, (SELECT min(uuid) FROM clusters)," \
    " (SELECT uuid FROM clusters WHERE id = w.cluster_id))"

#define LIKE_WORDS(words) "SELECT max(word LIKE ?2 ESCAPE '\\') FROM (" words ")"
#define WORDS "SELECT word FROM workload_words WHERE field = ?1"
// Persons, each found by one look at an index.
#define NEXT_PERSON(after)                                                                                        \
    "(SELECT created_by FROM workloads INDEXED BY workloads_of_person WHERE deleted_ms = 0 AND created_by " after \
    " ORDER BY created_by LIMIT 1)"
#define PERSONS                                                                                       \
    "WITH RECURSIVE persons(word) AS (SELECT " NEXT_PERSON(">= ''") " UNION ALL SELECT " NEXT_PERSON( \
        "> word") " FROM persons WHERE word IS NOT NULL)"
#define LIVE_WORDS \
    PERSONS LIKE_WORDS(WORDS " UNION ALL SELECT word FROM persons WHERE ?1 = 'submittedBy' AND word IS NOT NULL")

static const struct list_field FIELDS[] = {
    {"name", "w.name", LIST_TEXT, 0, true},
    {"type", "w.type", LIST_TEXT, 0, true},
    {"clusterId", CLUSTER, LIST_TEXT, 0, false},
    {"projectId", "w.project_id", LIST_NUMBER, 0, false},
    {"projectName", "w.project_name", LIST_TEXT, 0, true},
    {"departmentId", "w.department_id", LIST_NUMBER, 0, false},
    {"departmentName", "w.department_name", LIST_TEXT, 0, true},
    {"createdAt", "w.created_ms", LIST_TIME, 0, false},
    {"deletedAt", "nullif(w.deleted_ms, 0)", LIST_TIME, 0, false},
    {"submittedBy", "w.created_by", LIST_TEXT, 0, true},
    {"phase", "w.phase", LIST_TEXT, 0, true},
    {"waitsFor", "w.explanation_json ->> '$.code'", LIST_TEXT, 0, false}, // as in /scheduler/waiting
    {"waitsIn", "w.explanation_json ->> '$.pool'", LIST_TEXT, 0, false},
    {"completedAt", "nullif(w.completed_ms, 0)", LIST_TIME, 0, false},
    {"nodepool", "w.pools_json", LIST_SET, 0, false},
    {"distributedFramework", "w.framework", LIST_TEXT, 0, true},
    {"allocatedGPU", "w.gpu_allocated_milli", LIST_NUMBER, 1000, false},
    // Not known here: GET /workloads/idle reads samples for them.
    {"idleGpus", "NULL", LIST_NUMBER, 0, false},
    {"idleAllocatedGpus", "NULL", LIST_NUMBER, 0, false},
    {"phaseUpdatedAt", "w.phase_updated_ms", LIST_TIME, 0, false},
    {"category", "w.category", LIST_TEXT, 0, true},
    {"priority", "w.priority", LIST_NUMBER, 0, false},
    {"totalPendingTimeSeconds", PENDING_MS, LIST_NUMBER, 1000, false},
    {"totalRunningTimeSeconds", RUNNING_MS, LIST_NUMBER, 1000, false},
    {"priorityClassName", "w.priority_class", LIST_TEXT, 0, true},
    {"guaranteedRuntimeEndsAt", GUARANTEED_UNTIL, LIST_TIME, 0, false},
    {"aiApplicationId", "NULL", LIST_TEXT, 0, false},
    {"aiApplicationName", "NULL", LIST_TEXT, 0, false},
};

const struct list_source WORKLOAD_LIST = {
    .columns = COLUMNS,
    .from = "workloads w",
    .where = "w.deleted_ms = 0",
    .id = "w.id",
    .late = "workloads w",
    .words = LIVE_WORDS,
    .order = "w.created_ms DESC, w.id DESC",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

// With + no index that begins with the deletion: from the projects' side theirs is the one.
const struct list_source SCOPED_WORKLOAD_LIST = {
    .columns = COLUMNS,
    .from = WORKLOAD_SCOPE_FROM,
    .where = "+w.deleted_ms = 0",
    .id = "w.id",
    .late = "workloads w",
    .words = LIVE_WORDS,
    .order = "w.created_ms DESC, w.id DESC",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

const struct list_source DELETED_WORKLOAD_LIST = {
    .columns = COLUMNS,
    .from = "workloads w",
    .where = "w.deleted_ms > 0",
    .id = "w.id",
    .late = "workloads w",
    .words = LIKE_WORDS(WORDS),
    .order = "w.deleted_ms DESC, w.id DESC",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

const struct list_source SCOPED_DELETED_WORKLOAD_LIST = {
    .columns = COLUMNS,
    .from = WORKLOAD_SCOPE_FROM,
    .where = "+w.deleted_ms > 0",
    .id = "w.id",
    .late = "workloads w",
    .words = LIKE_WORDS(WORDS),
    .order = "w.deleted_ms DESC, w.id DESC",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static const char SQL_RUNTIME_POOLS[] = "SELECT name, min_guaranteed_runtime_ms FROM node_pools WHERE deleted_ms = 0"
                                        " AND min_guaranteed_runtime_ms > 0";
static const char SQL_RUNTIME_PROJECTS[] =
    "SELECT p.id, " OWN_RUNTIME " * 1000 FROM " PROJECTS_AND_DEPARTMENTS " WHERE " OWN_RUNTIME " IS NOT NULL";

static int read_runtime_projects(struct db_conn *conn, struct arena *arena, struct runtime_pools *out,
                                 struct error *err)
{
    sqlite3_stmt *stmt;
    size_t capacity = 0;
    if (db_prepare(conn, SQL_RUNTIME_PROJECTS, &stmt, err) < 0)
        return -1;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        out->projects = arena_grow(arena, out->projects, &capacity, out->project_count + 1, sizeof(*out->projects));
        out->projects[out->project_count++] = (struct runtime_project){db_column_int(stmt, 0), db_column_int(stmt, 1)};
    }
    db_release(conn, stmt);
    return rc;
}

int runtime_pools_read(struct db_conn *conn, struct arena *arena, struct runtime_pools *out, struct error *err)
{
    sqlite3_stmt *stmt;
    size_t name_capacity = 0, runtime_capacity = 0;
    *out = (struct runtime_pools){0};
    if (db_prepare(conn, SQL_RUNTIME_POOLS, &stmt, err) < 0)
        return -1;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        out->names = arena_grow(arena, out->names, &name_capacity, out->count + 1, sizeof(*out->names));
        out->runtimes_ms =
            arena_grow(arena, out->runtimes_ms, &runtime_capacity, out->count + 1, sizeof(*out->runtimes_ms));
        out->names[out->count] = db_column_text(stmt, 0, arena);
        out->runtimes_ms[out->count++] = db_column_int(stmt, 1);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : read_runtime_projects(conn, arena, out, err);
}

static void write_allocated(struct json_writer *json, sqlite3_stmt *stmt)
{
    char memory[QUANTITY_TEXT_SIZE];
    json_key(json, "allocatedResources");
    json_begin_object(json);
    json_milli(json, "gpu", db_column_int(stmt, COLUMN_GPU_ALLOCATED));
    json_milli(json, "cpu", db_column_int(stmt, COLUMN_CPU_ALLOCATED));
    json_text(json, "cpuMemory", quantity_format_memory(db_column_int(stmt, COLUMN_MEMORY_ALLOCATED), memory));
    json_end_object(json);
}

// current_node_pools_json is an array of one pool as a rule.
static int64_t guaranteed_until(sqlite3_stmt *stmt, const struct runtime_pools *pools, enum workload_phase phase,
                                const char *current_pools, struct arena *arena)
{
    int64_t started_ms = db_column_int(stmt, COLUMN_STARTED);
    if (!started_ms || !phase_is_running(phase) || !db_column_int(stmt, COLUMN_PREEMPTIBLE))
        return 0;
    int64_t project_id = db_column_int(stmt, COLUMN_PROJECT);
    for (size_t i = 0; i < pools->project_count; i++)
        if (pools->projects[i].id == project_id)
            return pools->projects[i].runtime_ms ? started_ms + pools->projects[i].runtime_ms : 0;
    for (size_t i = 0; i < pools->count; i++)
        if (strstr(current_pools, arena_printf(arena, "\"%s\"", pools->names[i])))
            return started_ms + pools->runtimes_ms[i];
    return 0;
}

// Why it waits, in the names that the caller may know.
static void write_explanation(struct json_writer *json, sqlite3_stmt *stmt, const struct visibility *visibility,
                              struct arena *arena)
{
    const char *sentence = db_column_text(stmt, COLUMN_SENTENCE, arena);
    if (!sentence) {
        json_null_at(json, "explanation");
        return;
    }
    json_key(json, "explanation");
    json_begin_object(json);
    json_text(json, "sentence", visibility_sentence(visibility, sentence));
    json_text(json, "code", db_column_text(stmt, COLUMN_CODE, arena));
    json_raw(json, "forecast", db_column_text(stmt, COLUMN_FORECAST, arena));
    json_end_object(json);
}

static void write_state(struct json_writer *json, sqlite3_stmt *stmt, const struct runtime_pools *pools, int64_t now_ms,
                        const struct visibility *visibility)
{
    struct arena *arena = visibility->req->arena;
    const char *phase_word = db_column_text(stmt, COLUMN_PHASE, arena);
    const char *reason = db_column_text(stmt, COLUMN_PHASE_REASON, arena);
    const char *current_pools = db_column_text(stmt, COLUMN_NODE_POOLS, arena);
    enum workload_phase phase = phase_parse(phase_word);
    int64_t deleted_ms = db_column_int(stmt, COLUMN_DELETED);
    int64_t phase_updated_ms = db_column_int(stmt, COLUMN_PHASE_UPDATED);
    int64_t present_ms = !deleted_ms && now_ms > phase_updated_ms ? now_ms - phase_updated_ms : 0;
    int64_t pending_ms = db_column_int(stmt, COLUMN_PENDING_TOTAL) + (phase_is_pending(phase) ? present_ms : 0);
    int64_t running_ms = db_column_int(stmt, COLUMN_RUNNING_TOTAL) + (phase_is_running(phase) ? present_ms : 0);

    json_text(json, "phase", phase_word);
    json_text(json, "phaseMessage", db_column_text(stmt, COLUMN_PHASE_MESSAGE, arena));
    json_text(json, "phaseReason", reason[0] ? reason : NULL);
    write_explanation(json, stmt, visibility, arena);
    json_time(json, "phaseUpdatedAt", phase_updated_ms);
    json_text(json, "k8sPhase", db_column_text(stmt, COLUMN_K8S_PHASE, arena));
    json_time(json, "k8sPhaseUpdatedAt", db_column_int(stmt, COLUMN_K8S_PHASE_UPDATED));
    json_time(json, "updatedAt", db_column_int(stmt, COLUMN_UPDATED));
    json_time(json, "deletedAt", deleted_ms);
    json_time(json, "completedAt", db_column_int(stmt, COLUMN_COMPLETED));
    json_time(json, "guaranteedRuntimeEndsAt", guaranteed_until(stmt, pools, phase, current_pools, arena));
    json_int(json, "totalPendingTimeSeconds", pending_ms / 1000);
    json_int(json, "totalRunningTimeSeconds", running_ms / 1000);
    json_int(json, "runningPods", db_column_int(stmt, COLUMN_PODS_RUNNING));
    json_raw(json, "currentNodePools", current_pools);
    write_allocated(json, stmt);
    json_key(json, "actionsSupport");
    json_begin_object(json);
    json_bool(json, "delete", !deleted_ms && phase != PHASE_DELETING);
    json_bool(json, "suspend", !deleted_ms && phase_can_suspend(phase));
    json_end_object(json);
    json_key(json, "conditions");
    json_begin_array(json);
    json_end_array(json);
}

void workload_write_row(struct json_writer *json, sqlite3_stmt *stmt, const struct runtime_pools *pools, int64_t now_ms,
                        const struct visibility *visibility)
{
    size_t length;
    const char *listing = db_column_view(stmt, COLUMN_LISTING, &length);
    if (length <= WORKLOAD_BRIEF_BYTES) {
        json_members(json, listing);
    } else {
        struct buffer brief;
        buffer_init(&brief, 0);
        bool is_cut = workload_brief_append(listing, &brief);
        json_members(json, brief.data);
        buffer_done(&brief);
        if (is_cut)
            json_bool(json, "truncated", true);
    }
    write_state(json, stmt, pools, now_ms, visibility);
}

void workload_write_whole(struct json_writer *json, sqlite3_stmt *stmt, const struct runtime_pools *pools,
                          int64_t now_ms, const struct visibility *visibility)
{
    size_t length;
    json_members(json, db_column_view(stmt, COLUMN_LISTING, &length));
    write_state(json, stmt, pools, now_ms, visibility);
}
