#include "reconciler/outcome/commit.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/events.h"
#include "db/events/org_events.h"
#include "db/nodes.h"
#include "db/org_units.h"
#include "db/pods.h"
#include "reconciler/outcome/pod_record.h"
#include "reconciler/turn/lifecycle.h"

#include <string.h>

enum {
    DECISION_SHIFT = 20 // decisions of one transaction are numbered below its revision
};

static int create_pod(struct db_conn *conn, const struct turn_creation *creation, int64_t now_ms, struct error *err)
{
    const struct cache_workload *workload = creation->workload;
    int64_t index = creation->pod_index, attempt = creation->attempt;
    if (index < 0 && workload->completions > 1) {
        if (db_find_next_run(conn, workload->id, true, &index, &attempt, err) < 0)
            return -1;
    } else if (index < 0 && db_read_next_pod_index(conn, workload->id, creation->role, &index, err) < 0) {
        return -1;
    }
    return db_create_pod(conn, workload->id, creation->role, index, attempt, now_ms, err);
}

static int create_pods(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    for (size_t i = 0; i < turn->creation_count; i++)
        if (create_pod(conn, &turn->creations[i], turn->now_ms, err) < 0)
            return -1;
    for (size_t i = 0; i < turn->workload_count; i++) {
        const struct cache_workload *workload = turn->workloads[i];
        int64_t attempt;
        if (!workload->creates_all_pods)
            continue;
        if (db_read_last_attempt(conn, workload->id, &attempt, err) < 0 ||
            db_create_pods(conn, workload->id, attempt + 1, workload->fails_by_index, turn->now_ms, err) < 0)
            return -1;
    }
    return 0;
}

static int write_pod(struct db_conn *conn, const struct turn *turn, const struct cache_pod *pod, struct error *err)
{
    const struct world *world = turn->cache->world;
    uint32_t node = pod->node_id ? world_node(world, pod->node_id) : SNAPSHOT_NONE;
    const char *indices = cache_indices_json(pod, turn->arena);
    // A pod that is over keeps the name of the node it was on. Where the node's row is gone from the world, so is its
    // name.
    struct pod_update update = {
        .id = pod->id,
        .uuid = pod->uuid,
        .status = pod->status,
        .k8s_phase = lifecycle_pod_phase(pod),
        .reason = pod->reason,
        .message = pod->message,
        .has_exit_code = pod->has_exit_code,
        .exit_code = pod->exit_code,
        .node_id = pod->node_id,
        .node_name = node == SNAPSHOT_NONE ? NULL : world->nodes[node].name,
        .node_pool_id = node == SNAPSHOT_NONE ? 0 : world->rows.nodes[node].node_pool_id,
        .gpu_indices_json = indices,
        .gpu_groups_json = pod->gpu_groups_json ? pod->gpu_groups_json : "[]",
        .gpu_allocated_milli = pod->gpu_allocated_milli,
        .decision_id = pod->decision_id,
        .start_decision = pod->status == POD_STATUS_BINDING ? pod->decision_id : 0,
        .promise_node = pod->promise_node,
        .scheduled_ms = pod->scheduled_ms,
        .started_ms = pod->started_ms,
        .stopping_ms = pod->stopping_ms,
        .completed_ms = pod->completed_ms,
        .deleted_ms = pod->deleted_ms,
        .idle_since_ms = pod->idle_since_ms,
        .now_ms = turn->now_ms,
    };
    if (db_update_pod(conn, &update, err) < 0)
        return -1;
    if (pod->ends_allocation && db_end_allocation(conn, pod->id, turn->now_ms, pod->reason, err) < 0)
        return -1;
    if (!pod->begins_allocation || node == SNAPSHOT_NONE)
        return 0;
    struct allocation_row row = {
        .pod_id = pod->id,
        .node_name = update.node_name,
        .node_pool_id = update.node_pool_id,
        .gpu_indices_json = indices,
        .gpu_milli = pod->gpu_allocated_milli,
        .started_ms = turn->now_ms,
    };
    return db_begin_allocation(conn, &row, err);
}

