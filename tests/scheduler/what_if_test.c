// What-if answers over random clusters: a workload is taken out, asked about, and then really put in; what the plan
// does is what was answered, places and displaced ones included. Each suggestion, made true, starts it. Receipts of the
// same plans are recomputed. Arguments: first seed, how many.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "scheduler/ask/what_if.h"
#include "scheduler/pod_status.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"
#include "tests/support/receipt_check.h"
#include "tests/support/rich_document.h"
#include "tests/support/take_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned verdicts[4], fixes[FIX_KIND_COUNT], receipts[EVICTION_RULE_COUNT], forecasts[FORECAST_NEVER + 1];
static unsigned most_plans, lost_fixes;

// What happened to a workload in a plan, read from the pods and not from the answer's code.
struct happened {
    enum what_if_verdict verdict;
    uint32_t pods_on[64]; // by node
    uint32_t lost_pods;   // of others, evicted for it
    uint32_t lost_workloads;
};

static struct happened look(const struct snapshot *snapshot, const struct plan *plan, uint32_t workload)
{
    struct happened happened = {.verdict = WHAT_IF_WAITS};
    const struct snapshot_workload *spec = &snapshot->workloads[workload];
    bool is_bound = false, is_promised = false;
    for (uint32_t p = spec->first_pod; p < spec->first_pod + spec->pod_count; p++) {
        enum snapshot_pod_status now = plan->pods[p].status, before = snapshot->pods[p].status;
        bool is_new = (now == SNAPSHOT_POD_BINDING && before != SNAPSHOT_POD_BINDING) || now == SNAPSHOT_POD_PIPELINED;
        is_bound = is_bound || (is_new && now == SNAPSHOT_POD_BINDING);
        is_promised = is_promised || (is_new && now == SNAPSHOT_POD_PIPELINED);
        if (is_new)
            happened.pods_on[plan->pods[p].node]++;
    }
    for (uint32_t w = 0; w < snapshot->workload_count; w++) {
        uint32_t lost = 0;
        for (size_t i = 0; i < plan->decision_count; i++) {
            const struct plan_decision *decision = &plan->decisions[i];
            lost += decision->workload == w && decision->beneficiary == workload &&
                    (decision->verb == PLAN_EVICT || (decision->verb == PLAN_WITHDRAW && !decision->moved));
        }
        happened.lost_pods += lost;
        happened.lost_workloads += lost > 0;
    }
    if (is_bound)
        happened.verdict = WHAT_IF_STARTS;
    else if (is_promised)
        happened.verdict = happened.lost_pods > 0 ? WHAT_IF_STARTS_BY_EVICTION : WHAT_IF_STARTS_AFTER_RELEASE;
    return happened;
}

static void check_answer(const struct snapshot *rest, const struct snapshot *with, const struct plan *plan,
                         uint32_t workload, const struct what_if_answer *answer, const char *name)
{
    struct happened happened = look(with, plan, workload);
    const struct plan_workload *planned = &plan->workloads[workload];
    check_int((int)answer->verdict, (int)happened.verdict, "%s: verdict", name);
    uint32_t nodes = 0;
    for (uint32_t n = 0; n < with->node_count; n++)
        nodes += happened.pods_on[n] > 0;
    check_int((int64_t)answer->node_count, nodes, "%s: nodes", name);
    for (size_t i = 0; i < answer->node_count; i++)
        check_int(answer->nodes[i].pods, happened.pods_on[answer->nodes[i].node], "%s: pods on a node", name);
    uint32_t lost = 0;
    for (size_t i = 0; i < answer->displaced_count; i++) {
        const struct what_if_displaced *one = &answer->displaced[i];
        uint32_t there = snapshot_find(with, rest->workloads[one->workload].name);
        uint32_t evicted = 0;
        for (size_t d = 0; d < plan->decision_count; d++)
            evicted += plan->decisions[d].workload == there && plan->decisions[d].beneficiary == workload &&
                       (plan->decisions[d].verb == PLAN_EVICT ||
                        (plan->decisions[d].verb == PLAN_WITHDRAW && !plan->decisions[d].moved));
        check_int(one->pods, evicted, "%s: pods of %s", name, rest->workloads[one->workload].name);
        check_true(one->sentence && *one->sentence, "%s: a sentence for each who gives way", name);
        lost += one->pods;
    }
    check_int((int64_t)answer->displaced_count, happened.lost_workloads, "%s: displaced", name);
    check_int(lost, happened.lost_pods, "%s: displaced pods", name);
    check_true(answer->sentence && *answer->sentence, "%s: a sentence", name);
    check_true((answer->could_lose_to == NULL) == (answer->verdict == WHAT_IF_WAITS), "%s: who could take it", name);
    if (answer->verdict == WHAT_IF_WAITS) {
        check_int((int64_t)answer->explanation_count, (int64_t)planned->explanation_count, "%s: explanations", name);
        for (size_t i = 0; i < answer->explanation_count; i++)
            check_text(answer->explanations[i].message, planned->explanations[i].message, "%s: explanation", name);
    }
    verdicts[answer->verdict]++;
}

