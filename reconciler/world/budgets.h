// What of their budgets of GPU hours projects and people have used in the present period (model/budget.h), to the
// millisecond as allocations have it: read once when a budget or a period begins, then added up as pods take and give
// back their GPUs. The thread changes it; questions and requests read it.
#pragma once
#include "model/budget.h"
#include "reconciler/world/cache.h"

#include <pthread.h>

struct db;
struct project_notice;
struct error;
struct budget_project;

struct budget_notices {
    struct project_notice *items; // db/events/org_events.h
    size_t count, capacity;
};

struct budgets {
    pthread_mutex_t lock;
    struct budget_project *projects; // those with a budget, in the world's order
    size_t count;
    struct id_map by_id;
    uint64_t world; // number of the world whose settings these are
};

void budgets_init(struct budgets *budgets);
void budgets_done(struct budgets *budgets);
// What was added up may not have been written: it is read again.
void budgets_forget(struct budgets *budgets);

// Takes budgets over from the world, begins periods, and adds up to now; *out_changed is set where one is used up that
// was not, or the other way round, and left as it is otherwise. Notices to be told are the arena's.
int budgets_refresh(struct budgets *budgets, const struct cache *cache, struct db *db, int64_t now_ms,
                    struct arena *arena, bool *out_changed, struct budget_notices *out_notices, struct error *err);
// What is held from now on.
void budgets_hold(struct budgets *budgets, const struct cache *cache, int64_t now_ms);
// When something is to be told, one will be used up, or a period ends; INT64_MAX: no project has a budget.
int64_t budgets_due_ms(struct budgets *budgets);

// The budget that is used up of who submits to the project, as a clause of the arena's, until when, and whether
// submissions are refused for it (may be NULL). NULL: none is used up.
const char *budgets_clause(struct budgets *budgets, int64_t project_id, const char *person, struct arena *arena,
                           int64_t *out_until_ms, bool *out_refuses);
// Calls fn with what each project with a budget has used, people left out, in the order of their names. fn may not
// block.
typedef void (*budget_fn)(void *context, const char *project, const struct budget_use *use);
void budgets_each(struct budgets *budgets, int64_t now_ms, budget_fn fn, void *context);
// False: the project has no budget, or the thread has not seen it yet. Texts are the arena's.
bool budgets_read(struct budgets *budgets, int64_t project_id, int64_t now_ms, struct arena *arena,
                  struct budget_state *out_state);
