#include "tests/support/live.h"

#include "backends/simulated/simulated.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
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

void live_must(int rc, const char *what, const struct error *err)
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
    live_must(db_open(&(struct db_options){.path = live->path, .reader_count = 3}, &live->db, &err), "db_open", &err);
    live_must(simulated_create(&simulated, &live->simulated, &err), "simulated_create", &err);
    live->backend = (struct backend){.ops = &LIVE_BACKEND, .self = live};
    live->options.now_ms = live->has_threads ? NULL : now_of;
    live->options.now_context = live;
    if (live->has_journal) {
        struct journal_options journal = {.folder = live->journal_folder,
                                          .keep_ms = INT64_C(7) * 24 * 60 * 60 * 1000,
                                          .bound_bytes = live->journal_bound ? live->journal_bound : INT64_C(1) << 30};
        live_must(journal_open(&journal, live->now_ms, &live->journal, &err), "journal_open", &err);
    }
    live->options.journal = live->journal;
    live_must(reconciler_create(live->db, &live->backend, &live->options, &live->reconciler, &err), "create", &err);
    if (live->has_threads)
        live_must(reconciler_start(live->reconciler, &err), "start", &err);
    else
        live_must(reconciler_begin(live->reconciler, &err), "begin", &err);
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
    live_must(sodium_init() < 0 ? -1 : 0, "sodium_init", &err);
    log_configure(getenv("LIVE_LOG") ? LOG_DEBUG : LOG_WARN, false);
    live->now_ms = 1700000000000;
    live->options.sample_interval_ms = 1000;
    arena_init(&live->arena);
    snprintf(live->folder, sizeof(live->folder), "/tmp/prorata-live-XXXXXX");
    live_must(mkdtemp(live->folder) ? 0 : -1, "mkdtemp", &err);
    snprintf(live->path, sizeof(live->path), "%s/prorata.db", live->folder);
    snprintf(live->journal_folder, sizeof(live->journal_folder), "%s/journal", live->folder);
    open_parts(live);
    live_must(db_write(live->db, seed, live, &err), "seed", &err);
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
    live_must(db_write(live->db, submit, &job, &err), spec->name, &err);
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
    live_must(db_write(live->db, wish, &job, &err), name, &err);
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
        live_must(reconciler_turn(live->reconciler, &busy, &err), "turn", &err);
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
    live_must(db_prepare_once(conn, sql, &stmt, &err), sql, &err);
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
