// Random clusters, cycle after cycle: what must hold whatever the scheduler decides, that a cluster that stands still
// comes to rest, and that the order of a document's lists leaves no trace. Arguments: the first seed, how many (2000).
// With a seed alone that one cluster is shown. A cluster that fails is made smaller while it fails in the same way and
// kept in artifacts/clusters; moved into tests/scheduler/cases it is a test.
#include "tests/support/check.h"
#include "tests/support/cluster_life.h"
#include "tests/support/rich_document.h"
#include "tests/support/shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 2000,
    SHUFFLED_CYCLES = 2
};

static const char RESTS[] = "a cluster that stands still comes to rest";
static const char ORDER[] = "the order of lists leaves no trace";
static const char READS[] = "the generator makes snapshots";

struct figures {
    unsigned clusters;
    unsigned decisions;
    unsigned evictions;
};

static bool is_shuffle_seen(const json_t *document)
{
    struct document_dice dice = {.state = 1};
    json_t *shuffled = json_deep_copy(document);
    random_document_shuffle(&dice, shuffled);
    char *text = cluster_text(document, SHUFFLED_CYCLES), *other = cluster_text(shuffled, SHUFFLED_CYCLES);
    bool seen = text && (!other || strcmp(text, other) != 0);
    free(text);
    free(other);
    json_decref(shuffled);
    return seen;
}

// The rule that the cluster breaks; NULL: none.
static const char *broken_rule(const json_t *document, bool prints, struct life *life, struct breach *breach)
{
    if (!cluster_live_document(document, LIFE_CYCLES, prints, life, breach))
        return breach->rule ? breach->rule : READS;
    if (!life->rests)
        return RESTS;
    return is_shuffle_seen(document) ? ORDER : NULL;
}

static bool breaks(const json_t *document, void *rule)
{
    struct life life;
    struct breach breach;
    const char *broken = broken_rule(document, false, &life, &breach);
    return broken && strcmp(broken, rule) == 0;
}

static void keep_smaller(const json_t *document, uint64_t seed, const char *rule)
{
    char name[64];
    snprintf(name, sizeof(name), "seed-%" PRIu64, seed);
    json_t *small = shrink(document, breaks, (void *)(uintptr_t)rule);
    shrink_keep("artifacts/clusters", name, rule, small);
    json_decref(small);
}

// Returns whether all holds.
static bool check_cluster(uint64_t seed, bool prints, bool keeps, struct figures *figures)
{
    struct document_dice dice = {.state = seed};
    struct life life;
    struct breach breach;
    json_t *document = rich_document(&dice);
    const char *rule = broken_rule(document, prints, &life, &breach);
    figures->clusters++;
    figures->decisions += life.decisions;
    figures->evictions += life.evictions;
    check_true(rule == NULL, "seed %" PRIu64 ", cycle %d: %s: %s", seed, breach.cycle, rule ? rule : "",
               breach.subject);
    if (rule && rule != READS && keeps)
        keep_smaller(document, seed, rule);
    json_decref(document);
    return rule == NULL;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : check_sample(CLUSTERS);
    struct figures figures = {0};
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", first, (uint64_t)(first + count - 1));
    bool only_first = argc > 3;
    for (uint64_t seed = first; seed < first + count; seed++)
        if (!check_cluster(seed, argc == 2, !only_first, &figures) && only_first)
            break;
    printf("%u clusters, %u decisions, %u evictions\n", figures.clusters, figures.decisions, figures.evictions);
    return check_finish();
}
