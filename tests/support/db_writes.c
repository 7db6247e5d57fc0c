#include "tests/support/db_writes.h"

#include "base/error.h"
#include "db/access_rules.h"
#include "db/accounts/access_keys.h"
#include "db/accounts/users.h"
#include "db/adoption.h"
#include "db/catalog/assets.h"
#include "db/catalog/credentials.h"
#include "db/catalog/templates.h"
#include "db/events.h"
#include "db/nodes.h"
#include "db/notifications/channels.h"
#include "db/notifications/outbox.h"
#include "db/org_seed.h"
#include "db/org_units.h"
#include "db/policies/policies.h"
#include "db/receipts.h"
#include "db/reconcile_write.h"
#include "db/retention.h"
#include "db/workloads.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    NOW_MS = 1700000000,
    LATER_MS = NOW_MS + 60000
};

int db_writes_seed(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    int64_t cluster_id;
    if (org_seed(conn, "default", "1", NOW_MS, &cluster_id, err) < 0)
        return -1;
    struct node node = {.cluster_id = cluster_id, .name = "node-1", .gpu_count = 2, .updated_ms = NOW_MS};
    if (db_upsert_node(conn, &node, err) < 0)
        return -1;
    json_t *body = json_loads("{\"spec\":{\"image\":\"x\",\"compute\":{\"gpuDevicesRequest\":1}}}", 0, NULL);
    int rc = workload_spec_read(body, WORKLOAD_TYPE_TRAINING, &writes->arena, &writes->spec, err);
    json_decref(body);
    return rc;
}

static int write_unit(struct db_conn *conn, struct db_writes *writes, struct org_unit unit, const char *resources,
                      struct error *err)
{
    unit.cluster_id = 1;
    unit.description = unit.created_by = unit.updated_by = "";
    unit.created_ms = unit.updated_ms = NOW_MS;
    json_t *list = json_loads(resources, 0, NULL);
    int rc = unit.id ? db_update_org_unit(conn, &unit, list, &writes->arena, err)
                     : db_create_org_unit(conn, &unit, list, &writes->arena, err);
    json_decref(list);
    return rc;
}

#define GPUS(count) "[{\"nodePool\":{\"id\":\"1\"},\"gpu\":{\"deserved\":" count "}}]"

static int create_department(struct db_conn *conn, void *context, struct error *err)
{
    return write_unit(conn, context, (struct org_unit){.kind = ORG_UNIT_DEPARTMENT, .name = "research"}, GPUS("4"),
                      err);
}

static int create_project(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct org_unit unit = {.kind = ORG_UNIT_PROJECT, .name = "team-a", .department_id = writes->department_id};
    return write_unit(conn, writes, unit, GPUS("1"), err);
}

static int change_department(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct org_unit unit = {.kind = ORG_UNIT_DEPARTMENT, .name = "research", .id = writes->department_id};
    return write_unit(conn, writes, unit, GPUS("3"), err);
}

static int change_project(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct org_unit unit = {.kind = ORG_UNIT_PROJECT, .name = "team-a", .id = writes->project_id};
    return write_unit(conn, writes, unit, GPUS("2"), err);
}

static int set_quota(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    json_t *list = json_loads(GPUS("1.5"), 0, NULL);
    struct resources_change change = {
        .kind = ORG_UNIT_PROJECT, .id = writes->project_id, .resources = list, .updated_by = "", .now_ms = NOW_MS};
    int rc = db_change_resources(conn, &change, &writes->arena, err);
    json_decref(list);
    return rc;
}

static int create_user(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct user user = {.uuid = "user-1", .email = "ada@example.com", .password_hash = "", .created_by = ""};
    return db_create_user_in(conn, &user, err);
}

static int create_access_key(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct access_key key = {.uuid = "key-1", .user_id = 1, .name = "laptop", .client_id = "client-1"};
    return db_create_access_key_in(conn, &key, err);
}

static int create_rule(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    char project[24];
    snprintf(project, sizeof(project), "%" PRId64, writes->project_id);
    struct access_rule rule = {.subject_type = "user",
                               .subject_id = "ada@example.com",
                               .role_id = 1,
                               .scope_type = SCOPE_PROJECT,
                               .scope_id = project,
                               .created_by = "",
                               .created_ms = NOW_MS};
    return db_create_access_rule_in(conn, &rule, err);
}

