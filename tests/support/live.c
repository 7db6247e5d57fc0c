#include "tests/support/live.h"

#include "backends/simulated/simulated.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/node_pools.h"
#include "db/nodes.h"
#include "db/org_seed.h"
#include "db/org_units.h"
#include "db/workloads.h"
#include "journal/journal.h"
#include "model/submission.h"
#include "tests/support/check.h"

#include <ftw.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int rc, const char *what, const struct error *err)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, err->message);
    abort();
}

static int64_t now_of(void *context)
{
    return ((struct live *)context)->now_ms;
}

static void open_parts(struct live *live)
{
    struct error err = {0};
    struct simulated_options simulated = {.speed = 1, .now_ms = live->has_threads ? NULL : now_of, .now_context = live};
    must(db_open(&(struct db_options){.path = live->path, .reader_count = 3}, &live->db, &err), "db_open", &err);
    must(simulated_create(&simulated, &live->simulated, &err), "simulated_create", &err);
    live->backend = (struct backend){.ops = &LIVE_BACKEND, .self = live};
    live->options.now_ms = live->has_threads ? NULL : now_of;
    live->options.now_context = live;
    if (live->has_journal) {
        struct journal_options journal = {.folder = live->journal_folder,
                                          .keep_ms = INT64_C(7) * 24 * 60 * 60 * 1000,
                                          .bound_bytes = live->journal_bound ? live->journal_bound : INT64_C(1) << 30};
        must(journal_open(&journal, live->now_ms, &live->journal, &err), "journal_open", &err);
    }
    live->options.journal = live->journal;
    must(reconciler_create(live->db, &live->backend, &live->options, &live->reconciler, &err), "create", &err);
    if (live->has_threads)
        must(reconciler_start(live->reconciler, &err), "start", &err);
    else
        must(reconciler_begin(live->reconciler, &err), "begin", &err);
}

static void close_parts(struct live *live)
{
    reconciler_stop(live->reconciler);
    db_close(live->db); // its writer calls the reconciler's listener
    journal_close(live->journal);
    live->journal = NULL;
    reconciler_destroy(live->reconciler);
    backend_destroy(&live->backend);
}

static int seed(struct db_conn *conn, void *context, struct error *err)
{
    struct live *live = context;
    if (org_seed(conn, "test", "0", live->now_ms, &live->cluster_id, err) < 0)
        return -1;
    struct org_unit unit = {.kind = ORG_UNIT_DEPARTMENT,
                            .cluster_id = live->cluster_id,
                            .name = "research",
                            .description = "",
                            .phase = "Ready",
                            .created_by = "test",
                            .updated_by = "test",
                            .created_ms = live->now_ms,
                            .updated_ms = live->now_ms};
    if (db_create_org_unit(conn, &unit, NULL, &live->arena, err) < 0)
        return -1;
    live->department_id = unit.id;
    return 0;
}

