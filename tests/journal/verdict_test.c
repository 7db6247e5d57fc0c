// What a replay says where a plan differs from the recorded one in one place: in words, in figures, in a decision.
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/plan_writer.h"
#include "journal/digest.h"
#include "journal/journal.h"
#include "journal/reader.h"
#include "journal/verdict.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <string.h>

static const char OTHER_WORDS[] = "In other words";

// Changes plans of their own: the arena's, which nobody else reads. False where a plan has no such place.
static struct plan_decision *first_decision(const struct plan *plan, enum plan_verb verb)
{
    for (size_t i = 0; i < plan->decision_count; i++)
        if (plan->decisions[i].verb == verb)
            return (struct plan_decision *)&plan->decisions[i];
    return NULL;
}

static struct plan_explanation *first_explanation(const struct snapshot *snapshot, const struct plan *plan)
{
    for (size_t i = 0; i < snapshot->workload_count; i++)
        if (plan->workloads[i].explanation_count > 0)
            return (struct plan_explanation *)plan->workloads[i].explanations;
    return NULL;
}

static bool change_nothing(const struct snapshot *snapshot, struct plan *plan)
{
    return snapshot->project_count > 0 && plan->good_until_ms > 0;
}

static bool change_why(const struct snapshot *snapshot, struct plan *plan)
{
    (void)snapshot;
    struct plan_decision *decision = first_decision(plan, PLAN_BIND);
    if (decision)
        decision->why = OTHER_WORDS;
    return decision;
}

static bool change_message(const struct snapshot *snapshot, struct plan *plan)
{
    struct plan_explanation *explanation = first_explanation(snapshot, plan);
    if (explanation)
        explanation->message = OTHER_WORDS;
    return explanation;
}

static bool change_node_reason(const struct snapshot *snapshot, struct plan *plan)
{
    struct plan_explanation *explanation = first_explanation(snapshot, plan);
    if (!explanation || explanation->node_reason_count == 0)
        return false;
    ((struct plan_node_reason *)explanation->node_reasons)->reason = OTHER_WORDS;
    return true;
}

static bool change_evidence_sentence(const struct snapshot *snapshot, struct plan *plan)
{
    for (size_t i = 0; i < snapshot->workload_count; i++)
        for (size_t j = 0; j < plan->workloads[i].explanation_count; j++) {
            const struct plan_explanation *explanation = &plan->workloads[i].explanations[j];
            if (explanation->evidence_count == 0)
                continue;
            ((struct plan_evidence *)explanation->evidence)->sentence = OTHER_WORDS;
            return true;
        }
    return false;
}

static bool change_node_count(const struct snapshot *snapshot, struct plan *plan)
{
    struct plan_explanation *explanation = first_explanation(snapshot, plan);
    if (!explanation || explanation->node_reason_count == 0)
        return false;
    ((struct plan_node_reason *)explanation->node_reasons)->node_count++;
    return true;
}

static bool change_code(const struct snapshot *snapshot, struct plan *plan)
{
    struct plan_explanation *explanation = first_explanation(snapshot, plan);
    if (explanation)
        explanation->code = EXPLANATION_NOT_READY;
    return explanation;
}

static bool change_fair_share(const struct snapshot *snapshot, struct plan *plan)
{
    if (snapshot->project_count > 0)
        ((struct plan_queue *)plan->projects)->fair_share.of[0]++;
    return snapshot->project_count > 0;
}

static bool change_receipt(const struct snapshot *snapshot, struct plan *plan)
{
    (void)snapshot;
    struct plan_decision *decision = first_decision(plan, PLAN_EVICT);
    if (decision)
        ((struct plan_receipt *)decision->receipt)->victim.project_queue.allocated_before.of[0]++;
    return decision;
}

static bool change_verb(const struct snapshot *snapshot, struct plan *plan)
{
    (void)snapshot;
    struct plan_decision *decision = first_decision(plan, PLAN_BIND);
    if (decision)
        decision->verb = PLAN_PIPELINE;
    return decision;
}

static bool change_node(const struct snapshot *snapshot, struct plan *plan)
{
    struct plan_decision *decision = first_decision(plan, PLAN_BIND);
    if (!decision || snapshot->node_count < 2)
        return false;
    decision->node = (decision->node + 1) % (uint32_t)snapshot->node_count;
    return true;
}

static bool change_device(const struct snapshot *snapshot, struct plan *plan)
{
    static const uint32_t SEVEN = 7;
    (void)snapshot;
    struct plan_decision *decision = first_decision(plan, PLAN_BIND);
    if (!decision || decision->devices.gpu_index_count != 1)
        return false;
    decision->devices.gpu_indices = &SEVEN;
    return true;
}

