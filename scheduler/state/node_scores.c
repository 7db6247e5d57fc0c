#include "scheduler/state/node_scores.h"

#include "base/arena.h"
#include "scheduler/state/rules.h"

#include <string.h>

enum {
    MOST_KEPT = 16, // requests
    NODES_PER_WORD = 64
};

struct scored_request {
    const bool *accepts; // NULL: unused
    struct request request;
    uint64_t last_use;
    uint32_t uses;
    int64_t *scores;    // by position in the pool; NULL: asked for once only
    uint64_t *versions; // of the node when it was scored
    int64_t *best;      // of each word of nodes
    size_t seen;        // changes of the pool
};

struct node_scores {
    struct scored_request kept[MOST_KEPT];
    uint64_t use_count;
    size_t words;
    size_t node_count;
    uint32_t *changed; // positions of nodes: the latest changes, round and round
    size_t change_count;
};

static struct node_scores *node_scores_of(struct cycle *cycle, const struct pool *pool)
{
    if (!cycle->node_scores)
        cycle->node_scores = arena_array(cycle->scratch, cycle->snapshot->node_pool_count, sizeof(*cycle->node_scores));
    struct node_scores *scores = cycle->node_scores[pool->index];
    if (scores)
        return scores;
    scores = cycle->node_scores[pool->index] = arena_alloc(cycle->scratch, sizeof(*scores));
    scores->node_count = pool->node_count;
    scores->words = (pool->node_count + NODES_PER_WORD - 1) / NODES_PER_WORD;
    scores->changed = arena_array(cycle->scratch, pool->node_count, sizeof(*scores->changed));
    return scores;
}

void node_scores_note(struct cycle *cycle, const struct node *node)
{
    struct node_scores *scores = cycle->node_scores ? cycle->node_scores[node->spec->node_pool] : NULL;
    if (scores)
        scores->changed[scores->change_count++ % scores->node_count] = node->position;
}

static bool is_same_request(const struct request *a, const struct request *b)
{
    return memcmp(a->of, b->of, sizeof(a->of)) == 0 && a->portion_milli == b->portion_milli &&
           a->memory_mib == b->memory_mib && a->shared_devices == b->shared_devices &&
           a->mig_gpu_milli == b->mig_gpu_milli && a->is_mig == b->is_mig && a->needs_gpu == b->needs_gpu;
}

// The request among those kept, or in the place of the one that was not asked for longest.
static struct scored_request *find_request(struct node_scores *scores, const bool *accepts,
                                           const struct request *request)
{
    struct scored_request *oldest = &scores->kept[0];
    scores->use_count++;
    for (size_t i = 0; i < MOST_KEPT; i++) {
        struct scored_request *kept = &scores->kept[i];
        if (kept->accepts == accepts && is_same_request(&kept->request, request)) {
            kept->last_use = scores->use_count;
            kept->uses++;
            return kept;
        }
        if (kept->last_use < oldest->last_use)
            oldest = kept;
    }
    oldest->accepts = accepts;
    oldest->request = *request;
    oldest->last_use = scores->use_count;
    oldest->uses = 1;
    return oldest;
}

static void find_best_of_word(const struct node_scores *scores, struct scored_request *kept, size_t word)
{
    size_t first = word * NODES_PER_WORD;
    size_t end = first + NODES_PER_WORD < scores->node_count ? first + NODES_PER_WORD : scores->node_count;
    int64_t best = NODE_SCORES_NONE;
    for (size_t i = first; i < end; i++)
        best = kept->scores[i] > best ? kept->scores[i] : best;
    kept->best[word] = best;
}

struct scoring {
    struct cycle *cycle;
    const struct pool *pool;
    const struct pod *pod;
    node_scores_rate score;
    struct node_scores *scores;
    struct scored_request *kept;
};

static void score_node(const struct scoring *scoring, size_t position)
{
    struct node *node = scoring->pool->nodes[position];
    scoring->kept->versions[position] = node->version;
    scoring->kept->scores[position] = scoring->kept->accepts[node->index]
                                          ? scoring->score(scoring->cycle, scoring->pool, scoring->pod, node)
                                          : NODE_SCORES_NONE;
}

static void score_all(const struct scoring *scoring)
{
    for (size_t i = 0; i < scoring->scores->node_count; i++)
        score_node(scoring, i);
    for (size_t w = 0; w < scoring->scores->words; w++)
        find_best_of_word(scoring->scores, scoring->kept, w);
}

static void score_changed(const struct scoring *scoring)
{
    const struct node_scores *scores = scoring->scores;
    for (size_t i = scoring->kept->seen; i < scores->change_count; i++) {
        uint32_t position = scores->changed[i % scores->node_count];
        if (scoring->kept->versions[position] == scoring->pool->nodes[position]->version)
            continue;
        int64_t before = scoring->kept->scores[position];
        int64_t *best = &scoring->kept->best[position / NODES_PER_WORD];
        score_node(scoring, position);
        int64_t after = scoring->kept->scores[position];
        if (after >= *best)
            *best = after;
        else if (before == *best)
            find_best_of_word(scores, scoring->kept, position / NODES_PER_WORD);
    }
}

static void update(const struct scoring *scoring)
{
    const struct node_scores *scores = scoring->scores;
    struct scored_request *kept = scoring->kept;
    struct arena *arena = scoring->cycle->scratch;
    bool is_new = kept->uses == 2; // whatever the tables hold is another request's
    if (!kept->scores) {
        kept->scores = arena_array(arena, scores->node_count, sizeof(*kept->scores));
        kept->versions = arena_array(arena, scores->node_count, sizeof(*kept->versions));
        kept->best = arena_array(arena, scores->words, sizeof(*kept->best));
    }
    if (is_new || scores->change_count - kept->seen > scores->node_count)
        score_all(scoring);
    else
        score_changed(scoring);
    kept->seen = scores->change_count;
}

static struct node *find_best(const struct scoring *scoring, const struct node_set *set)
{
    const struct node_scores *scores = scoring->scores;
    const struct scored_request *kept = scoring->kept;
    struct node *best = NULL;
    int64_t most = NODE_SCORES_NONE;
    for (size_t w = 0; w < scores->words; w++) {
        if (kept->best[w] <= most || (set->bits && set->bits[w] == 0))
            continue;
        size_t left = scores->node_count - w * NODES_PER_WORD;
        uint64_t word = set->bits ? set->bits[w] : UINT64_MAX;
        if (left < NODES_PER_WORD)
            word &= (UINT64_C(1) << left) - 1;
        for (; word; word &= word - 1) {
            size_t position = w * NODES_PER_WORD + (size_t)__builtin_ctzll(word);
            if (kept->scores[position] <= most)
                continue;
            most = kept->scores[position];
            best = scoring->pool->nodes[position];
            if (most == kept->best[w])
                break;
        }
    }
    return best;
}

bool node_scores_find(struct cycle *cycle, const struct pool *pool, const struct pod *pod, const struct node_set *set,
                      node_scores_rate score, struct node **out_best)
{
    struct node_scores *scores = node_scores_of(cycle, pool);
    struct scored_request *kept = find_request(scores, rules_accepting_nodes(cycle, pod), &pod->request);
    if (kept->uses < 2)
        return false;
    struct scoring scoring = {cycle, pool, pod, score, scores, kept};
    update(&scoring);
    *out_best = find_best(&scoring, set);
    return true;
}
