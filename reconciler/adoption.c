// Pods whose rows wait for a place while they run already: of a time after a backup that was put back. The rows ask for
// these very pods, so they are taken up as they are before anything is planned.
#include "db/adoption.h"
#include "base/error.h"
#include "base/log.h"
#include "db/db.h"
#include "model/pod_status.h"
#include "reconciler/outcome/pod_record.h"
#include "reconciler/state.h"

bool adoption_is_over(const char *pod_uuid, void *context)
{
    static const char SQL[] = "SELECT status FROM pods WHERE uuid = ?";
    struct db_conn *conn = context;
    struct error err = {0};
    struct arena arena;
    sqlite3_stmt *stmt;
    bool is_to_be_over = false;
    if (db_prepare(conn, SQL, &stmt, &err) < 0)
        return false;
    arena_init(&arena);
    db_bind_text(stmt, 1, pod_uuid);
    if (db_step(conn, stmt, &err) == 1) {
        enum pod_status status = pod_status_parse(db_column_text(stmt, 0, &arena));
        is_to_be_over = status != POD_STATUS_PENDING && status != POD_STATUS_PIPELINED;
    }
    db_release(conn, stmt);
    arena_done(&arena);
    return is_to_be_over;
}

struct waiting {
    struct adopted_pod pod;
    const char *node_name;
    int64_t now_ms;
    bool is_done;
};

static int write_waiting(struct db_conn *conn, void *context, struct error *err)
{
    struct waiting *waiting = context;
    int rc = db_adopt_waiting(conn, &waiting->pod, waiting->node_name, waiting->now_ms, err);
    waiting->is_done = rc == 1;
    return rc < 0 ? -1 : 0;
}

static bool take(struct reconciler *reconciler, const struct reconciler_stray *stray)
{
    struct pod_record record;
    struct error err = {0};
    if (!stray->record || pod_record_read(stray->record, &reconciler->turn_arena, &record, &err) < 0)
        return false;
    struct waiting waiting = {.pod = {.uuid = stray->uuid,
                                      .role = record.role,
                                      .gpu_indices_json = record.gpu_indices_json,
                                      .gpu_groups_json = record.gpu_groups_json,
                                      .gpu_milli = record.gpu_milli,
                                      .scheduled_ms = record.scheduled_ms,
                                      .started_ms = stray->since_ms ? stray->since_ms : record.scheduled_ms},
                              .node_name = stray->node_name,
                              .now_ms = reconciler_now(reconciler)};
    if (db_write(reconciler->db, write_waiting, &waiting, &err) < 0)
        log_write(LOG_WARN, "reconciler", "a pod runs before its row says so pod=%s: %s", stray->uuid, err.message);
    else if (waiting.is_done)
        reconciler_adopt_strays(reconciler,
                                &(struct reconciler_adopted){.uuid = stray->uuid,
                                                             .workload_uuid = record.workload_uuid,
                                                             .project_name = record.project_name,
                                                             .gpu_indices = record.gpu_indices,
                                                             .gpu_index_count = record.gpu_index_count,
                                                             .gpu_milli = record.gpu_milli,
                                                             .grace_ms = record.grace_ms},
                                1);
    pod_record_done(&record);
    return waiting.is_done;
}

void adoption_take_waiting(struct reconciler *reconciler)
{
    struct reconciler_stray *strays;
    size_t taken = 0, count = reconciler_list_strays(reconciler, &reconciler->turn_arena, &strays);
    reconciler->has_strays_to_match = false;
    for (size_t i = 0; i < count; i++)
        taken += take(reconciler, &strays[i]);
    if (taken)
        log_write(LOG_INFO, "reconciler", "took up what ran before its rows said so pods=%zu", taken);
}