static bool change_beneficiary(const struct snapshot *snapshot, struct plan *plan)
{
    (void)snapshot;
    struct plan_decision *decision = first_decision(plan, PLAN_EVICT);
    if (decision)
        decision->beneficiary = decision->workload;
    return decision;
}

static bool change_order(const struct snapshot *snapshot, struct plan *plan)
{
    (void)snapshot;
    if (plan->decision_count < 2)
        return false;
    struct plan_decision *decisions = (struct plan_decision *)plan->decisions;
    struct plan_decision first = decisions[0];
    decisions[0] = decisions[1];
    decisions[1] = first;
    return true;
}

static bool change_order_and_words(const struct snapshot *snapshot, struct plan *plan)
{
    return change_message(snapshot, plan) && change_order(snapshot, plan);
}

static bool leave_one_out(const struct snapshot *snapshot, struct plan *plan)
{
    (void)snapshot;
    if (plan->decision_count == 0)
        return false;
    plan->decision_count--;
    return true;
}

struct verdict_case {
    const char *name;
    bool (*change)(const struct snapshot *snapshot, struct plan *plan);
    enum verdict_kind want;
    enum verdict_kind want_one_digest; // of a record that has one: only its decisions can be told from the rest
};

static const struct verdict_case CASES[] = {
    {"nothing", change_nothing, VERDICT_EQUAL, VERDICT_EQUAL},
    {"why of a decision", change_why, VERDICT_ALIKE, VERDICT_ALIKE},
    {"message of an explanation", change_message, VERDICT_ALIKE, VERDICT_ALIKE},
    {"words for nodes that cannot take a pod", change_node_reason, VERDICT_ALIKE, VERDICT_ALIKE},
    {"sentence of an evidence", change_evidence_sentence, VERDICT_ALIKE, VERDICT_ALIKE},
    {"number of nodes that cannot take a pod", change_node_count, VERDICT_DIFFERENT, VERDICT_ALIKE},
    {"code of an explanation", change_code, VERDICT_DIFFERENT, VERDICT_ALIKE},
    {"a fair share", change_fair_share, VERDICT_DIFFERENT, VERDICT_ALIKE},
    {"a receipt", change_receipt, VERDICT_DIFFERENT, VERDICT_ALIKE},
    {"verb", change_verb, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
    {"node", change_node, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
    {"device", change_device, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
    {"beneficiary", change_beneficiary, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
    {"order", change_order, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
    {"order, and words", change_order_and_words, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
    {"one decision less", leave_one_out, VERDICT_DIFFERENT, VERDICT_DIFFERENT},
};

static struct verdict judge(const struct recorded_cycle *recorded, const struct plan *plan)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    plan_write_decisions(&json, recorded->snapshot, plan);
    struct verdict verdict = verdict_of(recorded, plan, text.data);
    buffer_done(&text);
    return verdict;
}

// Whether the cycle's plan has such a place.
static bool check_case(struct live *live, int64_t cycle, const struct verdict_case *one)
{
    struct arena arena;
    struct error err = {0};
    struct recorded_cycle recorded, before;
    struct plan *plan;
    arena_init(&arena);
    check_int(journal_find(live->journal_folder, cycle, 0, &arena, &recorded, &err), 0, "%s", err.message);
    check_int(scheduler_plan(recorded.snapshot, &arena, &plan, &err), 0, "%s", err.message);
    before = recorded;
    before.digests = (struct plan_digests){0};
    digest_plan_whole(recorded.snapshot, plan, before.whole_digest);
    bool has_place = one->change(recorded.snapshot, plan);
    if (has_place) {
        struct verdict verdict = judge(&recorded, plan), of_one = judge(&before, plan);
        check_int(verdict.kind, one->want, "%s, cycle %" PRId64, one->name, cycle);
        check_int(of_one.kind, one->want_one_digest, "%s, cycle %" PRId64 ", one digest", one->name, cycle);
        check_true(!verdict.sentence == (one->want == VERDICT_EQUAL), "%s: a sentence where it is not equal",
                   one->name);
    }
    arena_done(&arena);
    return has_place;
}

// team-a holds all four GPUs and more of it waits; team-b takes its quota back.
static void test_every_change(void)
{
    struct live live = {.has_journal = true};
    struct journal_row *rows;
    size_t count;
    struct error err = {0};
    live_open(&live, 2, 2);
    live_add_project(&live, "team-a", 2);
    live_add_project(&live, "team-b", 2);
    for (int i = 0; i < 5; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "a%d", i), .project = "team-a"});
    live_advance(&live, 2000);
    for (int i = 0; i < 3; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "b%d", i), .project = "team-b"});
    live_advance(&live, 5000);
    journal_flush(live.journal);
    check_int(journal_list(live.journal_folder, 0, INT64_MAX, &live.arena, &rows, &count, &err), 0, "%s", err.message);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        int64_t places = 0;
        for (size_t j = 0; j < count; j++)
            places += check_case(&live, rows[j].cycle, &CASES[i]);
        check_true(places > 0, "%s: some cycle has it", CASES[i].name);
    }
    live_close(&live);
}

