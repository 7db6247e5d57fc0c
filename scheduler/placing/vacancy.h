// What is free in a pool, in all and in one piece, and from when on time limits leave room: facts behind explanations,
// found once for all that ask for the same while nothing is decided.
#pragma once
#include "scheduler/state/cycle.h"

struct vacancy_room { // GPUs of open nodes, in thousandths
    int64_t total;
    int64_t free;
    int64_t most;        // on one node
    uint32_t node_count; // with something free
};

// Whole devices, or with parts of shared ones. No statement may be open.
struct vacancy_room vacancy_of(struct cycle *cycle, const struct pool *pool, bool with_parts);
// Other amounts are held on nodes than what was decided: see reservation.h.
void vacancy_forget(struct cycle *cycle);

// From when on so many pods like this one, which asks for whole devices, have room by the time limits of what runs
// alone; SNAPSHOT_TIME_NONE: by them never.
int64_t vacancy_starts_ms(struct cycle *cycle, const struct pool *pool, const struct pod *pod, uint32_t count);
// When the first pod of the project in the pool ends by a time limit; SNAPSHOT_TIME_NONE: none has one.
int64_t vacancy_first_end_ms(struct cycle *cycle, const struct pool *pool, uint32_t project);