static const struct workload_template TEMPLATE = {.id = 1,
                                                  .uuid = "template-1",
                                                  .workload_type = "Training",
                                                  .name = "nightly",
                                                  .description = "",
                                                  .scope = SCOPE_TENANT,
                                                  .scope_id = "",
                                                  .is_master_same = -1,
                                                  .combined_spec_json = "{}",
                                                  .sources_json = "{}",
                                                  .issue = "",
                                                  .created_by = ""};
static const char *const TEMPLATE_ASSETS[] = {"asset-1"};

static int create_template(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct workload_template template = TEMPLATE;
    if (db_create_template_in(conn, &template, err) < 0)
        return -1;
    return db_set_template_assets_in(conn, template.id, TEMPLATE_ASSETS, 1, err);
}

static int change_template(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct workload_template template = TEMPLATE;
    template.updated_by = "ada@example.com";
    if (db_update_template_in(conn, &template, err) < 0 || db_set_template_combined_in(conn, &template, err) < 0)
        return -1;
    return db_set_template_assets_in(conn, template.id, TEMPLATE_ASSETS, 1, err);
}

static int delete_template(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_delete_template_in(conn, TEMPLATE.uuid, err);
}

#define ASSET "asset-1"

static int write_asset(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct asset asset = {.uuid = ASSET,
                          .kind = ASSET_KIND_COMPUTE,
                          .name = "one",
                          .description = "",
                          .scope = SCOPE_TENANT,
                          .scope_id = "",
                          .spec_json = "{}",
                          .created_by = "",
                          .updated_by = ""};
    bool is_done = db_create_asset_in(conn, &asset, err) == 0 && db_update_asset_in(conn, &asset, err) == 0;
    return is_done ? 0 : -1;
}

static int delete_asset(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_delete_asset_in(conn, ASSET, err);
}

static int write_policy(struct db_conn *conn, const struct db_writes *writes, const char *name, struct error *err)
{
    struct policy_row row = {.uuid = "policy-1",
                             .kind = "training",
                             .scope = SCOPE_PROJECT,
                             .path = {.project_id = writes->project_id},
                             .name = name,
                             .policy_json = "{}",
                             .updated_by = "ada@example.com",
                             .updated_ms = NOW_MS};
    return db_put_policy(conn, &row, err);
}

static int put_policy(struct db_conn *conn, void *context, struct error *err)
{
    return write_policy(conn, context, "rules", err);
}

static int change_policy(struct db_conn *conn, void *context, struct error *err)
{
    return write_policy(conn, context, "other rules", err);
}

static int delete_policy(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct scope_path path = {.project_id = writes->project_id};
    return db_delete_policy(conn, "training", SCOPE_PROJECT, &path, err);
}

static int hide_secret(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_set_credential_secret_in(conn, "asset-1", "sealed", err);
}

static int forget_secret(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_set_credential_secret_in(conn, "asset-1", NULL, err);
}

static int delete_rules(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_delete_access_rules_of_in(conn, "user", "ada@example.com", NOW_MS, err);
}

static struct submission submission_of(struct db_writes *writes, const char *uuid, const char *name)
{
    return (struct submission){.uuid = uuid,
                               .name = name,
                               .requested_name = name,
                               .project_id = writes->project_id,
                               .created_by = "ada@example.com",
                               .now_ms = NOW_MS,
                               .spec = &writes->spec,
                               .spec_json = "{}",
                               .listing_json = "\"requestedPods\":{\"number\":1}"};
}

static int submit(struct db_conn *conn, void *context, struct error *err)
{
    struct submission submission = submission_of(context, "4a3e1b3c-0000-4000-8000-000000000001", "first");
    return db_insert_workload(conn, &submission, err);
}

static int adopt(struct db_conn *conn, void *context, struct error *err)
{
    const char *uuid = "4a3e1b3c-0000-4000-8000-000000000002";
    struct submission submission = submission_of(context, uuid, "second");
    struct adopted_pod pod = {.uuid = "4a3e1b3c-0000-4000-8000-000000000003",
                              .role = POD_ROLE_TEXT_WORKER,
                              .gpu_indices_json = "[1]",
                              .gpu_groups_json = "[]",
                              .gpu_milli = 1000,
                              .scheduled_ms = NOW_MS,
                              .started_ms = NOW_MS};
    struct adoption adoption = {.workload_uuid = uuid,
                                .submission = &submission,
                                .pods = &pod,
                                .pod_count = 1,
                                .node_name = "node-1",
                                .caller_name = "ada@example.com",
                                .now_ms = NOW_MS};
    return db_adopt(conn, &adoption, err);
}

