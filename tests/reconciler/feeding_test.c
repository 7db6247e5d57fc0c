// From rows to what the scheduler sees: for every key that a rule knows, a row is changed, and the next snapshot says
// so.
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/snapshot_writer.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

#define NODE "UPDATE nodes SET revision = ?1, "
#define POOL "UPDATE node_pools SET revision = ?1, "
#define PROJECT "UPDATE projects SET revision = ?1, "
#define DEPARTMENT "UPDATE departments SET revision = ?1, "
#define QUEUE "UPDATE queues SET revision = ?1, "
#define WORKLOAD "UPDATE workloads SET revision = ?1, "
#define POD "UPDATE pods SET revision = ?1, "
#define OF_PROJECT " WHERE owner_kind = 'project' AND owner_id = (SELECT id FROM projects WHERE name = 'team-a')"

struct feeding_case {
    const char *sql;
    const char *want; // in the snapshot's document, where it was not before
};

static const struct feeding_case CASES[] = {
    {NODE "unhealthy_gpus_json = '[3, 1, 1, 9]'", "\"unhealthyGpus\":[1,3]"},
    {NODE "status = 'NotReady'", "\"ready\":false"},
    {NODE "cordoned = 1", "\"cordoned\":true"},
    {NODE "labels_json = '{\"zone\":\"z1\"}'", "\"labels\":{\"zone\":\"z1\"}"},
    {NODE "taints_json = '[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}]'",
     "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}]"},
    {NODE "gpu_count = 3, gpu_memory_mib = 40960, gpu_type = 'A100'",
     "\"gpus\":3,\"gpuMemoryMib\":40960,\"gpuType\":\"A100\""},
    {NODE "cpu_milli = 1500, memory_bytes = 77, max_pods = 5", "\"cpuCores\":1.5,\"memoryBytes\":77,\"maxPods\":5"},
    {NODE "mig_strategy = 'mixed', mig_instances_json = '{\"nvidia.com/mig-1g.10gb\":7}'",
     "\"migStrategy\":\"mixed\",\"migInstances\":{\"nvidia.com/mig-1g.10gb\":7}"},
    {POOL "gpu_placement = 'fragmentation'", "{\"gpu\":\"fragmentation\",\"cpu\":\"binpack\"}"},
    {POOL "gpu_placement = 'spread', cpu_placement = 'spread'", "{\"gpu\":\"spread\",\"cpu\":\"spread\"}"},
    {POOL "min_guaranteed_runtime_ms = 90500",
     "\"preemptMinRuntimeSeconds\":90.5,\"reclaimMinRuntimeSeconds\":90.5,\"reclaimByRank\""},
    {POOL "time_based_fairshare_json = '{\"enabled\":true,\"historicalUsageWeight\":2.5}'", "\"kValue\":2.5"},
    {POOL "settings_json = '{\"reservation\":true}'", "\"reservation\":true"},
    {POOL "settings_json = '{\"reclaimByRank\":false}'", "\"reclaimMinRuntimeSeconds\":0,\"timeBased"},
    {POOL "network_topology_id = (SELECT uuid FROM topologies)",
     "\"topology\":{\"name\":\"dc\",\"preferred\":\"rack\"}"},
    {PROJECT "scheduling_rules_json = '{\"preemptMinRuntimeSeconds\":5,\"reclaimMinRuntimeSeconds\":6}'"
             " WHERE name = 'team-a'",
     "\"preemptMinRuntimeSeconds\":5,\"reclaimMinRuntimeSeconds\":6,\"resources\""},
    {DEPARTMENT "scheduling_rules_json = '{\"reclaimMinRuntimeSeconds\":0}'",
     "\"reclaimMinRuntimeSeconds\":0,\"resources\""},
    {QUEUE "rank = 300" OF_PROJECT, "\"rank\":300"},
    {QUEUE "gpu_deserved_milli = 1500, gpu_limit_milli = 3500, gpu_over_quota_weight = 0.5" OF_PROJECT,
     "\"gpu\":{\"deserved\":1.5,\"limit\":3.5,\"overQuotaWeight\":0.5}"},
    {QUEUE "cpu_deserved_milli = 250, cpu_limit_milli = 500, cpu_over_quota_weight = 3" OF_PROJECT,
     "\"cpu\":{\"deserved\":0.25,\"limit\":0.5,\"overQuotaWeight\":3}"},
    {QUEUE "memory_deserved_bytes = 5, memory_limit_bytes = 9, memory_over_quota_weight = 0" OF_PROJECT,
     "\"memory\":{\"deserved\":5,\"limit\":9,\"overQuotaWeight\":0}"},
    {QUEUE "gpu_deserved_milli = 7000 WHERE owner_kind = 'department'", "\"gpu\":{\"deserved\":7,\"limit\":null"},
    {WORKLOAD "priority = 75", "\"priority\":75"},
    {WORKLOAD "preemptible = 0", "\"preemptibility\":\"non-preemptible\""},
    {WORKLOAD "node_pools_json = '[\"second\",\"default\",\"nowhere\"]'", "\"nodePools\":[\"second\",\"default\"]"},
    {WORKLOAD "last_eviction_ms = 1700000000000", "\"lastEvictionAt\":\"2023-11-14T22:13:20.000Z\""},
    {WORKLOAD "displaced_count = 3, displaced_ms = 1700000000000",
     "\"displacedTimes\":3,\"lastDisplacedAt\":\"2023-11-14T22:13:20.000Z\""},
    {WORKLOAD "stale_since_ms = 1", "\"staleSeconds\":"},
    {WORKLOAD "time_limit_ms = 7200000", "\"maxRunSeconds\":7200"},
    {WORKLOAD "time_limit_ms = 7200000, running_total_ms = 200000", "\"maxRunSeconds\":7000"},
    {POD "gpu_portion_milli = 250", "\"gpuDevices\":9,\"gpuPortion\":0.25"},
    {POD "gpu_memory_mib = 4000", "\"gpuDevices\":9,\"gpuMemoryMib\":4000"},
    {POD "cpu_milli = 700, memory_bytes = 99", "\"cpuCores\":0.7,\"memoryBytes\":99"},
    {POD "constraints_json = '{\"nodeSelector\":{\"zone\":[\"z1\",\"z2\"]}}'",
     "\"nodeSelector\":{\"zone\":[\"z1\",\"z2\"]}"},
    {POD "constraints_json = '{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]}'",
     "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\""},
    {POD "constraints_json = '{\"extended\":{\"example.com/nic\":2},\"migInstances\":{\"nvidia.com/mig-2g.20gb\":1}}'",
     "\"migInstances\":{\"nvidia.com/mig-2g.20gb\":1},\"extended\":{\"example.com/nic\":2}"},
    {POD "constraints_json = '{\"podAffinity\":{\"type\":\"Required\",\"key\":\"zone\"}}'",
     "\"podAffinity\":{\"type\":\"required\",\"key\":\"zone\"}"},
};

