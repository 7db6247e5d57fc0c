#include "tests/support/check.h"
#include "tests/support/live.h"

struct invariant {
    const char *name;
    const char *sql; // counts what breaks it
};

#define HOLDING " p.deleted_ms = 0 AND p.status IN ('Binding', 'Bound', 'Running', 'Releasing') "

static const struct invariant INVARIANTS[] = {
    {"no device is held twice",
     "SELECT count(*) FROM (SELECT p.node_id, j.value FROM pods p, json_each(p.gpu_indices_json) j WHERE" HOLDING
     "AND p.gpu_portion_milli = 0 GROUP BY 1, 2 HAVING count(*) > 1)"},
    {"no node holds more GPUs than it has",
     "SELECT count(*) FROM (SELECT n.id FROM nodes n JOIN pods p ON p.node_id = n.id WHERE" HOLDING
     "GROUP BY n.id HAVING sum(p.gpu_allocated_milli) > n.gpu_count * 1000)"},
    {"one live pod per role and index",
     "SELECT count(*) FROM (SELECT 1 FROM pods p WHERE p.deleted_ms = 0 AND p.status IN ('Pending', 'Pipelined',"
     " 'Binding', 'Bound', 'Running') GROUP BY workload_id, role, pod_index HAVING count(*) > 1)"},
    {"a pod that holds devices has an open allocation",
     "SELECT count(*) FROM pods p WHERE" HOLDING
     "AND (SELECT count(*) FROM allocations a WHERE a.pod_id = p.id AND a.ended_ms = 0) <> 1"},
    {"a pod that holds nothing has no open allocation",
     "SELECT count(*) FROM allocations a JOIN pods p ON p.id = a.pod_id WHERE a.ended_ms = 0 AND NOT (" HOLDING ")"},
    {"what is placed has devices",
     "SELECT count(*) FROM pods p WHERE" HOLDING "AND gpu_portion_milli = 0 AND gpu_devices <>"
     " json_array_length(gpu_indices_json)"},
};

void live_check(struct live *live, const char *when)
{
    for (size_t i = 0; i < COUNT(INVARIANTS); i++)
        check_int(live_number(live, INVARIANTS[i].sql), 0, "%s: %s", when, INVARIANTS[i].name);
    struct reconciler_stats stats;
    reconciler_get_stats(live->reconciler, &stats);
    check_int(stats.refused_plans, 0, "%s: no plan was refused", when);
}