static int wish(struct db_conn *conn, void *context, enum workload_wish wanted, struct error *err)
{
    struct db_writes *writes = context;
    struct workload_state found;
    if (db_find_workload(conn, writes->workload_uuid, NULL, &writes->arena, &found, err) < 0)
        return -1;
    return db_wish_workload(conn, &found, wanted, "ada@example.com", NOW_MS, err);
}

static int suspend(struct db_conn *conn, void *context, struct error *err)
{
    return wish(conn, context, WISH_STOPPED, err);
}

static int resume(struct db_conn *conn, void *context, struct error *err)
{
    return wish(conn, context, WISH_RUNNING, err);
}

static int delete_workload(struct db_conn *conn, void *context, struct error *err)
{
    return wish(conn, context, WISH_DELETED, err);
}

static struct pod_update pod_update_of(const struct db_writes *writes, enum pod_status status)
{
    return (struct pod_update){.id = writes->pod_id,
                               .uuid = writes->pod_uuid,
                               .status = status,
                               .k8s_phase = "Running",
                               .reason = "",
                               .node_id = 1,
                               .node_name = "node-1",
                               .node_pool_id = 1,
                               .gpu_indices_json = "[0]",
                               .gpu_groups_json = "[]",
                               .gpu_allocated_milli = 1000,
                               .scheduled_ms = NOW_MS,
                               .started_ms = NOW_MS,
                               .now_ms = NOW_MS};
}

static struct workload_update workload_update_of(const struct db_writes *writes, enum workload_phase phase)
{
    struct workload_update update = {.facts = {.id = writes->workload_id,
                                               .desired = phase == PHASE_RUNNING ? DESIRED_RUNNING : DESIRED_DELETED,
                                               .phase = phase,
                                               .started_ms = NOW_MS,
                                               .promise = -1},
                                     .changes_phase = true,
                                     .phase_message = "",
                                     .k8s_phase = "",
                                     .phase_reason = "",
                                     .current_node_pools_json = "[\"default\"]",
                                     .explains = true,
                                     .explanation_json = "{}",
                                     .now_ms = NOW_MS};
    snprintf(update.facts.uuid, sizeof(update.facts.uuid), "%s", writes->workload_uuid);
    return update;
}

// As a cycle that has found a place writes it.
static int begin_pod(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct pod_update pod = pod_update_of(writes, POD_STATUS_RUNNING);
    struct workload_update workload = workload_update_of(writes, PHASE_RUNNING);
    struct allocation_row allocation = {.pod_id = writes->pod_id,
                                        .node_name = "node-1",
                                        .node_pool_id = 1,
                                        .gpu_indices_json = "[0]",
                                        .gpu_milli = 1000,
                                        .started_ms = NOW_MS};
    struct event event = {.workload_id = writes->workload_id,
                          .workload_uuid = writes->workload_uuid,
                          .time_ms = NOW_MS,
                          .type = EVENT_NORMAL,
                          .reason = "Scheduled",
                          .message = "bound",
                          .source = "scheduler",
                          .object_kind = "Pod",
                          .object_name = "first-0-0",
                          .object_uuid = writes->pod_uuid};
    struct queue_figures figures = {.queue_id = 1, .owner_id = writes->department_id, .gpu_milli = {1000, 1000}};
    struct sample_row sample = {
        .scope = "project", .scope_id = writes->project_id, .metric = "GPU_ALLOCATION", .time_ms = NOW_MS, .value = 1};
    bool is_done =
        db_update_pod(conn, &pod, err) == 0 && db_begin_allocation(conn, &allocation, err) == 0 &&
        db_update_workload(conn, &workload, err) == 0 &&
        db_add_phase_if_wished(conn, writes->workload_id, DESIRED_RUNNING, PHASE_RUNNING, "", NOW_MS, err) == 0 &&
        db_add_event(conn, &event, err) == 0 && db_update_queue_figures(conn, &figures, err) == 0 &&
        db_put_sample(conn, &sample, err) == 0 && db_put_sparse_sample(conn, &sample, err) == 0;
    return is_done ? 0 : -1;
}