// The one digest of before stays what it was, or no old journal is ever equal. The text is of the release that kept it.
static void test_whole_digest_stays(void)
{
    static const char *const GROUPS[] = {"group-1"};
    static const uint32_t DEVICES[] = {0, 3};
    static const struct plan_receipt RECEIPT = {
        .rule = EVICTION_OWED_QUOTA, .victim = {.project = 1}, .beneficiary = {.project = SNAPSHOT_NONE}};
    static const struct plan_decision DECISIONS[] = {
        {.verb = PLAN_EVICT, .pod = 1, .beneficiary = 2, .lost_ms = 7000, .why = "Yields", .receipt = &RECEIPT},
        {.verb = PLAN_BIND, .node = 1, .devices = {GROUPS, 1, DEVICES, 2}, .gpu_milli = 2000, .why = "Gets 2 GPUs"},
    };
    static const struct plan_node_reason REASON = {"without enough free GPUs", 3};
    static const struct plan_evidence EVIDENCE = {.project = 1, .held = 4000, .sentence = "team-a keeps 4"};
    static const struct plan_explanation EXPLANATION = {
        .code = EXPLANATION_NOT_ENOUGH_GPUS,
        .message = "too few GPUs",
        .requested = 2000,
        .node_reasons = &REASON,
        .node_reason_count = 1,
        .evidence = &EVIDENCE,
        .evidence_count = 1,
    };
    static const struct plan_pod POD = {.node = 1, .devices = {NULL, 0, DEVICES, 1}};
    static const struct plan_workload WORKLOAD = {
        .node_pool = SNAPSHOT_NONE, .explanations = &EXPLANATION, .explanation_count = 1};
    static const struct plan_queue QUEUE = {.fair_share.of = {1000, 2, 3}};
    static const struct plan_node NODE = {.idle_gpus = 5};
    struct snapshot snapshot = {.pod_count = 1,
                                .workload_count = 1,
                                .project_count = 1,
                                .node_pool_count = 1,
                                .department_count = 1,
                                .node_count = 1};
    struct plan plan = {.decisions = DECISIONS,
                        .decision_count = 2,
                        .pods = &POD,
                        .workloads = &WORKLOAD,
                        .projects = &QUEUE,
                        .departments = &QUEUE,
                        .nodes = &NODE,
                        .good_until_ms = 123};
    char digest[DIGEST_SIZE];
    digest_plan_whole(&snapshot, &plan, digest);
    check_text(digest, "89703afe6fe37edd84fe7f944ea6d9b1", "as it was");
}

// A segment that the last release with one digest wrote.
static void test_segment_of_before(void)
{
    static const char FOLDER[] = "tests/journal/one-digest/journal";
    static const int64_t DECISIONS[] = {0, 2, 2, 2, 1, 0};
    struct arena arena;
    struct error err = {0};
    struct journal_row *rows;
    size_t count = 0;
    arena_init(&arena);
    check_int(journal_list(FOLDER, 0, INT64_MAX, &arena, &rows, &count, &err), 0, "%s", err.message);
    check_int((int64_t)count, COUNT(DECISIONS), "all cycles are there");
    check_true(journal_damage(FOLDER, &arena) == NULL, "and whole");
    for (size_t i = 0; i < count; i++) {
        struct recorded_cycle recorded;
        struct plan *plan;
        check_int(journal_find(FOLDER, rows[i].cycle, 0, &arena, &recorded, &err), 0, "%s", err.message);
        check_int(recorded.row.decision_count, DECISIONS[i], "what cycle %" PRId64 " decided", rows[i].cycle);
        check_int((int64_t)strlen(recorded.whole_digest), DIGEST_SIZE - 1, "its digest");
        check_text(recorded.digests.decided, "", "it has no other");
        check_int(scheduler_plan(recorded.snapshot, &arena, &plan, &err), 0, "%s", err.message);
        check_true(judge(&recorded, plan).kind != VERDICT_DIFFERENT, "cycle %" PRId64 " is decided alike",
                   rows[i].cycle);
    }
    arena_done(&arena);
}

int main(void)
{
    test_every_change();
    test_whole_digest_stays();
    test_segment_of_before();
    return check_finish();
}