// The change does what it says, and starts the workload as promised.
static void check_fix(const struct snapshot *rest, const struct what_if_question *question,
                      const struct what_if_fix *fix, const char *name)
{
    struct arena arena;
    struct snapshot *changed;
    struct plan *plan;
    uint32_t workload;
    struct error err = {0};
    arena_init(&arena);
    if (what_if_apply(rest, question, &fix->change, &arena, &changed, &workload, &err) < 0 ||
        scheduler_plan(changed, &arena, &plan, &err) < 0) {
        check_true(0, "%s: %s", name, err.message);
    } else {
        struct happened happened = look(changed, plan, workload);
        const struct snapshot_workload *now = &changed->workloads[workload];
        uint32_t gpus = 0;
        for (uint32_t p = 0; p < now->pod_count; p++)
            gpus = changed->pods[now->first_pod + p].gpu_devices > gpus ? changed->pods[now->first_pod + p].gpu_devices
                                                                        : gpus;
        check_true(fix->verdict != WHAT_IF_WAITS, "%s: it starts", name);
        check_int((int)happened.verdict, (int)fix->verdict, "%s: as promised", name);
        check_int(happened.lost_workloads, (int64_t)fix->displaced_count, "%s: who gives way", name);
        check_true(fix->sentence && fix->price && fix->effect, "%s: sentences", name);
        if (fix->change.kind == FIX_FEWER_GPUS)
            check_int(gpus, fix->change.gpu_devices, "%s: GPUs", name);
        if (fix->change.kind == FIX_FEWER_PODS)
            check_int(now->pod_count, fix->change.pods, "%s: pods", name);
        if (fix->change.kind == FIX_OTHER_NODE_POOL)
            check_true(now->node_pool_count == 1 && now->node_pools[0] == fix->change.node_pool, "%s: pool", name);
        if (fix->change.kind == FIX_MORE_QUOTA)
            check_true(fix->change.changes_project || fix->change.changes_department, "%s: a change", name);
    }
    fixes[fix->change.kind]++;
    arena_done(&arena);
}

// Where trials may simulate a few scenarios only, the answer is the same, and the fixes that are found hold as well.
static void check_bounded(const struct snapshot *rest, const struct what_if_question *question,
                          const struct what_if_answer *answer, const char *name)
{
    struct arena arena;
    struct what_if_answer *bounded;
    struct what_if_question some = *question;
    struct error err = {0};
    some.fix_scenarios = 3;
    arena_init(&arena);
    check_true(scheduler_what_if(rest, &some, &arena, &bounded, &err) == 0, "%s: %s", name, err.message);
    check_text(bounded->sentence, answer->sentence, "%s: the same sentence within bounds", name);
    for (size_t i = 0; i < bounded->fix_count; i++)
        check_fix(rest, question, &bounded->fixes[i], name);
    lost_fixes += bounded->fix_count < answer->fix_count;
    arena_done(&arena);
}