// As one writes it that has taken the place away.
static int end_pod(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct pod_update pod = pod_update_of(writes, POD_STATUS_FAILED);
    struct workload_update workload = workload_update_of(writes, PHASE_DELETING);
    struct receipt_row receipt = {.workload_id = writes->workload_id,
                                  .pod_name = "first-0-0",
                                  .time_ms = NOW_MS,
                                  .action = "reclaim",
                                  .rule = "AboveShare",
                                  .node_pool_name = "default",
                                  .node_name = "node-1",
                                  .gpu_milli = 1000,
                                  .gpu_indices_json = "[0]",
                                  .sentence = "it gives way"};
    pod.completed_ms = pod.deleted_ms = workload.facts.deleted_ms = LATER_MS;
    bool is_done = db_update_pod(conn, &pod, err) == 0 && db_add_receipt(conn, &receipt, err) == 0 &&
                   db_end_allocation(conn, writes->pod_id, LATER_MS, "Preempted", err) == 0 &&
                   db_update_workload(conn, &workload, err) == 0;
    return is_done ? 0 : -1;
}

static int remove_oldest(struct db_conn *conn, enum retention_kind kind, struct error *err)
{
    struct retention_mark mark = {0};
    int64_t oldest_ms, count;
    if (db_find_oldest(conn, kind, &mark, &oldest_ms, err) < 0)
        return -1;
    return db_remove_oldest(conn, kind, &mark, LATER_MS + 1, 1000, &count, err);
}

static int remove_workloads(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return remove_oldest(conn, RETENTION_WORKLOADS, err);
}

static int remove_allocations(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return remove_oldest(conn, RETENTION_ALLOCATIONS, err);
}

static int create_channel(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct notification_channel channel = {.name = "email", .type = "email", .config_json = "{}", .updated_by = ""};
    return db_create_notification_channel_in(conn, &channel, err);
}

// To a person, and to those whom the channel names; the second is one too many for the hour.
static int notify(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct notification_line line = {.user_id = 1,
                                     .source = "phase:1",
                                     .category = "Workload status change",
                                     .type = "Running",
                                     .time_ms = NOW_MS,
                                     .sentence = "first of project team-a is Running",
                                     .workload_uuid = "4a3e1b3c-0000-4000-8000-000000000001",
                                     .workload_name = "first",
                                     .project_name = "team-a",
                                     .project_id = writes->project_id};
    struct notification_line next = line;
    next.source = "phase:2";
    struct notification_post posts[] = {{"email", false, line}, {"email", true, line}, {"email", true, next}};
    struct notification_batch batch = {
        .posts = posts, .count = 3, .cursor = {.phase_id = 2}, .now_ms = NOW_MS, .per_hour = 1};
    return db_add_notifications_in(conn, &batch, err);
}

static int delete_project(struct db_conn *conn, void *context, struct error *err)
{
    bool is_finished;
    return db_delete_project(conn, ((struct db_writes *)context)->project_id, "", NOW_MS, &is_finished, err);
}

static int delete_department(struct db_conn *conn, void *context, struct error *err)
{
    bool is_finished;
    return db_delete_department(conn, ((struct db_writes *)context)->department_id, "", NOW_MS, &is_finished, err);
}

const struct write_case DB_WRITES[] = {
    {"a node fails", db_write_failed_node, 5},
    {"a node is drained", db_write_drain, 6},
    {"create, change and delete a node pool", db_write_pool, 21},
    {"create a department", create_department, 8},
    {"create a project", create_project, 10},
    {"change a department", change_department, 8},
    {"change a project", change_project, 8},
    {"set a quota", set_quota, 8},
    {"create a user", create_user, 1},
    {"create an access key", create_access_key, 2},
    {"create an access rule", create_rule, 5},
    {"create a template", create_template, 3},
    {"change it", change_template, 4},
    {"delete it", delete_template, 1},
    {"create and change an asset", write_asset, 2},
    {"hide its secret", hide_secret, 1},
    {"forget its secret", forget_secret, 1},
    {"delete the asset", delete_asset, 1},
    {"submit a workload", submit, 4},
    {"set a policy", put_policy, 1},
    {"set it again", change_policy, 1},
    {"delete the policy", delete_policy, 1},
    {"suspend it", suspend, 6},
    {"resume it", resume, 6},
    {"change its specification", db_write_specification, 3},
    {"scale it", db_write_scale, 1},
    {"a cycle binds its pod", begin_pod, 9},
    {"adopt a pod", adopt, 19},
    {"delete a workload", delete_workload, 6},
    {"a cycle ends its pod", end_pod, 5},
    {"retention takes the workload", remove_workloads, 10},
    {"retention takes the allocation", remove_allocations, 5},
    {"create a notification channel", create_channel, 1},
    {"notify a person and a channel", notify, 16},
    {"delete the access rules of a user", delete_rules, 1},
    {"delete a project with a workload", delete_project, 7},
    {"delete its department", delete_department, 10},
    {NULL, NULL, 0},
};