static const char *workload_k8s_phase(const struct cache_workload *workload)
{
    switch (workload->phase) {
    case PHASE_RUNNING:
    case PHASE_DEGRADED:
    case PHASE_UPDATING:
        return "Running";
    case PHASE_INITIALIZING:
        return "ContainerCreating";
    case PHASE_COMPLETED:
        return "Succeeded";
    case PHASE_FAILED:
        return "Failed";
    case PHASE_STOPPING:
    case PHASE_TERMINATING:
    case PHASE_DELETING:
        return "Terminating";
    default:
        return "Pending";
    }
}

// Adds up its pods. The pools of those that have a place, as a list of names.
static void sum_pods(const struct turn *turn, const struct cache_workload *workload, struct workload_update *update)
{
    const struct world *world = turn->cache->world;
    struct buffer pools;
    struct json_writer json;
    uint32_t last = SNAPSHOT_NONE; // a workload's pods stay in one pool
    buffer_init(&pools, 0);
    json_writer_init(&json, &pools, false);
    json_begin_array(&json);
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        update->pods_running += pod->status == POD_STATUS_RUNNING;
        update->pods_pending += pod->status == POD_STATUS_PENDING || pod->status == POD_STATUS_PIPELINED;
        if (!pod_status_is_placed(pod->status))
            continue;
        update->gpu_allocated_milli += pod->gpu_allocated_milli;
        update->cpu_allocated_milli += pod->cpu_milli;
        update->memory_allocated_bytes += pod->memory_bytes;
        uint32_t node = world_node(world, pod->node_id);
        uint32_t pool = node == SNAPSHOT_NONE ? SNAPSHOT_NONE : world->nodes[node].node_pool;
        if (pool != SNAPSHOT_NONE && pool != last)
            json_value_text(&json, world->pools[pool].name);
        last = pool;
    }
    json_end_array(&json);
    update->current_node_pools_json = arena_strdup(turn->arena, pools.data);
    buffer_done(&pools);
}

static int write_workload(struct db_conn *conn, const struct turn *turn, const struct cache_workload *workload,
                          struct error *err)
{
    struct workload_update update = {
        .facts = workload->facts,
        .changes_phase = workload->changes_phase,
        .phase_message = workload->last_phase_message,
        .pending_spent_ms = workload->pending_spent_ms,
        .running_spent_ms = workload->running_spent_ms,
        .k8s_phase = workload_k8s_phase(workload),
        .phase_reason = workload->phase_reason,
        .explains = workload->explains,
        .messages_json = workload->messages_json,
        .explanation_json = workload->explanation_json,
        .now_ms = turn->now_ms,
    };
    sum_pods(turn, workload, &update);
    if (workload->stopped_by_rule && db_stop_workload_by_rule(conn, workload->id, turn->now_ms, err) < 0)
        return -1;
    if (workload->scales && db_scale_workload(conn, workload->id, workload->pods_wanted, err) < 0)
        return -1;
    return db_update_workload(conn, &update, err);
}

static int write_history(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    for (size_t i = 0; i < turn->transition_count; i++) {
        const struct turn_transition *transition = &turn->transitions[i];
        if (db_add_phase_if_wished(conn, transition->workload->id, transition->workload->desired, transition->phase,
                                   transition->message, turn->now_ms, err) < 0)
            return -1;
    }
    return 0;
}

static int write_events(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    for (size_t i = 0; i < turn->event_count; i++) {
        const struct turn_event *note = &turn->events[i];
        struct event event = {
            .workload_id = note->workload ? note->workload->id : 0,
            .workload_uuid = note->workload ? note->workload->uuid : NULL,
            .time_ms = turn->now_ms,
            .type = note->type,
            .reason = note->reason,
            .message = note->message,
            .source = note->source,
            .object_kind = note->object_kind,
            .object_name = note->object_name,
            .object_uuid = note->object_uuid,
        };
        if (db_add_event(conn, &event, err) < 0)
            return -1;
    }
    return 0;
}

static int write_receipts(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    for (size_t i = 0; i < turn->receipt_count; i++)
        if (db_add_receipt(conn, &turn->receipts[i], err) < 0)
            return -1;
    return 0;
}