static void check_workload(const struct snapshot *snapshot, uint32_t index, const char *new_name, const char *name)
{
    struct arena arena;
    struct error err = {0};
    struct what_if_answer *answer;
    struct plan *plan;
    arena_init(&arena);
    struct loose_workload loose = loose_workload(snapshot, index, new_name, &arena);
    const struct snapshot *rest = snapshot_rebuild(snapshot, index, NULL, &arena);
    const struct snapshot *with = snapshot_rebuild(snapshot, index, &loose, &arena);
    struct what_if_question question = {.workload = &loose.workload, .pods = loose.pods, .wants_fixes = true};
    if (scheduler_what_if(rest, &question, &arena, &answer, &err) < 0 ||
        scheduler_plan(with, &arena, &plan, &err) < 0) {
        check_true(0, "%s: %s", name, err.message);
        arena_done(&arena);
        return;
    }
    check_answer(rest, with, plan, snapshot_find(with, new_name), answer, name);
    receipts_check(with, plan, name, receipts);
    check_true(answer->fix_count <= WHAT_IF_FIXES_MAXIMUM && answer->plan_count <= WHAT_IF_PLANS_MAXIMUM,
               "%s: bounds, %u plans", name, answer->plan_count);
    most_plans = answer->plan_count > most_plans ? answer->plan_count : most_plans;
    forecasts[answer->forecast.kind]++;
    for (size_t i = 0; i < answer->fix_count; i++)
        check_fix(rest, &question, &answer->fixes[i], name);
    check_bounded(rest, &question, answer, name);
    // The same workload, there already, has the same answer.
    struct what_if_question there = {.existing = snapshot_find(with, new_name), .wants_fixes = true};
    struct what_if_answer *same;
    check_true(scheduler_what_if(with, &there, &arena, &same, &err) == 0, "%s: %s", name, err.message);
    check_int((int)same->verdict, (int)answer->verdict, "%s: the same verdict", name);
    check_text(same->sentence, answer->sentence, "%s: the same sentence", name);
    check_int((int64_t)same->fix_count, (int64_t)answer->fix_count, "%s: as many fixes", name);
    arena_done(&arena);
}

static void check_cluster(const struct snapshot *snapshot, uint64_t seed, const char *kind)
{
    static const char *const NAMES[] = {NULL, "a", "w05x", "zz"}; // its own; before, between, behind the others
    char name[64];
    uint64_t random = seed;
    if (snapshot->workload_count == 0)
        return;
    uint32_t index = random_below(&random, (uint32_t)snapshot->workload_count);
    const char *new_name = NAMES[random_below(&random, COUNT(NAMES))];
    snprintf(name, sizeof(name), "%s %" PRIu64, kind, seed);
    check_workload(snapshot, index, new_name ? new_name : snapshot->workloads[index].name, name);
}

static void check_seed(uint64_t seed)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    arena_init(&arena);
    check_cluster(random_cluster(seed, &arena), seed, "cluster");
    struct document_dice dice = {.state = seed};
    json_t *document = rich_document(&dice);
    if (snapshot_read_json(document, &arena, &snapshot, &err) == 0)
        check_cluster(snapshot, seed, "document");
    json_decref(document);
    arena_done(&arena);
}

static void check_bad_questions(void)
{
    struct arena arena;
    struct error err = {0};
    struct what_if_answer *answer;
    arena_init(&arena);
    const struct snapshot *snapshot = random_cluster(1, &arena);
    struct loose_workload loose = loose_workload(snapshot, 0, snapshot->workloads[0].name, &arena);
    struct what_if_question question = {.workload = &loose.workload, .pods = loose.pods};
    check_int(scheduler_what_if(snapshot, &question, &arena, &answer, &err), -1, "a name that is taken");
    check_int(err.code, ERROR_CONFLICT, "a name that is taken");
    question = (struct what_if_question){.existing = 999};
    check_int(scheduler_what_if(snapshot, &question, &arena, &answer, &err), -1, "no such workload");
    check_int(err.code, ERROR_NOT_FOUND, "no such workload");
    arena_done(&arena);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : check_sample(500);
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed);
    check_bad_questions();
    for (size_t i = 0; i < COUNT(verdicts); i++)
        printf("%s: %u\n", what_if_verdict_name((enum what_if_verdict)i), verdicts[i]);
    for (size_t i = 0; i < COUNT(forecasts); i++)
        printf("forecast %s: %u\n", forecast_kind_name((enum forecast_kind)i), forecasts[i]);
    for (size_t i = 0; i < COUNT(fixes); i++)
        printf("%s: %u\n", what_if_fix_kind_name((enum what_if_fix_kind)i), fixes[i]);
    for (size_t i = 0; i < COUNT(receipts); i++)
        printf("receipts by %s: %u\n", eviction_rule_name((enum eviction_rule)i), receipts[i]);
    printf("at most %u plans\n", most_plans);
    printf("within 3 scenarios %u answers have fewer fixes\n", lost_fixes);
    check_true(lost_fixes > 0 || count < 500, "the bound of a question's scenarios is met");
    for (size_t i = 0; i < COUNT(verdicts) && count >= 500; i++)
        check_true(verdicts[i] > 0, "%s occurs", what_if_verdict_name((enum what_if_verdict)i));
    for (size_t i = 0; i < COUNT(fixes) && count >= 500; i++)
        check_true(fixes[i] > 0, "%s occurs", what_if_fix_kind_name((enum what_if_fix_kind)i));
    return check_finish();
}
