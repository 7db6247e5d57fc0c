// What-if answers what the submission then does: for every field of a submission there is a row below that sets it. The
// rows are the base submission's initializer, too, so that a field without a row does not compile.
#include "base/error.h"
#include "base/places.h"
#include "base/uuid.h"
#include "db/workloads.h"
#include "model/submission.h"
#include "reconciler/draft.h"
#include "reconciler/questions.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

enum scene {
    EMPTY,    // two nodes of 2 GPUs in pool default, one in pool other; team-a owns 4 GPUs, team-b none
    FULL,     // team-b holds all 4 GPUs of default
    HALF,     // all but half a GPU
    RESERVED, // 2 GPUs are free and kept for a gang, until what holds the others ends after 100 s
};

#define STARTS WHAT_IF_STARTS
#define EVICTS WHAT_IF_STARTS_BY_EVICTION
#define WAITS WHAT_IF_WAITS

static const char *const OTHER_POOL[] = {"other"};
// A gang of six that four devices cannot hold: one half of it is enough.
#define TWO_HALVES "{\"minSubGroups\":1,\"subGroups\":[{\"name\":\"b\",\"workers\":3},{\"name\":\"a\",\"workers\":3}]}"

// ROW(field, value in the base submission, world, what the base comes to there, what the field comes to, how it is set)
#define POD_ROWS(ROW)                                                                             \
    ROW(role, POD_ROLE_TEXT_WORKER, EMPTY, STARTS, STARTS, w->worker.role = POD_ROLE_TEXT_WORKER) \
    ROW(gpu_devices, 1, EMPTY, STARTS, WAITS, w->worker.gpu_devices = 3)                          \
    ROW(gpu_portion_milli, 0, HALF, WAITS, STARTS, w->worker.gpu_portion_milli = 500)             \
    ROW(gpu_memory_mib, 0, HALF, WAITS, STARTS, w->worker.gpu_memory_mib = 20480)                 \
    ROW(cpu_milli, 100, EMPTY, STARTS, WAITS, w->worker.cpu_milli = 65000)                        \
    ROW(memory_bytes, 1 << 20, EMPTY, STARTS, WAITS, w->worker.memory_bytes = INT64_C(1) << 40)   \
    ROW(constraints_json, NULL, EMPTY, STARTS, WAITS,                                             \
        w->worker.constraints_json = "{\"nodeSelector\":{\"rack\":\"none\"}}")