void live_open(struct live *live, int node_count, int gpus)
{
    struct error err = {0};
    must(sodium_init() < 0 ? -1 : 0, "sodium_init", &err);
    log_configure(getenv("LIVE_LOG") ? LOG_DEBUG : LOG_WARN, false);
    live->now_ms = 1700000000000;
    live->options.sample_interval_ms = 1000;
    arena_init(&live->arena);
    snprintf(live->folder, sizeof(live->folder), "/tmp/prorata-live-XXXXXX");
    must(mkdtemp(live->folder) ? 0 : -1, "mkdtemp", &err);
    snprintf(live->path, sizeof(live->path), "%s/prorata.db", live->folder);
    snprintf(live->journal_folder, sizeof(live->journal_folder), "%s/journal", live->folder);
    open_parts(live);
    must(db_write(live->db, seed, live, &err), "seed", &err);
    for (int i = 0; i < node_count; i++)
        live_add_node(live, arena_printf(&live->arena, "node%d", i), gpus, true);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void live_close(struct live *live)
{
    close_parts(live);
    nftw(live->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    arena_done(&live->arena);
}

void live_crash(struct live *live)
{
    live->has_crashed = true;
    live->crashes = false;
    close_parts(live);
    open_parts(live);
}

void live_use_threads(struct live *live)
{
    close_parts(live);
    live->has_threads = true;
    live->now_ms = timestamp_now_ms();
    open_parts(live);
}

struct project_job {
    struct live *live;
    const char *name;
    int64_t gpu_quota;
};

static const char SQL_SET_QUOTA[] =
    "UPDATE queues SET gpu_deserved_milli = gpu_deserved_milli + ?3, revision = ?4 WHERE owner_kind = ?1 AND owner_id ="
    " ?2";

static int add_quota(struct db_conn *conn, const char *kind, int64_t owner_id, int64_t gpu_quota, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_SET_QUOTA, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, kind);
    db_bind_int(stmt, 2, owner_id);
    db_bind_int(stmt, 3, gpu_quota * 1000);
    db_bind_int(stmt, 4, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_PROJECT, owner_id);
    return rc;
}

static int add_project(struct db_conn *conn, void *context, struct error *err)
{
    struct project_job *job = context;
    struct org_unit unit = {.kind = ORG_UNIT_PROJECT,
                            .cluster_id = job->live->cluster_id,
                            .department_id = job->live->department_id,
                            .name = job->name,
                            .description = "",
                            .phase = "Ready",
                            .created_by = "test",
                            .updated_by = "test",
                            .created_ms = job->live->now_ms,
                            .updated_ms = job->live->now_ms};
    if (db_create_org_unit(conn, &unit, NULL, &job->live->arena, err) < 0 ||
        add_quota(conn, "project", unit.id, job->gpu_quota, err) < 0)
        return -1;
    return add_quota(conn, "department", job->live->department_id, job->gpu_quota, err);
}

void live_add_project(struct live *live, const char *name, int64_t gpu_quota)
{
    struct error err = {0};
    struct project_job job = {live, name, gpu_quota};
    must(db_write(live->db, add_project, &job, &err), "add_project", &err);
}

struct named_job {
    struct live *live;
    const char *name;
};

static int delete_project(struct db_conn *conn, void *context, struct error *err)
{
    const struct named_job *job = context;
    sqlite3_stmt *stmt;
    int64_t id = 0;
    bool is_finished;
    if (db_prepare_once(conn, "SELECT id FROM projects WHERE name = ?", &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, job->name);
    if (db_step(conn, stmt, err) == 1)
        id = db_column_int(stmt, 0);
    db_release(conn, stmt);
    return db_delete_project(conn, id, "test", job->live->now_ms, &is_finished, err);
}

void live_delete_project(struct live *live, const char *name)
{
    struct error err = {0};
    struct named_job job = {live, name};
    must(db_write(live->db, delete_project, &job, &err), "delete project", &err);
}

static int add_pool(struct db_conn *conn, void *context, struct error *err)
{
    const struct named_job *job = context;
    struct node_pool pool = {0};
    node_pool_defaults(&pool);
    pool.cluster_id = job->live->cluster_id;
    pool.name = job->name;
    pool.label_key = "pool";
    pool.label_value = job->name;
    pool.created_by = pool.updated_by = "test";
    pool.created_ms = pool.updated_ms = job->live->now_ms;
    return db_create_node_pool(conn, &pool, err);
}

void live_add_pool(struct live *live, const char *name)
{
    struct error err = {0};
    struct named_job job = {live, name};
    must(db_write(live->db, add_pool, &job, &err), "pool", &err);
}

struct node_job {
    struct live *live;
    const char *name;
    int gpus;
    bool ready;
    bool removes;
};

// The part of the name before a dash is the value of label `pool`.
static const char *labels_of(const char *name, struct arena *arena)
{
    const char *dash = strchr(name, '-');
    return dash ? arena_printf(arena, "{\"pool\":\"%.*s\"}", (int)(dash - name), name) : "{}";
}

static int change_node(struct db_conn *conn, void *context, struct error *err)
{
    struct node_job *job = context;
    struct live *live = job->live;
    if (job->removes)
        return db_remove_node(conn, live->cluster_id, job->name, live->now_ms, err);
    struct node node = {.cluster_id = live->cluster_id,
                        .name = job->name,
                        .status = job->ready ? NODE_STATUS_READY : NODE_STATUS_NOT_READY,
                        .status_reason = "",
                        .labels_json = labels_of(job->name, &live->arena),
                        .taints_json = "[]",
                        .gpu_count = job->gpus,
                        .gpu_memory_mib = 81920,
                        .gpu_type = "NVIDIA-H100",
                        .mig_strategy = "none",
                        .mig_instances_json = "{}",
                        .cpu_milli = 64000,
                        .memory_bytes = INT64_C(512) << 30,
                        .max_pods = 110,
                        .unhealthy_gpus_json = "[]",
                        .ip = "",
                        .version = "",
                        .created_ms = live->now_ms,
                        .updated_ms = live->now_ms};
    return db_upsert_node(conn, &node, err);
}

void live_add_node(struct live *live, const char *name, int gpus, bool ready)
{
    struct error err = {0};
    struct node_job job = {live, name, gpus, ready, false};
    must(db_write(live->db, change_node, &job, &err), "node", &err);
}

void live_remove_node(struct live *live, const char *name)
{
    struct error err = {0};
    struct node_job job = {live, name, 0, false, true};
    must(db_write(live->db, change_node, &job, &err), "remove node", &err);
}

struct submit_job {
    struct live *live;
    const struct live_spec *spec;
};

static int or_one(int value)
{
    return value > 0 ? value : 1;
}

static int submit(struct db_conn *conn, void *context, struct error *err)
{
    const struct submit_job *job = context;
    const struct live_spec *wanted = job->spec;
    struct live *live = job->live;
    const char *sql = arena_printf(&live->arena, "SELECT id FROM projects WHERE name = '%s'", wanted->project);
    int gpus = wanted->cpu_pods ? 0 : or_one(wanted->gpus);
    int pods = wanted->workers ? wanted->workers : wanted->cpu_pods ? wanted->cpu_pods : or_one(wanted->parallelism);
    struct workload_spec spec = {
        .type = wanted->workers ? WORKLOAD_TYPE_DISTRIBUTED : WORKLOAD_TYPE_TRAINING,
        .category = "Train",
        .priority_class = "low",
        .priority = wanted->priority ? wanted->priority : 50,
        .is_preemptible = !wanted->non_preemptible,
        .framework = wanted->workers ? "PyTorch" : "",
        .worker = {.role = POD_ROLE_TEXT_WORKER,
                   .gpu_devices = gpus,
                   .gpu_portion_milli = wanted->portion_milli,
                   .cpu_milli = 100,
                   .memory_bytes = 100 << 20},
        .worker_count = pods,
        .has_master = wanted->has_master,
        .sub_groups_json = wanted->sub_groups,
        .pods_wanted = pods + wanted->has_master,
        .min_pods = (wanted->min_pods  ? wanted->min_pods
                     : wanted->workers ? pods
                                       : 1) +
                    wanted->has_master,
        .parallelism = or_one(wanted->parallelism),
        .completions = or_one(wanted->completions),
        .backoff_limit = wanted->backoff_limit,
        .grace_period_ms = 30000,
        .auto_delete_ms = wanted->auto_delete_ms ? wanted->auto_delete_ms : INT64_C(2592000000),
        .is_terminated_after_preemption = wanted->terminate_after_preemption,
        .gpu_milli = (int64_t)gpus * pods * 1000,
        .cpu_milli = 100 * pods,
        .memory_bytes = (int64_t)pods * (100 << 20),
    };
    spec.master = spec.worker;
    spec.master.role = POD_ROLE_TEXT_MASTER;
    int64_t project_id;
    sqlite3_stmt *stmt;
    if (db_prepare_once(conn, sql, &stmt, err) < 0)
        return -1;
    project_id = db_step(conn, stmt, err) == 1 ? db_column_int(stmt, 0) : 0;
    db_release(conn, stmt);
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    const char *scope = arena_printf(&live->arena, "project %s", wanted->project);
    struct submission submission = {
        .uuid = uuid,
        .name = wanted->name,
        .requested_name = wanted->name,
        .project_id = project_id,
        .created_by = wanted->person ? wanted->person : "test",
        .now_ms = live->now_ms,
        .spec = &spec,
        .spec_json = arena_printf(&live->arena, "{\"image\":\"x\",\"restartPolicy\":\"%s\",%s\"annotations\":%s}",
                                  wanted->restart_policy ? wanted->restart_policy : "Never",
                                  wanted->fails_by_index ? "\"backoffLimitPerIndex\":0," : "",
                                  wanted->annotations ? wanted->annotations : "[]"),
        .node_pools_json = wanted->node_pools,
        .listing_json = "",
        .time_limit_ms = wanted->time_limit_ms,
        .idle_limit_ms = wanted->idle_limit_ms,
        .time_limit_scope = scope,
        .idle_limit_scope = scope,
    };
    return db_insert_workload(conn, &submission, err);
}

void live_submit(struct live *live, const struct live_spec *spec)
{
    struct error err = {0};
    struct submit_job job = {live, spec};
    live->now_ms++; // so that ages differ
    must(db_write(live->db, submit, &job, &err), spec->name, &err);
}

struct wish_job {
    struct live *live;
    const char *name;
    enum workload_wish wish;
};

static int wish(struct db_conn *conn, void *context, struct error *err)
{
    const struct wish_job *job = context;
    const char *uuid = NULL;
    sqlite3_stmt *stmt;
    struct workload_state state;
    if (db_prepare_once(conn, "SELECT uuid FROM workloads WHERE name = ? AND deleted_ms = 0", &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, job->name);
    if (db_step(conn, stmt, err) == 1)
        uuid = db_column_text(stmt, 0, &job->live->arena);
    db_release(conn, stmt);
    if (!uuid)
        return error_set(err, ERROR_NOT_FOUND, "no workload %s", job->name);
    if (db_find_workload(conn, uuid, NULL, &job->live->arena, &state, err) < 0)
        return -1;
    return db_wish_workload(conn, &state, job->wish, "test", job->live->now_ms, err);
}

static void make_wish(struct live *live, const char *name, enum workload_wish what)
{
    struct error err = {0};
    struct wish_job job = {live, name, what};
    must(db_write(live->db, wish, &job, &err), name, &err);
}

void live_suspend(struct live *live, const char *name)
{
    make_wish(live, name, WISH_STOPPED);
}

void live_resume(struct live *live, const char *name)
{
    make_wish(live, name, WISH_RUNNING);
}

void live_delete(struct live *live, const char *name)
{
    make_wish(live, name, WISH_DELETED);
}

void live_report_use(struct live *live, const char *name, double gpu_utilization)
{
    live->gpu_utilization = gpu_utilization;
    live->used_pod = live_text(live, arena_printf(&live->arena,
                                                  "SELECT p.uuid FROM pods p JOIN workloads w ON w.id = p.workload_id"
                                                  " WHERE w.name = '%s' ORDER BY p.id DESC",
                                                  name));
}

void live_run(struct live *live)
{
    bool busy = true;
    int count = 0;
    for (; busy && count < 1000; count++) {
        struct error err = {0};
        if (live->crash_at && ++live->turns == live->crash_at)
            live_crash(live);
        must(reconciler_turn(live->reconciler, &busy, &err), "turn", &err);
        if (live->crashes) {
            live_crash(live);
            busy = true;
        }
    }
    check_true(count < 1000, "the reconciler comes to rest");
}

void live_advance(struct live *live, int64_t ms)
{
    while (ms > 0) {
        int64_t step = ms < 1000 ? ms : 1000;
        live->now_ms += step;
        ms -= step;
        live_run(live);
    }
}

const char *live_text(struct live *live, const char *sql)
{
    struct error err = {0};
    struct db_conn *conn = db_acquire(live->db);
    sqlite3_stmt *stmt;
    const char *text = NULL;
    must(db_prepare_once(conn, sql, &stmt, &err), sql, &err);
    if (db_step(conn, stmt, &err) == 1)
        text = db_column_text(stmt, 0, &live->arena);
    db_release(conn, stmt);
    db_give_back(live->db, conn);
    return text ? text : "";
}

int64_t live_number(struct live *live, const char *sql)
{
    return strtoll(live_text(live, sql), NULL, 10);
}

const char *live_phase(struct live *live, const char *workload)
{
    return live_text(
        live, arena_printf(&live->arena, "SELECT phase FROM workloads WHERE name = '%s' ORDER BY id DESC", workload));
}

int64_t live_events(struct live *live, const char *workload, const char *reason)
{
    return live_number(live, arena_printf(&live->arena,
                                          "SELECT count(*) FROM events e JOIN workloads w ON w.id = e.workload_id"
                                          " WHERE w.name = '%s' AND e.reason = '%s'",
                                          workload, reason));
}
