// What budgets say, for requests and questions.
#include "reconciler/state.h"

bool reconciler_read_budget(struct reconciler *reconciler, int64_t project_id, struct arena *arena,
                            struct budget_state *out_state)
{
    return budgets_read(&reconciler->budgets, project_id, reconciler_now(reconciler), arena, out_state);
}

const char *reconciler_over_budget(struct reconciler *reconciler, int64_t project_id, const char *person,
                                   struct arena *arena, int64_t *out_until_ms, bool *out_refuses)
{
    return budgets_clause(&reconciler->budgets, project_id, person, arena, out_until_ms, out_refuses);
}
