// What a backend has to say and nobody has taken yet, in the order in which it came up. The lock is the backend's.
#pragma once
#include "backends/backend.h"

struct arena;

struct backend_facts {
    struct backend_fact *items;
    size_t count, capacity;
};

// Good until the next one is added. pod_uuid: "" where it is about no pod.
struct backend_fact *backend_facts_add(struct backend_facts *facts, enum backend_fact_kind kind, const char *pod_uuid,
                                       int64_t decision, int64_t time_ms);
void backend_fact_say(struct backend_fact *fact, const char *reason, const char *message);
// Hands over a copy in the arena, and forgets them. How many there are.
size_t backend_facts_take(struct backend_facts *facts, struct arena *arena, struct backend_fact **out_facts);
void backend_facts_done(struct backend_facts *facts);
