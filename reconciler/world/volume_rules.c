#include "reconciler/world/volume_rules.h"

#include "base/arena.h"
#include "form/placement_rules.h"
#include "reconciler/world/cache.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void volume_rules_set(struct cache_workload *workload, const char *terms, int64_t until_ms)
{
    free(workload->volume_terms);
    workload->volume_terms = memory_strdup(terms);
    workload->volume_terms_until_ms = until_ms;
}

static struct snapshot_affinity_term join(const struct snapshot_affinity_term *a,
                                          const struct snapshot_affinity_term *b, struct arena *arena)
{
    size_t count = a->requirement_count + b->requirement_count;
    struct snapshot_requirement *requirements = arena_array(arena, count, sizeof(*requirements));
    memcpy(requirements, a->requirements, a->requirement_count * sizeof(*requirements));
    memcpy(requirements + a->requirement_count, b->requirements, b->requirement_count * sizeof(*requirements));
    return (struct snapshot_affinity_term){requirements, count};
}

// One of each list has to hold: each pair of them is a term of its own.
static void narrow(struct snapshot_placement_rules *rules, const struct snapshot_placement_rules *volume,
                   struct arena *arena)
{
    if (!rules->affinity_term_count) {
        rules->affinity_terms = volume->affinity_terms;
        rules->affinity_term_count = volume->affinity_term_count;
        return;
    }
    size_t count = 0;
    struct snapshot_affinity_term *pairs =
        arena_array(arena, rules->affinity_term_count * volume->affinity_term_count, sizeof(*pairs));
    for (size_t i = 0; i < rules->affinity_term_count; i++)
        for (size_t k = 0; k < volume->affinity_term_count; k++)
            pairs[count++] = join(&rules->affinity_terms[i], &volume->affinity_terms[k], arena);
    rules->affinity_terms = pairs;
    rules->affinity_term_count = count;
}

const struct snapshot_placement_rules *volume_rules_apply(const struct cache_workload *workload,
                                                          const struct snapshot_placement_rules *rules, int64_t now_ms,
                                                          struct arena *arena, int64_t *due_ms)
{
    const struct snapshot_placement_rules *volume = NULL;
    if (!workload->volume_terms || workload->volume_terms_until_ms <= now_ms)
        return rules;
    json_t *object = json_pack("{s:o*}", "nodeAffinity", json_loads(workload->volume_terms, 0, NULL));
    if (placement_rules_read(object, arena, &volume, NULL) < 0)
        volume = NULL; // what cannot be read is found again by the next refusal
    json_decref(object);
    if (!volume)
        return rules;
    if (workload->volume_terms_until_ms < *due_ms)
        *due_ms = workload->volume_terms_until_ms;
    struct snapshot_placement_rules *stricter = arena_alloc(arena, sizeof(*stricter));
    if (rules)
        *stricter = *rules;
    narrow(stricter, volume, arena);
    return stricter;
}
