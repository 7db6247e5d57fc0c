// The organisation in the database: what a new installation has, which node is in which pool, what a new pool brings,
// what quotas and deletions must keep to.
#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/node_pools.h"
#include "db/nodes.h"
#include "db/org_seed.h"
#include "db/org_units.h"
#include "db/samples.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOW_MS = 1700000000
};

struct world {
    struct db *db;
    struct arena arena;
    int64_t cluster_id;
    struct error err;
};

// Runs a write function of the test on the writer's thread; 0 or the error's code.
static int write_now(struct world *world, db_write_fn fn)
{
    world->err = (struct error){0};
    return db_write(world->db, fn, world, &world->err) == 0 ? 0 : (int)world->err.code;
}

static int64_t number(struct world *world, const char *sql)
{
    int64_t value = -1;
    struct db_conn *conn = db_acquire(world->db);
    sqlite3_stmt *stmt = NULL;
    if (db_prepare_once(conn, sql, &stmt, &world->err) == 0 && db_step(conn, stmt, &world->err) == 1)
        value = db_column_int(stmt, 0);
    db_release(conn, stmt);
    db_give_back(world->db, conn);
    return value;
}

static int run_sql(struct db_conn *conn, const char *sql, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = db_prepare_once(conn, sql, &stmt, err);
    if (rc == 0)
        rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int seed(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    return org_seed(conn, "default", "1", NOW_MS, &world->cluster_id, err);
}

static int add_nodes(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    struct node plain = {.cluster_id = world->cluster_id, .name = "node-1", .gpu_count = 2, .updated_ms = NOW_MS};
    struct node labelled = {.cluster_id = world->cluster_id,
                            .name = "node-2",
                            .gpu_count = 4,
                            .labels_json = "{\"pool/kind\":\"h100\",\"a\":\"b\"}",
                            .updated_ms = NOW_MS};
    return db_upsert_node(conn, &plain, err) < 0 ? -1 : db_upsert_node(conn, &labelled, err);
}

static int add_pool(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    struct node_pool pool = {
        .cluster_id = world->cluster_id, .name = "h100", .created_by = "", .updated_by = "", .updated_ms = NOW_MS};
    node_pool_defaults(&pool);
    pool.label_key = "pool/kind";
    pool.label_value = "h100";
    return db_create_node_pool(conn, &pool, err);
}

static int delete_pool(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    struct node_pool pool;
    if (db_find_node_pool_by_name(conn, world->cluster_id, "h100", &world->arena, &pool, err) < 0)
        return -1;
    return db_delete_node_pool(conn, pool.id, "", NOW_MS, err);
}

static int delete_default_pool(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    int64_t id;
    if (db_find_default_node_pool(conn, world->cluster_id, &id, err) < 0)
        return -1;
    return db_delete_node_pool(conn, id, "", NOW_MS, err);
}

static int relabel_node(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    struct node node = {.cluster_id = world->cluster_id,
                        .name = "node-1",
                        .gpu_count = 2,
                        .labels_json = "{\"pool/kind\":\"h100\"}",
                        .updated_ms = NOW_MS};
    return db_upsert_node(conn, &node, err);
}

static int lose_node(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    return db_remove_node(conn, world->cluster_id, "node-1", NOW_MS, err);
}

static int fail_node(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    return db_set_node_status(conn, world->cluster_id, "node-2", NODE_STATUS_NOT_READY, "it burns", NOW_MS, err);
}

#define POOL_OF(NODE)                                                                                             \
    "SELECT np.id FROM nodes n JOIN node_pools np ON np.id = n.node_pool_id WHERE n.deleted_ms = 0 AND n.name = " \
    "'" NODE "'"
#define PHASE_IS(POOL, PHASE) "SELECT phase = '" PHASE "' FROM node_pools WHERE deleted_ms = 0 AND name = '" POOL "'"

static void test_pools(struct world *world)
{
    check_int(write_now(world, seed), 0, "seed: %s", world->err.message);
    check_int(write_now(world, seed), 0, "seeding again changes nothing: %s", world->err.message);
    check_int(number(world, "SELECT count(*) FROM clusters"), 1, "one cluster");
    check_int(number(world, "SELECT count(*) FROM queues"), 2, "a queue for the department and the project");
    check_int(number(world, PHASE_IS("default", "Empty")), 1, "a pool without nodes is Empty");
    check_int(write_now(world, add_nodes), 0, "nodes: %s", world->err.message);
    check_int(number(world, PHASE_IS("default", "Ready")), 1, "a pool with nodes is Ready");
    check_int(number(world, "SELECT max(gpu_deserved_milli) FROM queues"), 0, "nobody owns a node that comes");
    check_int(write_now(world, add_pool), 0, "pool: %s", world->err.message);
    check_int(number(world, POOL_OF("node-1")), 1, "a node without a label stays");
    check_int(number(world, POOL_OF("node-2")), 2, "a node with the label moves");
    check_int(number(world,
                     "SELECT count(*) FROM queues WHERE node_pool_id = 2 AND gpu_deserved_milli = 0 AND "
                     "cpu_deserved_milli IS NULL AND memory_deserved_bytes IS NULL AND gpu_over_quota_weight = 2"),
              2, "a new pool brings a queue for everybody");
    check_int(write_now(world, add_pool), ERROR_INVALID, "the same pool again");
    check_int(write_now(world, fail_node), 0, "fail: %s", world->err.message);
    check_int(number(world, PHASE_IS("h100", "Unschedulable")), 1, "no node of the pool is ready");
    check_int(write_now(world, relabel_node), 0, "relabel: %s", world->err.message);
    check_int(number(world, POOL_OF("node-1")), 2, "a node moves with its label");
    check_int(number(world, PHASE_IS("default", "Empty")), 1, "the pool it left is Empty");
    check_int(number(world, PHASE_IS("h100", "Ready")), 1, "the pool it came to is Ready");
    check_int(write_now(world, lose_node), 0, "remove: %s", world->err.message);
    check_int(number(world, PHASE_IS("h100", "Unschedulable")), 1, "the last ready node is gone");
    check_int(write_now(world, lose_node), ERROR_NOT_FOUND, "a node that is gone cannot go");
    check_int(write_now(world, delete_default_pool), ERROR_INVALID, "the default pool stays");
    check_int(write_now(world, delete_pool), 0, "delete: %s", world->err.message);
    check_int(number(world, POOL_OF("node-2")), 1, "its nodes fall back to the default pool");
    check_int(number(world, "SELECT count(*) FROM queues WHERE node_pool_id = 2"), 0, "its queues go with it");
    check_int(write_now(world, delete_pool), ERROR_NOT_FOUND, "a pool that is gone cannot go");
}

static int create_unit(struct db_conn *conn, struct world *world, enum org_unit_kind kind, const char *name,
                       int64_t parent, const char *resources, struct error *err)
{
    struct org_unit unit = {.kind = kind,
                            .cluster_id = world->cluster_id,
                            .name = name,
                            .department_id = parent,
                            .created_by = "",
                            .updated_by = "",
                            .created_ms = NOW_MS,
                            .updated_ms = NOW_MS};
    json_t *list = json_loads(resources, 0, NULL);
    int rc = db_create_org_unit(conn, &unit, list, &world->arena, err);
    json_decref(list);
    return rc;
}

static int create_team(struct db_conn *conn, void *context, struct error *err)
{
    struct world *world = context;
    if (create_unit(conn, world, ORG_UNIT_DEPARTMENT, "research", 0,
                    "[{\"nodePool\":{\"id\":\"1\"},\"gpu\":{\"deserved\":4}}]", err) < 0)
        return -1;
    return create_unit(conn, world, ORG_UNIT_PROJECT, "team-a", 3,
                       "[{\"nodePool\":{\"id\":\"1\"},\"gpu\":{\"deserved\":2.5,\"limit\":3},\"priority\":\"High\"}]",
                       err);
}

static int create_twin(struct db_conn *conn, void *context, struct error *err)
{
    return create_unit(conn, context, ORG_UNIT_PROJECT, "team-a", 3, "[]", err);
}

static int create_orphan(struct db_conn *conn, void *context, struct error *err)
{
    return create_unit(conn, context, ORG_UNIT_PROJECT, "orphan", 99, "[]", err);
}

static int hold_two(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return run_sql(conn, "UPDATE queues SET gpu_allocated_non_preemptible_milli = 2000 WHERE owner_id = 4", err);
}

static int limit_to_department(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return run_sql(conn, "INSERT INTO tenant_settings VALUES ('limitProjectsToDepartmentQuota', 'true', 0)", err);
}

struct resources_case {
    const char *name;
    bool replace;
    const char *resources;
    const char *want; // message, or "" where it is taken
};

#define DEFAULT_POOL "{\"nodePool\":{\"id\":\"1\"},"
static const struct resources_case RESOURCES_CASES[] = {
    {"the rank alone", false, "[" DEFAULT_POOL "\"rank\":\"very-low\"}]", ""},
    {"a quota just above what is held", false, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":2}}]", ""},
    {"no limit", false, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":2.5,\"limit\":-1}}]", ""},
    {"weights", true, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":2.5,\"overQuotaWeight\":0},\"cpu\":null}]", ""},
    {"memory in its units", true,
     "[" DEFAULT_POOL "\"gpu\":{\"deserved\":2.5},\"memory\":{\"deserved\":1.5,\"units\":\"GB\"}}]", ""},
    {"no pool named means the first", true, "[{\"gpu\":{\"deserved\":2.5}}]", ""},
    {"below what non-preemptible workloads hold", false, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":1}}]",
     "resources: gpu.deserved in node pool default: non-preemptible workloads hold 2, so the quota cannot be 1"},
    {"the same by leaving it out", true, "[]",
     "resources: gpu.deserved in node pool default: non-preemptible workloads hold 2, so the quota cannot be 0"},
    {"a limit below the quota", false, "[" DEFAULT_POOL "\"gpu\":{\"limit\":1}}]",
     "[0].gpu.limit: not below the quota of 2.5, got 1"},
    {"finer than a hundredth", false, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":2.505}}]", "[0].gpu.deserved: "},
    {"a negative quota", false, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":-2}}]", "[0].gpu.deserved: "},
    {"a negative CPU quota", false, "[" DEFAULT_POOL "\"cpu\":{\"deserved\":-5}}]",
     "[0].cpu.deserved: 0 to 1000000000000, or -1 for no bound, got -5"},
    {"a negative weight", false, "[" DEFAULT_POOL "\"gpu\":{\"overQuotaWeight\":-1}}]",
     "[0].gpu.overQuotaWeight: 0 to 1000000, got -1"},
    {"a pool that is not there", false, "[{\"nodePool\":{\"id\":\"77\"}}]", "[0].nodePool.id: no node pool \"77\""},
    {"a pool that is deleted", false, "[{\"nodePool\":{\"id\":\"2\"}}]", "[0].nodePool.id: no node pool \"2\""},
    {"a pool by its name", false, "[{\"nodePool\":{\"id\":\"default\"}}]", "[0].nodePool.id: no node pool \"default\""},
    {"a pool twice", false, "[" DEFAULT_POOL "\"cpu\":{}}," DEFAULT_POOL "\"cpu\":{}}]",
     "[1].nodePool.id: duplicate: default"},
    {"a rank that is not there", false, "[" DEFAULT_POOL "\"priority\":\"Highest\"}]", "[0].priority: "},
    {"more than the department has", false, "[" DEFAULT_POOL "\"gpu\":{\"deserved\":4.5,\"limit\":null}}]",
     "resources: the projects' GPU quotas in node pool default would be 4.5, more than the department's 4"},
};

struct resources_write {
    struct world *world;
    const struct resources_case *row;
};

static int change_resources(struct db_conn *conn, void *context, struct error *err)
{
    const struct resources_write *write = context;
    json_t *list = json_loads(write->row->resources, 0, NULL);
    struct resources_change change = {.kind = ORG_UNIT_PROJECT,
                                      .id = 4,
                                      .resources = list,
                                      .replace = write->row->replace,
                                      .updated_by = "",
                                      .now_ms = NOW_MS};
    int rc = db_change_resources(conn, &change, &write->world->arena, err);
    json_decref(list);
    return rc;
}

static void test_units(struct world *world)
{
    struct org_unit unit;
    check_int(write_now(world, create_team), 0, "create: %s", world->err.message);
    int64_t id = number(world, "SELECT id FROM projects WHERE name = 'team-a'");
    struct db_conn *conn = db_acquire(world->db);
    check_int(db_find_org_unit(conn, ORG_UNIT_PROJECT, id, &world->arena, &unit, &world->err), 0, "find: %s",
              world->err.message);
    db_give_back(world->db, conn);
    check_int(unit.id, 4, "ids of departments and projects are one row of numbers");
    check_text(unit.name_space, "runai-team-a", "the namespace follows from the name");
    check_text(unit.department_name, "research", "its department");
    check_int((int64_t)unit.queue_count, 1, "a queue in the one pool");
    check_int(unit.queues[0].gpu.deserved, 2500, "quota");
    check_int(unit.queues[0].gpu.limit, 3000, "limit");
    check_int(unit.queues[0].rank, 175, "rank");
    check_int(unit.queues[0].cpu.deserved, QUANTITY_UNLIMITED, "CPU is unlimited");
    check_int(write_now(world, create_twin), ERROR_CONFLICT, "the name is taken");
    check_int(write_now(world, create_orphan), ERROR_INVALID, "no such department");
    check_int(number(world, "SELECT count(*) FROM projects"), 2, "a refused project leaves nothing");
    check_int(write_now(world, hold_two), 0, "hold: %s", world->err.message);
    check_int(write_now(world, limit_to_department), 0, "setting: %s", world->err.message);
    for (size_t i = 0; i < COUNT(RESOURCES_CASES); i++) {
        struct error err = {0};
        const struct resources_case *row = &RESOURCES_CASES[i];
        struct resources_write write = {world, row};
        db_write(world->db, change_resources, &write, &err);
        if (row->want[0])
            check_true(strncmp(err.message, row->want, strlen(row->want)) == 0, "%s: got \"%s\"", row->name,
                       err.message);
        else
            check_text(err.message, "", "%s", row->name);
    }
}

static int add_workload(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return run_sql(
        conn,
        "INSERT INTO workloads (uuid, name, requested_name, type, category, cluster_id, department_id, "
        "project_id, department_name, project_name, namespace, created_by, created_ms, updated_ms, "
        "spec_json, priority, priority_class, preemptible, pods_wanted, min_pods, gpu_requested_milli, "
        "cpu_requested_milli, memory_requested_bytes, phase, phase_updated_ms, listing_json, revision) VALUES "
        "('w', 'w', 'w', 'Training', 'Train', 1, 3, 4, 'research', 'team-a', 'n', '', 0, 0, '{}', 40, 'low', 1, "
        "1, 1, 0, 0, 0, 'Running', 0, '{}', 1)",
        err);
}

static int delete_department(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    bool is_finished = true;
    int rc = db_delete_department(conn, 3, "", NOW_MS, &is_finished, err);
    check_true(!is_finished, "a department waits for its projects' workloads");
    return rc;
}

static int delete_default(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    bool is_finished;
    return db_delete_project(conn, 2, "", NOW_MS, &is_finished, err);
}

static int finish(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_finish_project_deletion(conn, 4, NOW_MS, err);
}

static int end_workload(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return run_sql(conn, "UPDATE workloads SET deleted_ms = 5", err);
}

static void test_deletion(struct world *world)
{
    check_int(write_now(world, add_workload), 0, "workload: %s", world->err.message);
    check_int(write_now(world, delete_default), ERROR_INVALID, "the default project stays");
    check_int(write_now(world, delete_department), 0, "delete: %s", world->err.message);
    check_int(number(world, "SELECT count(*) FROM projects WHERE phase = 'Deleting'"), 1, "its project is Deleting");
    check_int(number(world, "SELECT count(*) FROM workloads WHERE desired_phase = 'Deleted'"), 1,
              "its workload is asked to go");
    check_int(write_now(world, finish), 0, "finish too early: %s", world->err.message);
    check_int(number(world, "SELECT count(*) FROM projects WHERE id = 4"), 1, "a project with a workload stays");
    check_int(write_now(world, end_workload), 0, "end: %s", world->err.message);
    check_int(write_now(world, finish), 0, "finish: %s", world->err.message);
    check_int(write_now(world, finish), 0, "finish again: %s", world->err.message);
    check_int(number(world, "SELECT count(*) FROM projects WHERE id = 4"), 0, "the project is gone");
    check_int(number(world, "SELECT count(*) FROM departments WHERE id = 3"), 0, "its department with it");
    check_int(number(world, "SELECT count(*) FROM queues WHERE owner_id IN (3, 4)"), 0, "and their queues");
    check_int(number(world, "SELECT count(*) FROM workloads"), 1, "the record of the workload stays");
}

static int add_samples(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    if (run_sql(conn, "UPDATE projects SET created_ms = 500 WHERE id = 2", err) < 0)
        return -1;
    return run_sql(conn,
                   "INSERT INTO samples (scope, scope_id, metric, time_ms, value) VALUES "
                   "('project', 2, 'GPU_ALLOCATION', 1000, 2), ('project', 2, 'GPU_ALLOCATION', 2000, 4), "
                   "('project', 2, 'GPU_UTILIZATION', 1000, -1), ('project', 2, 'GPU_UTILIZATION', 2000, 60), "
                   "('project', 2, 'GPU_UTILIZATION', 3000, 30), ('project', 2, 'GPU_UTILIZATION', 3500, -1), "
                   "('node', 1, 'GPU_UTILIZATION_PER_GPU:10', 1, 0), ('node', 1, 'GPU_UTILIZATION_PER_GPU:9', 1, 0)",
                   err);
}

static int refresh(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_refresh_overtime(conn, 86400000 + 1000, err);
}

static void test_samples(struct world *world)
{
    static const int64_t TIMES[] = {500, 1000, 1999, 2000, 9000};
    static const int64_t STARTS[] = {3000, 1500, 0};
    struct series series = {.scope = "project", .scope_id = 2, .metric = "GPU_ALLOCATION"};
    double values[COUNT(TIMES)], averages[COUNT(STARTS)];
    bool is_found;
    const char **metrics;
    size_t metric_count;
    check_int(write_now(world, add_samples), 0, "samples: %s", world->err.message);
    struct db_conn *conn = db_acquire(world->db);
    check_int(db_read_series(conn, &series, TIMES, COUNT(TIMES), values, &is_found, &world->err), 0, "read");
    check_true(is_found && isnan(values[0]) && values[1] == 2 && values[2] == 2 && values[3] == 4 && values[4] == 4,
               "a step function: %g %g %g %g %g", values[0], values[1], values[2], values[3], values[4]);
    check_int(db_read_series(conn, &series, TIMES + 4, 1, values, &is_found, &world->err), 0, "read one");
    check_true(is_found && values[0] == 4, "the value in force");
    check_int(db_average_series(conn, &series, STARTS, COUNT(STARTS), 4000, averages, &world->err), 0, "average");
    check_true(averages[0] == 4 && averages[1] == 3.6 && averages[2] == 2.5,
               "what was before the first row counts as nothing: %g %g %g", averages[0], averages[1], averages[2]);
    series.metric = "GPU_UTILIZATION";
    check_int(db_average_series(conn, &series, STARTS, COUNT(STARTS), 4000, averages, &world->err), 0, "average");
    check_true(averages[0] == 30 && averages[1] == 50 && averages[2] == 50,
               "what nobody measured is left out: %g %g %g", averages[0], averages[1], averages[2]);
    check_int(db_read_series(conn, &series, TIMES, COUNT(TIMES), values, &is_found, &world->err), 0, "read");
    check_true(is_found && isnan(values[1]) && values[3] == 60 && isnan(values[4]), "and is a gap: %g %g %g", values[1],
               values[3], values[4]);
    check_int(db_average_series(conn, &series, &TIMES[4], 1, 10000, averages, &world->err), 0, "average of a gap");
    check_true(isnan(averages[0]), "is none: %g", averages[0]);
    check_int(db_list_series(conn, "node", 1, "GPU_UTILIZATION_PER_GPU:", &world->arena, &metrics, &metric_count,
                             &world->err),
              0, "list");
    check_int((int64_t)metric_count, 2, "two devices");
    check_text(metrics[0], "GPU_UTILIZATION_PER_GPU:9", "in the order of their numbers");
    db_give_back(world->db, conn);
    check_int(write_now(world, refresh), 0, "refresh: %s", world->err.message);
    check_int(
        number(world, "SELECT count(*) FROM overtime WHERE owner_id = 2 AND gpu_allocation_24h BETWEEN 3.99 AND 4"), 1,
        "averages of a day");
    check_int(
        number(world, "SELECT count(*) FROM overtime WHERE owner_id = 2 AND gpu_allocation_7d BETWEEN 3.99 AND 4"), 1,
        "a project of a day has an average of that day, also for a week");
}

int main(void)
{
    char folder[] = "/tmp/org-test-XXXXXX", path[64], command[80];
    struct world world = {.db = NULL};
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/test.db", folder);
    struct db_options options = {.path = path, .reader_count = 1};
    arena_init(&world.arena);
    check_int(db_open(&options, &world.db, &world.err), 0, "open: %s", world.err.message);
    test_pools(&world);
    test_units(&world);
    test_deletion(&world);
    test_samples(&world);
    db_close(world.db);
    arena_done(&world.arena);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? check_finish() : 1;
}
