// What an eviction leaves behind: who gave, to whom, by which action, and what was lost.
#include "tests/support/check.h"
#include "tests/support/live.h"

struct receipt_case {
    const char *name;
    int64_t quota_a, quota_b;
    const char *winner_project;
    int winner_priority;
    const char *want;         // action, gives, pod, gets, project, GPUs, devices, lost seconds
    const char *want_numbers; // rule, what the giver held before and after, what the getter deserves and held
};

static const struct receipt_case CASES[] = {
    {"an owner takes back what was lent", 0, 2, "team-b", 50, "reclaim loser loser-0-0 winner team-b 2000 [0,1] 60",
     "AboveShare [\"team-a\",2,0] [\"team-b\",2,0,2]"},
    {"priority inside a project", 2, 2, "team-a", 75, "preempt loser loser-0-0 winner team-a 2000 [0,1] 60",
     "HigherPriority [\"team-a\",2,2] [\"team-a\",2,2,2]"},
};

static void test_eviction(const struct receipt_case *c)
{
    struct live live = {0};
    live_open(&live, 1, 2);
    live_add_project(&live, "team-a", c->quota_a);
    live_add_project(&live, "team-b", c->quota_b);
    live_submit(&live, &(struct live_spec){.name = "loser", .project = "team-a", .gpus = 2});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM receipts"), 0, "%s: nobody has lost anything", c->name);
    live_advance(&live, 60000);
    live_submit(&live, &(struct live_spec){
                           .name = "winner", .project = c->winner_project, .gpus = 2, .priority = c->winner_priority});
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM receipts"), 1, "%s: one receipt", c->name);
    check_text(live_text(&live, "SELECT r.action || ' ' || w.name || ' ' || r.pod_name || ' ' || r.beneficiary_name ||"
                                " ' ' || r.beneficiary_project_name || ' ' || r.gpu_milli || ' ' ||"
                                " r.gpu_indices_json || ' ' || (r.lost_ms / 1000) FROM receipts r"
                                " JOIN workloads w ON w.id = r.workload_id"),
               c->want, "%s", c->name);
    check_int(live_number(&live, "SELECT count(*) FROM receipts r JOIN workloads b ON b.id = r.beneficiary_id AND"
                                 " b.uuid = r.beneficiary_uuid AND r.sentence <> '' AND r.rule <> '' AND"
                                 " r.node_name = 'node0' AND r.node_pool_name = 'default'"),
              1, "%s: the rest of it", c->name);
    check_text(live_text(&live,
                         "SELECT rule || ' ' || json_extract(victim_queue_json, '$.project', '$.allocatedBefore',"
                         " '$.allocatedAfter') || ' ' || json_extract(beneficiary_queue_json, '$.project',"
                         " '$.deserved', '$.allocatedBefore', '$.allocatedAfter') FROM receipts"),
               c->want_numbers, "%s: both sides' numbers", c->name);
    live_close(&live);
}

// Receipts go when the workload's row does, 14 days after it was deleted.
static void test_bounded(void)
{
    struct live live = {0};
    live_open(&live, 1, 2);
    live_add_project(&live, "team-a", 0);
    live_add_project(&live, "team-b", 2);
    live_submit(&live, &(struct live_spec){.name = "loser", .project = "team-a", .gpus = 2});
    live_run(&live);
    live_submit(&live, &(struct live_spec){.name = "winner", .project = "team-b", .gpus = 2});
    live_run(&live);
    live_delete(&live, "loser");
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM receipts"), 1, "a deleted workload keeps its receipt");
    live_submit(&live, &(struct live_spec){.name = "later", .project = "team-b"}); // the newest pod stays in any case
    live_run(&live);
    live.now_ms += INT64_C(15) * 24 * 60 * 60 * 1000;
    live_run(&live);
    check_int(live_number(&live, "SELECT count(*) FROM receipts"), 0, "until its row goes");
    live_close(&live);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        test_eviction(&CASES[i]);
    test_bounded();
    return check_finish();
}