static int run_sql(struct db_conn *conn, void *context, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare_once(conn, context, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_NODE_POOL, 1);
    db_touch(conn, CHANGE_WORKLOAD, "some");
    return rc;
}

static void change(struct live *live, const char *sql)
{
    struct error err = {0};
    check_int(db_write(live->db, run_sql, (void *)(uintptr_t)sql, &err), 0, "%s: %s", sql, err.message);
    live_run(live);
}

static const char *document(struct live *live)
{
    struct buffer text;
    struct json_writer json;
    const struct reconciler_view *view = reconciler_acquire_view(live->reconciler);
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    snapshot_write(&json, view->snapshot);
    reconciler_release_view(live->reconciler, view);
    const char *copy = arena_strdup(&live->arena, text.data);
    buffer_done(&text);
    return copy;
}

static void test_key(const struct feeding_case *c)
{
    struct live live = {0};
    live_open(&live, 1, 4);
    live_add_project(&live, "team-a", 2);
    live_add_pool(&live, "second");
    change(&live, "INSERT INTO topologies (uuid, cluster_id, name, levels_json, created_ms, updated_ms, revision)"
                  " SELECT 'u', id, 'dc', '[\"zone\",\"rack\"]', 0, 0, ?1 FROM clusters");
    change(&live, NODE "labels_json = '{\"zone\":\"z\",\"rack\":\"r\"}'");
    // Larger than the node: it waits, whatever is changed.
    live_submit(&live, &(struct live_spec){.name = "gang", .project = "team-a", .gpus = 9, .workers = 2});
    live_run(&live);
    check_true(strstr(document(&live), c->want) == NULL, "%s: not yet there", c->want);
    change(&live, c->sql);
    const char *text = document(&live);
    check_true(strstr(text, c->want) != NULL, "%s\nis not in\n%s", c->want, text);
    struct reconciler_stats stats;
    reconciler_get_stats(live.reconciler, &stats);
    check_int(stats.refused_plans, 0, "%s: the scheduler takes it", c->want);
    live_close(&live);
}