#define SPEC_ROWS(ROW)                                                                                          \
    ROW(type, WORKLOAD_TYPE_TRAINING, EMPTY, STARTS, STARTS, w->type = WORKLOAD_TYPE_DISTRIBUTED)               \
    ROW(category, "Train", EMPTY, STARTS, STARTS, w->category = "Build")                                        \
    ROW(priority_class, "low", EMPTY, STARTS, STARTS, w->priority_class = "high")                               \
    ROW(priority, 50, FULL, WAITS, EVICTS, w->priority = 75)                                                    \
    ROW(is_preemptible, true, EMPTY, STARTS, WAITS, w->is_preemptible = false)                                  \
    ROW(framework, "", EMPTY, STARTS, STARTS, w->framework = "PyTorch")                                         \
    ROW(node_pools, NULL, EMPTY, STARTS, STARTS, (w->node_pools = OTHER_POOL, w->node_pool_count = 1))          \
    ROW(node_pool_count, 0, EMPTY, STARTS, STARTS, (w->node_pools = OTHER_POOL, w->node_pool_count = 1))        \
    ROW(worker, ((struct pod_request){POD_ROWS(BASE)}), EMPTY, STARTS, WAITS, w->worker.gpu_devices = 4)        \
    ROW(master, ((struct pod_request){POD_ROWS(BASE)}), EMPTY, STARTS, WAITS,                                   \
        (gang(w, 1, true), w->master.gpu_devices = 3))                                                          \
    ROW(has_master, false, EMPTY, STARTS, WAITS, gang(w, 4, true))                                              \
    ROW(worker_count, 1, EMPTY, STARTS, WAITS, gang(w, 5, false))                                               \
    ROW(pods_wanted, 1, EMPTY, STARTS, STARTS, (gang(w, 6, false), w->min_pods = 2))                            \
    ROW(min_pods, 1, EMPTY, STARTS, WAITS, (gang(w, 6, false), w->min_pods = 5))                                \
    ROW(min_workers, 0, EMPTY, STARTS, STARTS, (gang(w, 6, true), w->min_pods = 3, w->min_workers = 2))         \
    ROW(max_workers, 0, EMPTY, STARTS, WAITS, (gang(w, 6, true), w->min_pods = 6, w->max_workers = 6))          \
    ROW(sub_groups, ((struct sub_groups){0}), EMPTY, STARTS, STARTS, w->sub_groups.minimum = 1)                 \
    ROW(sub_groups_json, NULL, EMPTY, STARTS, STARTS, (gang(w, 6, false), w->sub_groups_json = TWO_HALVES))     \
    ROW(parallelism, 1, EMPTY, STARTS, STARTS, w->parallelism = 2)                                              \
    ROW(completions, 1, EMPTY, STARTS, STARTS, w->completions = 3)                                              \
    ROW(backoff_limit, 6, EMPTY, STARTS, STARTS, w->backoff_limit = 0)                                          \
    ROW(grace_period_ms, 30000, EMPTY, STARTS, STARTS, w->grace_period_ms = 1000)                               \
    ROW(auto_delete_ms, INT64_C(2592000000), EMPTY, STARTS, STARTS, w->auto_delete_ms = 1000)                   \
    ROW(is_terminated_after_preemption, false, EMPTY, STARTS, STARTS, w->is_terminated_after_preemption = true) \
    ROW(start_at_ms, 0, EMPTY, STARTS, WAITS, w->start_at_ms = INT64_MAX)                                       \
    ROW(after, NULL, EMPTY, STARTS, WAITS, end_first(live, s, w))                                               \
    ROW(after_count, 0, EMPTY, STARTS, WAITS, end_first(live, s, w))                                            \
    ROW(serving, ((struct serving){0}), EMPTY, STARTS, STARTS, w->serving.max_replicas = 9)                     \
    ROW(gpu_request_type, NULL, HALF, WAITS, STARTS,                                                            \
        (w->gpu_request_type = "portion", w->worker.gpu_portion_milli = 300))                                   \
    ROW(gpu_milli, 1000, EMPTY, STARTS, STARTS, w->gpu_milli = 9000)                                            \
    ROW(cpu_milli, 100, EMPTY, STARTS, STARTS, w->cpu_milli = 900000)                                           \
    ROW(memory_bytes, 1 << 20, EMPTY, STARTS, STARTS, w->memory_bytes = INT64_C(1) << 50)