static int write_figures(struct db_conn *conn, const struct turn *turn, const struct figure_changes *changes,
                         struct error *err)
{
    for (size_t i = 0; i < changes->queue_count; i++)
        if (db_update_queue_figures(conn, &changes->queues[i], err) < 0)
            return -1;
    for (size_t i = 0; i < changes->sample_count; i++) {
        const struct series *series = &changes->samples[i].series;
        struct sample_row row = {series->scope,  series->scope_id, series->node_pool_id,
                                 series->metric, turn->now_ms,     changes->samples[i].value};
        if ((changes->samples[i].is_sparse ? db_put_sparse_sample : db_put_sample)(conn, &row, err) < 0)
            return -1;
    }
    return changes->is_overtime_due ? db_refresh_overtime(conn, turn->now_ms, err) : 0;
}

static int write_machines(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    int64_t cluster_id = turn->cache->world->rows.cluster_id;
    for (size_t i = 0; i < turn->machine_count; i++) {
        const struct turn_machine *counted = &turn->machines[i];
        const struct backend_machine *machine = counted->machine;
        if (!machine) {
            if (db_remove_node(conn, cluster_id, counted->name, turn->now_ms, err) < 0)
                return -1;
            continue;
        }
        struct node node = {
            .cluster_id = cluster_id,
            .name = machine->name,
            .status = machine->is_ready ? NODE_STATUS_READY : NODE_STATUS_NOT_READY,
            .status_reason = machine->reason,
            .is_cordoned = machine->is_cordoned,
            .labels_json = machine->labels_json,
            .taints_json = machine->taints_json,
            .gpu_count = counted->gpu_count,
            .gpus_withheld = machine->gpus_withheld,
            .gpu_memory_mib = machine->gpu_memory_mib,
            .gpu_type = machine->gpu_type,
            .mig_strategy = machine->mig_strategy,
            .mig_instances_json = machine->mig_instances_json,
            .cpu_milli = machine->cpu_milli,
            .memory_bytes = machine->memory_bytes,
            .max_pods = machine->max_pods,
            .others_cpu_milli = machine->others_cpu_milli,
            .others_memory_bytes = machine->others_memory_bytes,
            .others_pods = machine->others_pods,
            .unhealthy_gpus_json = counted->unusable_gpus_json,
            .ip = machine->address,
            .version = machine->version,
            .updated_ms = turn->now_ms,
        };
        if (db_upsert_node(conn, &node, err) < 0)
            return -1;
    }
    return 0;
}

static int write_nodes(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    if (write_machines(conn, turn, err) < 0)
        return -1;
    for (size_t i = 0; i < turn->node_state_count; i++) {
        const struct turn_node_state *state = &turn->node_states[i];
        int64_t cluster_id = turn->cache->world->rows.cluster_id;
        enum node_status status = state->ready ? NODE_STATUS_READY : NODE_STATUS_NOT_READY;
        int rc = state->unusable_gpus_json
                     ? db_set_node_devices(conn, cluster_id, state->name, state->unusable_gpus_json, state->reason,
                                           turn->now_ms, err)
                     : db_set_node_status(conn, cluster_id, state->name, status, state->reason, turn->now_ms, err);
        if (rc < 0)
            return -1;
    }
    for (size_t i = 0; i < turn->drained_count; i++)
        if (db_set_node_drained(conn, turn->cache->world->rows.cluster_id, turn->drained[i], turn->now_ms, err) < 0)
            return -1;
    return 0;
}

static int write_notices(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    for (size_t i = 0; i < turn->notice_count; i++)
        if (org_events_add_notice_once(conn, &turn->notices[i], turn->now_ms, err) < 0)
            return -1;
    return 0;
}

static int finish_projects(struct db_conn *conn, const struct turn *turn, struct error *err)
{
    for (size_t i = 0; i < turn->workload_count; i++)
        if (turn->workloads[i]->deleted_ms &&
            db_finish_project_deletion(conn, turn->workloads[i]->project_id, turn->now_ms, err) < 0)
            return -1;
    return 0;
}