// A network that not all nodes of the pool stand in keeps nobody off them.
static void test_half_a_network(void)
{
    struct live live = {0};
    live_open(&live, 2, 2);
    live_add_project(&live, "team-a", 4);
    change(&live, "INSERT INTO topologies (uuid, cluster_id, name, levels_json, created_ms, updated_ms, revision)"
                  " SELECT 'u', id, 'dc', '[\"zone\",\"rack\"]', 0, 0, ?1 FROM clusters");
    change(&live, NODE "labels_json = '{\"zone\":\"z\",\"rack\":\"r\"}' WHERE name = 'node0'");
    change(&live, POOL "network_topology_id = 'u'");
    live_submit(&live, &(struct live_spec){.name = "gang", .project = "team-a", .workers = 3});
    live_run(&live);
    check_text(live_phase(&live, "gang"), "Running", "it gets its places");
    live_close(&live);
}

// A promise is kept at its place; who was displaced is counted.
static void test_promise(void)
{
    struct live live = {0};
    live_open(&live, 1, 4);
    live_add_project(&live, "team-a", 0);
    live_add_project(&live, "team-b", 4);
    live_submit(&live,
                &(struct live_spec){.name = "lent",
                                    .project = "team-a",
                                    .gpus = 4,
                                    .annotations = "[{\"name\":\"prorata.io/sim-stop-duration\",\"value\":\"20s\"}]"});
    live_run(&live);
    live_submit(&live, &(struct live_spec){.name = "owner", .project = "team-b", .gpus = 3});
    live_advance(&live, 3000);
    const char *text = document(&live);
    check_true(strstr(text, "\"status\":\"Pipelined\",\"node\":\"node0\"") != NULL, "the place is in the snapshot: %s",
               text);
    check_true(strstr(text, "\"displacedTimes\":1") != NULL, "who was displaced: %s", text);
    live_crash(&live);
    live_run(&live);
    check_true(strstr(document(&live), "\"displacedTimes\":1") != NULL, "a restart forgets no loss");
    live_advance(&live, 30000);
    check_text(live_phase(&live, "owner"), "Running", "it gets its place");
    live_close(&live);
}

// The minimum of an elastic gang with a master is each role's; where all pods are the gang there is nothing to tell.
static void test_sub_groups(void)
{
    struct live live = {0};
    live_open(&live, 1, 4);
    live_add_project(&live, "team-a", 4);
    live_submit(&live, &(struct live_spec){
                           .name = "elastic", .project = "team-a", .workers = 4, .min_pods = 2, .has_master = true});
    live_submit(&live, &(struct live_spec){.name = "whole", .project = "team-a", .workers = 2, .has_master = true});
    live_run(&live);
    const char *text = document(&live);
    const char *groups = strstr(text, "\"subGroups\":[{\"name\":\"master\",\"minPods\":1},"
                                      "{\"name\":\"worker\",\"minPods\":2}]");
    check_true(groups != NULL, "each role has its minimum: %s", text);
    check_true(groups && !strstr(groups + 3, "subGroups"), "only of the elastic one: %s", text);
    check_true(strstr(text, "\"name\":\"elastic-master-0\",\"subGroup\":\"master\"") != NULL, "the master: %s", text);
    check_true(strstr(text, "\"name\":\"elastic-worker-3\",\"subGroup\":\"worker\"") != NULL, "the last: %s", text);
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Running' AND workload_id = 1"), 4,
              "it takes what there is");
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE status = 'Running' AND role = 'master'"), 1,
              "with its master");
    struct reconciler_stats stats;
    reconciler_get_stats(live.reconciler, &stats);
    check_int(stats.refused_plans, 0, "no plan is refused");
    live_close(&live);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        test_key(&CASES[i]);
    test_half_a_network();
    test_promise();
    test_sub_groups();
    return check_finish();
}
