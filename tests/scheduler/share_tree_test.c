// How fair shares come about: over random clusters the tree has the plan's shares, and each of its terms is recomputed
// from inputs by a checker of its own (tests/support/share_check.h). Arguments: first seed, how many.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "scheduler/ask/share_question.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"
#include "tests/support/rich_document.h"
#include "tests/support/share_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned terms_seen[3];

static void count_terms(const struct share_node *node)
{
    for (size_t i = 0; i < node->term_count; i++) {
        terms_seen[node->terms[i].rule]++;
        check_true(node->terms[i].sentence && *node->terms[i].sentence, "%s: a sentence for each term", node->name);
    }
}

static void check_numbers(const struct snapshot *snapshot, const struct plan *plan, const struct share_tree *tree,
                          const char *seed)
{
    size_t pools = snapshot->node_pool_count;
    enum resource r = tree->resource;
    for (size_t d = 0; d < tree->root.child_count; d++) {
        const struct share_node *department = &tree->root.children[d];
        if (department->index != SNAPSHOT_NONE)
            check_int(department->fair_share,
                      plan->departments[department->index * pools + tree->node_pool].fair_share.of[r],
                      "%s: share of %s", seed, department->name);
        count_terms(department);
        for (size_t p = 0; p < department->child_count; p++) {
            const struct share_node *project = &department->children[p];
            check_int(project->fair_share, plan->projects[project->index * pools + tree->node_pool].fair_share.of[r],
                      "%s: share of %s", seed, project->name);
            count_terms(project);
        }
    }
}

static void check_cluster(const struct snapshot *snapshot, const char *seed)
{
    struct arena arena;
    struct plan *plan;
    struct error err = {0};
    arena_init(&arena);
    check_true(scheduler_plan(snapshot, &arena, &plan, &err) == 0, "%s: %s", seed, err.message);
    for (uint32_t pool = 0; pool < snapshot->node_pool_count && err.code == ERROR_NONE; pool++) {
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            struct share_tree *tree;
            const char *subject = "";
            check_true(scheduler_explain_fairshare(snapshot, pool, r, &arena, &tree, &err) == 0, "%s: %s", seed,
                       err.message);
            const char *wrong = share_tree_check(tree, &subject);
            check_true(!wrong, "%s, pool %u, resource %d: %s: %s", seed, pool, (int)r, subject ? subject : "",
                       wrong ? wrong : "");
            check_numbers(snapshot, plan, tree, seed);
        }
    }
    arena_done(&arena);
}

static void check_seed(uint64_t seed)
{
    char name[64];
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    arena_init(&arena);
    snprintf(name, sizeof(name), "cluster %" PRIu64, seed);
    check_cluster(random_cluster(seed, &arena), name);
    struct document_dice dice = {.state = seed};
    json_t *document = rich_document(&dice);
    snprintf(name, sizeof(name), "document %" PRIu64, seed);
    if (snapshot_read_json(document, &arena, &snapshot, &err) == 0)
        check_cluster(snapshot, name);
    json_decref(document);
    arena_done(&arena);
}

static void check_unknown_pool(void)
{
    struct arena arena;
    struct share_tree *tree = NULL;
    struct error err = {0};
    arena_init(&arena);
    const struct snapshot *snapshot = random_cluster(1, &arena);
    check_int(scheduler_explain_fairshare(snapshot, 99, RESOURCE_GPU, &arena, &tree, &err), -1, "no such pool");
    check_int(err.code, ERROR_NOT_FOUND, "no such pool");
    arena_done(&arena);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed);
    check_unknown_pool();
    for (size_t rule = 0; rule < COUNT(terms_seen); rule++)
        check_true(terms_seen[rule] > 0, "terms of rule %s occur", share_rule_name((enum share_rule)rule));
    printf("terms: %u deserved, %u over quota, %u remainders\n", terms_seen[0], terms_seen[1], terms_seen[2]);
    return check_finish();
}
