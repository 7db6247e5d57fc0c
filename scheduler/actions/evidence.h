// Evidence: after a search for victims that found nothing, who holds what in the pool and why it is not taken.
//
// Asked of the functions that chose the candidates, in the state in which they chose; kept for the workloads that
// follow and ask for the same while nothing changes. docs/scheduler.md, 11.2.
#pragma once
#include "scheduler/victims/search_state.h"

struct evidence {
    const struct plan_evidence *items; // largest first, at most PLAN_EVIDENCE_MAXIMUM
    size_t count;
    uint32_t more;
    int64_t first_end_ms; // when the first protection of those ends; SNAPSHOT_TIME_NONE
};

// Reclaim: every project but the workload's own that holds something of the resource.
struct evidence evidence_of_reclaim(struct search *search, struct amounts requested);
// Preemption: the workload's own project.
struct evidence evidence_of_preemption(struct search *search, struct amounts requested);

// Puts it into the explanation.
void evidence_attach(struct plan_explanation *explanation, const struct evidence *evidence);
