// What budgets say, for requests, questions and metrics.
#include "base/buffer.h"
#include "base/prometheus.h"
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

static void write_row(struct buffer *out, const char *name, const char *project, int64_t amount, int64_t unit)
{
    buffer_printf(out, "%s{", name);
    prometheus_label(out, "project", project);
    buffer_text(out, "} ");
    prometheus_amount(out, amount, unit);
    buffer_text(out, "\n");
}

#define BUDGETED "prorata_project_budget_gpu_hours"
#define USED "prorata_project_used_gpu_hours"

static void write_budgeted(void *context, const char *project, const struct budget_use *use)
{
    if (use->hours_milli != BUDGET_NONE)
        write_row(context, BUDGETED, project, use->hours_milli, 1000);
}

static void write_used(void *context, const char *project, const struct budget_use *use)
{
    write_row(context, USED, project, use->used_milli_ms / 3600000, 1000);
}

void reconciler_write_budgets(struct reconciler *reconciler, struct buffer *out)
{
    prometheus_head(out, BUDGETED, "gauge", "GPU hours that a project may use in the present period.");
    budgets_each(&reconciler->budgets, reconciler_now(reconciler), write_budgeted, out);
    prometheus_head(out, USED, "gauge", "GPU hours that a project with a budget has used in the present period.");
    budgets_each(&reconciler->budgets, reconciler_now(reconciler), write_used, out);
}