int commit_describe_pod(struct db_conn *conn, const struct cache *cache, const struct cache_pod *pod,
                        struct arena *arena, struct backend_pod *out_pod, struct error *err)
{
    struct pod_context context;
    const char *role = pod->is_master ? "master" : "worker";
    if (db_read_pod_context(conn, pod->workload->id, role, arena, &context, err) < 0)
        return -1;
    uint32_t node = world_node(cache->world, pod->node_id);
    uint32_t *indices = arena_array(arena, pod->gpu_index_count, sizeof(*indices));
    if (pod->gpu_index_count)
        memcpy(indices, pod->gpu_indices, pod->gpu_index_count * sizeof(*indices));
    *out_pod = (struct backend_pod){
        .uuid = arena_strdup(arena, pod->uuid),
        .name = arena_strdup(arena, pod->name),
        .role = role,
        .index = pod->pod_index,
        .attempt = pod->attempt,
        .workload_uuid = context.workload_uuid,
        .workload_name = context.workload_name,
        .workload_type = context.workload_type,
        .workload_pods = context.pods_wanted,
        .project_name = context.project_name,
        .project_number = context.project_number,
        .namespace = context.namespace,
        .spec_json = context.spec_json,
        .workload_spec_json = context.workload_spec_json,
        .submitted_by = context.submitted_by,
        .machine_user = context.machine_user,
        .node_name = node == SNAPSHOT_NONE ? NULL : arena_strdup(arena, cache->world->nodes[node].name),
        .gpu_indices = indices,
        .gpu_index_count = pod->gpu_index_count,
        .gpu_milli = pod->gpu_allocated_milli,
        .gpu_memory_mib = node == SNAPSHOT_NONE ? 0 : cache->world->nodes[node].gpu_memory_mib,
        .grace_ms = context.grace_period_ms,
        .scheduled_ms = pod->scheduled_ms,
        .started_ms = pod->started_ms,
        .stopping_ms = pod->stopping_ms,
        .stop_reason = pod->reason[0] ? arena_strdup(arena, pod->reason) : NULL,
        .completed_ms = pod->completed_ms,
    };
    return 0;
}

// Numbers the decisions, before the pods are written with them.
static int make_orders(struct db_conn *conn, struct commit *commit, struct error *err)
{
    const struct turn *turn = commit->turn;
    commit->orders = arena_array(turn->arena, turn->order_count + turn->workload_count, sizeof(*commit->orders));
    commit->order_count = turn->order_count;
    for (size_t i = 0; i < turn->order_count; i++) {
        struct turn_order *order = &turn->orders[i];
        order->pod->decision_id = (db_revision(conn) << DECISION_SHIFT) + (int64_t)i;
        commit->orders[i] = (struct backend_order){.decision = order->pod->decision_id, .verb = order->verb};
        struct backend_pod *pod = &commit->orders[i].pod;
        if (commit_describe_pod(conn, turn->cache, order->pod, turn->arena, pod, err) < 0 ||
            (order->verb == BACKEND_START && pod_record_write(conn, order->pod, turn->arena, &pod->record, err) < 0))
            return -1;
    }
    for (size_t i = 0; i < turn->workload_count; i++)
        if (turn->workloads[i]->deleted_ms)
            commit->orders[commit->order_count++] = (struct backend_order){
                .verb = BACKEND_CLEAR,
                .pod = {.uuid = "", .workload_uuid = arena_strdup(turn->arena, turn->workloads[i]->uuid)}};
    return 0;
}

int commit_write(struct db_conn *conn, void *context, struct error *err)
{
    struct commit *commit = context;
    struct turn *turn = commit->turn;
    if (make_orders(conn, commit, err) < 0)
        return -1;
    for (size_t i = 0; i < turn->pod_count; i++)
        if (write_pod(conn, turn, turn->pods[i], err) < 0)
            return -1;
    for (size_t i = 0; i < turn->workload_count; i++)
        if (write_workload(conn, turn, turn->workloads[i], err) < 0)
            return -1;
    if (write_history(conn, turn, err) < 0)
        return -1;
    int64_t expired;
    if (commit->expire_before_ms && db_expire_workloads(conn, commit->expire_before_ms, &expired, err) < 0)
        return -1;
    if (create_pods(conn, turn, err) < 0 || write_events(conn, turn, err) < 0 || write_receipts(conn, turn, err) < 0 ||
        write_nodes(conn, turn, err) < 0)
        return -1;
    if (write_notices(conn, turn, err) < 0 || finish_projects(conn, turn, err) < 0)
        return -1;
    return commit->figures ? write_figures(conn, turn, commit->figures, err) : 0;
}