#define SUBMISSION_ROWS(ROW)                                                                       \
    ROW(uuid, "11111111-1111-4111-8111-111111111111", EMPTY, STARTS, STARTS,                       \
        s->uuid = "22222222-2222-4222-8222-222222222222")                                          \
    ROW(name, "asked", EMPTY, STARTS, STARTS, s->name = "other-name")                              \
    ROW(requested_name, "asked", EMPTY, STARTS, STARTS, s->requested_name = "wished")              \
    ROW(project_id, 0, FULL, WAITS, EVICTS, s->project_id = team(live, "team-a"))                  \
    ROW(created_by, "test", EMPTY, STARTS, STARTS, s->created_by = "somebody")                     \
    ROW(machine_user, NULL, EMPTY, STARTS, STARTS, s->machine_user = "ada:1001")                   \
    ROW(now_ms, 0, EMPTY, STARTS, STARTS, s->now_ms = live->now_ms)                                \
    ROW(spec, NULL, EMPTY, STARTS, WAITS, w->worker.gpu_devices = 8)                               \
    ROW(spec_json, "{\"image\":\"x\"}", EMPTY, STARTS, STARTS, s->spec_json = "{\"image\":\"y\"}") \
    ROW(master_spec_json, NULL, EMPTY, STARTS, STARTS, s->master_spec_json = "{\"image\":\"y\"}")  \
    ROW(node_pools_json, NULL, FULL, WAITS, STARTS, s->node_pools_json = "[\"other\"]")            \
    ROW(serving_json, NULL, EMPTY, STARTS, STARTS, s->serving_json = "{}")                         \
    ROW(listing_json, "\"b\":1", EMPTY, STARTS, STARTS, s->listing_json = "\"a\":1")               \
    ROW(waits_for, NULL, EMPTY, STARTS, WAITS, end_first(live, s, w))                              \
    ROW(note, NULL, EMPTY, STARTS, STARTS, s->note = "it keeps 1 replica, not 0")                  \
    ROW(time_limit_ms, 0, RESERVED, WAITS, STARTS, s->time_limit_ms = 50000)                       \
    ROW(idle_limit_ms, 0, EMPTY, STARTS, STARTS, s->idle_limit_ms = 50000)                         \
    ROW(time_limit_scope, NULL, EMPTY, STARTS, STARTS, s->time_limit_scope = "project team-b")     \
    ROW(idle_limit_scope, NULL, EMPTY, STARTS, STARTS, s->idle_limit_scope = "project team-b")

#define BASE(field, base, ...) base,

static void gang(struct workload_spec *spec, int workers, bool has_master)
{
    spec->type = WORKLOAD_TYPE_DISTRIBUTED;
    spec->master.role = POD_ROLE_TEXT_MASTER;
    spec->has_master = has_master;
    spec->worker_count = workers;
    spec->pods_wanted = spec->min_pods = workers + has_master;
}

static int64_t team(struct live *live, const char *name)
{
    return live_number(live, arena_printf(&live->arena, "SELECT id FROM projects WHERE name = '%s'", name));
}

static void end_first(struct live *live, struct submission *submission, struct workload_spec *spec)
{
    static const struct workload_after AFTER[] = {{"first", "ok"}};
    live_submit(live, &(struct live_spec){.name = "first", .project = "team-b"});
    live_run(live);
    submission->now_ms = live->now_ms;
    spec->after = AFTER;
    spec->after_count = 1;
    submission->waits_for = "waits ok first";
}

struct row {
    const char *field;
    enum scene world;
    enum what_if_verdict base, want;
    void (*set)(struct live *live, struct submission *s, struct workload_spec *w);
};

#define SETTER(kind, field, code)                                                                      \
    static void set_##kind##_##field(struct live *live, struct submission *s, struct workload_spec *w) \
    {                                                                                                  \
        (void)live, (void)s, (void)w;                                                                  \
        code;                                                                                          \
    }
#define POD_SETTER(field, base, world, base_verdict, want, code) SETTER(pod, field, code)
#define SPEC_SETTER(field, base, world, base_verdict, want, code) SETTER(spec, field, code)
#define SUBMISSION_SETTER(field, base, world, base_verdict, want, code) SETTER(submission, field, code)
POD_ROWS(POD_SETTER)
SPEC_ROWS(SPEC_SETTER)
SUBMISSION_ROWS(SUBMISSION_SETTER)

