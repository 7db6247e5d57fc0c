// Every name of a project, department or workload in what the scheduler says is marked, so that it can be kept from who
// may not know it (model/told.h). In random clusters no such name is a word of another kind.
#include "base/arena.h"
#include "model/told.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <string.h>

enum {
    CLUSTERS = 300
};

static unsigned told_count;

static const char *leave_out(void *context, enum told_kind kind, const char *name)
{
    (void)context, (void)name;
    told_count += kind == TOLD_PROJECT || kind == TOLD_DEPARTMENT;
    return "?";
}

// The text without its marked names holds none of these words.
static void check_text_of(struct arena *arena, const struct snapshot *snapshot, const char *text)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *rest = text ? told_text(arena, text, leave_out, NULL) : "";
    for (const char *at = rest; *at; at += strspn(at, LETTERS), at += *at != '\0') {
        const char *word = arena_strndup(arena, at, strspn(at, LETTERS));
        for (size_t i = 0; i < snapshot->project_count; i++)
            check_true(strcmp(word, snapshot->projects[i].name) != 0, "not marked: %s", text);
        for (size_t i = 0; i < snapshot->department_count; i++)
            check_true(strcmp(word, snapshot->departments[i].name) != 0, "not marked: %s", text);
        for (size_t i = 0; i < snapshot->workload_count; i++)
            check_true(strcmp(word, snapshot->workloads[i].name) != 0, "not marked: %s", text);
    }
}

static void check_plan(struct arena *arena, const struct snapshot *snapshot, const struct plan *plan)
{
    for (size_t i = 0; i < plan->decision_count; i++)
        check_text_of(arena, snapshot, plan->decisions[i].why);
    for (size_t i = 0; i < snapshot->workload_count; i++)
        for (size_t e = 0; e < plan->workloads[i].explanation_count; e++) {
            const struct plan_explanation *explanation = &plan->workloads[i].explanations[e];
            check_text_of(arena, snapshot, explanation->message);
            for (size_t k = 0; k < explanation->evidence_count; k++)
                check_text_of(arena, snapshot, explanation->evidence[k].sentence);
        }
}

int main(void)
{
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++) {
        struct arena arena;
        struct plan *plan = NULL;
        arena_init(&arena);
        const struct snapshot *snapshot = random_cluster(seed, &arena);
        check_int(scheduler_plan(snapshot, &arena, &plan, NULL), 0, "plans");
        check_plan(&arena, snapshot, plan);
        arena_done(&arena);
    }
    check_true(told_count > 100, "names were told: %u", told_count);
    return check_finish();
}
