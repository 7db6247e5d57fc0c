#include "backends/facts.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct backend_fact *backend_facts_add(struct backend_facts *facts, enum backend_fact_kind kind, const char *pod_uuid,
                                       int64_t decision, int64_t time_ms)
{
    if (facts->count == facts->capacity) {
        facts->capacity = facts->capacity ? facts->capacity * 2 : 64;
        facts->items = memory_realloc(facts->items, facts->capacity * sizeof(*facts->items));
    }
    struct backend_fact *fact = &facts->items[facts->count++];
    *fact = (struct backend_fact){.kind = kind, .decision = decision, .time_ms = time_ms};
    snprintf(fact->pod_uuid, sizeof(fact->pod_uuid), "%s", pod_uuid);
    return fact;
}

void backend_fact_say(struct backend_fact *fact, const char *reason, const char *message)
{
    snprintf(fact->reason, sizeof(fact->reason), "%s", reason);
    snprintf(fact->message, sizeof(fact->message), "%s", message);
}

size_t backend_facts_take(struct backend_facts *facts, struct arena *arena, struct backend_fact **out_facts)
{
    size_t count = facts->count;
    *out_facts = arena_array(arena, count, sizeof(**out_facts));
    if (count)
        memcpy(*out_facts, facts->items, count * sizeof(**out_facts));
    facts->count = 0;
    return count;
}

void backend_facts_done(struct backend_facts *facts)
{
    free(facts->items);
    *facts = (struct backend_facts){0};
}