#define POD_ROW(field, base, world, base_verdict, want, code) \
    {"pod " #field, world, base_verdict, want, set_pod_##field},
#define SPEC_ROW(field, base, world, base_verdict, want, code) \
    {"spec " #field, world, base_verdict, want, set_spec_##field},
#define SUBMISSION_ROW(field, base, world, base_verdict, want, code) \
    {#field, world, base_verdict, want, set_submission_##field},
static const struct row ROWS[] = {POD_ROWS(POD_ROW) SPEC_ROWS(SPEC_ROW) SUBMISSION_ROWS(SUBMISSION_ROW)};

static int reserve(struct db_conn *conn, void *context, struct error *err)
{
    sqlite3_stmt *stmt;
    (void)context;
    if (db_prepare_once(conn,
                        "UPDATE node_pools SET settings_json = json_set(settings_json, '$.reservation', json('true')),"
                        " revision = ?1",
                        &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_NODE_POOL, 1);
    return rc;
}

static void make_scene(struct live *live, enum scene world)
{
    struct error err = {0};
    live_open(live, 2, 2);
    live_add_pool(live, "other");
    live_add_node(live, "other-0", 2, true);
    live_add_project(live, "team-a", 4);
    live_add_project(live, "team-b", 0);
    if (world == RESERVED) {
        check_int(db_write(live->db, reserve, NULL, &err), 0, "reservation: %s", err.message);
        live_submit(
            live, &(struct live_spec){
                      .name = "a1", .project = "team-a", .gpus = 2, .non_preemptible = true, .time_limit_ms = 100000});
        live_run(live);
        live_submit(live,
                    &(struct live_spec){.name = "gang", .project = "team-a", .gpus = 2, .workers = 2, .min_pods = 2});
    }
    for (int i = 0; (world == FULL || world == HALF) && i < 4; i++)
        live_submit(live, &(struct live_spec){.name = arena_printf(&live->arena, "filler-%d", i),
                                              .project = "team-b",
                                              .portion_milli = world == HALF && i == 3 ? 500 : 0});
    live_run(live);
}

static void ask(struct live *live, const struct submission *submission, const char *field, enum what_if_verdict want)
{
    struct error err = {0};
    struct present present;
    const struct snapshot_workload *workload;
    struct what_if_answer *answer = NULL;
    check_int(present_open(live->reconciler, &(struct place_claim){.holder = "a", .socket = -1}, &present, &err), 0,
              "%s: %s", field, err.message);
    check_int(present_what_if(&present, submission, false, &workload, &answer, &err), 0, "%s: %s", field, err.message);
    check_text(what_if_verdict_name(answer->verdict), what_if_verdict_name(want), "%s: %s", field, answer->sentence);
    present_close(&present);
}

static int insert(struct db_conn *conn, void *context, struct error *err)
{
    return db_insert_workload(conn, context, err);
}

// Everything that the scheduler reads of it, but its place in the snapshot.
static void compare(const struct snapshot_workload *drafted, const struct snapshot_workload *submitted,
                    const char *field)
{
    check_text(drafted->name, submitted->name, "%s: name", field);
    check_int(drafted->project, submitted->project, "%s: project", field);
    check_int(drafted->created_ms, submitted->created_ms, "%s: created", field);
    check_int(drafted->priority, submitted->priority, "%s: priority", field);
    check_int(drafted->preemptible, submitted->preemptible, "%s: preemptible", field);
    check_int(drafted->min_pods, submitted->min_pods, "%s: min pods", field);
    check_int(drafted->node_pools[0], submitted->node_pools[0], "%s: node pool", field);
    check_int((int64_t)drafted->node_pool_count, (int64_t)submitted->node_pool_count, "%s: node pools", field);
    check_int((int64_t)drafted->sub_group_count, (int64_t)submitted->sub_group_count, "%s: sub-groups", field);
    check_int(drafted->max_run_ms, submitted->max_run_ms, "%s: longest run", field);
    check_int(drafted->preemption_delay_ms, submitted->preemption_delay_ms, "%s: preemption delay", field);
    check_int(drafted->pod_affinity, submitted->pod_affinity, "%s: pod affinity", field);
    check_int(drafted->staleness_grace_ms, submitted->staleness_grace_ms, "%s: staleness", field);
    check_int(drafted->pod_count, submitted->pod_count, "%s: pods", field);
    check_text(drafted->gate ? drafted->gate : "", submitted->gate ? submitted->gate : "", "%s: gate", field);
}

static void compare_pods(const struct snapshot_pod *drafted, const struct snapshot_pod *submitted, uint32_t count,
                         const char *field)
{
    for (uint32_t i = 0; i < count; i++) {
        check_text(drafted[i].name, submitted[i].name, "%s: pod's name", field);
        check_int(drafted[i].role, submitted[i].role, "%s: role", field);
        check_int(drafted[i].sub_group, submitted[i].sub_group, "%s: sub-group", field);
        check_int(drafted[i].gpu_devices, submitted[i].gpu_devices, "%s: devices", field);
        check_int(drafted[i].gpu_portion_milli, submitted[i].gpu_portion_milli, "%s: portion", field);
        check_int(drafted[i].gpu_memory_mib, submitted[i].gpu_memory_mib, "%s: GPU memory", field);
        check_int(drafted[i].cpu_milli, submitted[i].cpu_milli, "%s: CPU", field);
        check_int(drafted[i].memory_bytes, submitted[i].memory_bytes, "%s: memory", field);
        check_int((int64_t)drafted[i].extended_count, (int64_t)submitted[i].extended_count, "%s: extended", field);
        check_int(!drafted[i].rules, !submitted[i].rules, "%s: placement rules", field);
        check_int(drafted[i].status, submitted[i].status, "%s: status", field);
    }
}

static void compare_with_first_cycle(struct live *live, const struct snapshot_workload *drafted,
                                     const struct snapshot_pod *pods, const char *field)
{
    bool busy = true, is_seen = false;
    while (busy && !is_seen) {
        struct error err = {0};
        check_int(reconciler_turn(live->reconciler, &busy, &err), 0, "%s: %s", field, err.message);
        const struct reconciler_view *view = reconciler_acquire_view(live->reconciler);
        const struct snapshot *snapshot = view->snapshot;
        for (size_t i = 0; i < snapshot->workload_count && !is_seen; i++) {
            if (strcmp(snapshot->workloads[i].name, drafted->name) != 0)
                continue;
            is_seen = true;
            compare(drafted, &snapshot->workloads[i], field);
            compare_pods(pods, &snapshot->pods[snapshot->workloads[i].first_pod], drafted->pod_count, field);
        }
        reconciler_release_view(live->reconciler, view);
    }
    check_true(is_seen, "%s: a cycle sees it", field);
}

static void check_row(const struct row *row)
{
    struct live live = {0};
    struct present present;
    struct what_if_question question = {0};
    struct error err = {0};
    make_scene(&live, row->world);
    struct workload_spec spec = {SPEC_ROWS(BASE)};
    struct submission submission = {SUBMISSION_ROWS(BASE)};
    submission.spec = &spec;
    submission.project_id = team(&live, "team-b");
    submission.now_ms = live.now_ms;
    ask(&live, &submission, row->field, row->base);

    row->set(&live, &submission, &spec);
    int64_t receipts = live_number(&live, "SELECT count(*) FROM receipts");
    ask(&live, &submission, row->field, row->want);
    check_int(present_open(live.reconciler, &(struct place_claim){.holder = "a", .socket = -1}, &present, &err), 0,
              "%s: %s", row->field, err.message);
    check_int(draft_workload(&present, &submission, &question, &err), 0, "%s: %s", row->field, err.message);
    check_int(db_write(live.db, insert, &submission, &err), 0, "%s: %s", row->field, err.message);
    compare_with_first_cycle(&live, question.workload, question.pods, row->field);
    present_close(&present);
    live_run(&live);
    if (row->want == EVICTS)
        live_advance(&live, 35000); // who gives way has gone by then
    check_text(live_phase(&live, submission.name), row->want == WAITS ? "Pending" : "Running", "%s: it does so",
               row->field);
    check_int(live_number(&live, "SELECT count(*) FROM receipts") > receipts, row->want == EVICTS, "%s: who gave way",
              row->field);
    live_close(&live);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(ROWS); i++)
        check_row(&ROWS[i]);
    return check_finish();
}
