#include "reconciler/world/budgets.h"

#include "base/error.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/events/org_events.h"
#include "db/usage_days.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOTICE_PERCENT = 80
};
// A thousandth of an hour, in thousandths of a device times milliseconds.
static const int64_t HOUR_MILLI = INT64_C(3600000);

enum spending {
    SPENDING_FREE,
    SPENDING_NOTICED, // most is used
    SPENDING_OVER
};

struct use {
    char *person;       // "": of the whole project
    int64_t milli_ms;   // thousandths of a device times milliseconds, until the project's advanced_ms
    int64_t held_milli; // since then
    enum spending spending;
};

struct budget_project {
    int64_t id, department_id;
    char *name;
    char *spent, *person_spent; // clauses: its budget, or one of its people's, is used up
    struct budget terms;
    int64_t start_ms, end_ms; // of the period
    int64_t advanced_ms;
    bool is_new;      // what it has used is to be read
    struct use *uses; // by person, so the whole project's is the first
    size_t count, capacity;
};

void budgets_init(struct budgets *budgets)
{
    *budgets = (struct budgets){0};
    pthread_mutex_init(&budgets->lock, NULL);
}

static void done_project(struct budget_project *project)
{
    for (size_t i = 0; i < project->count; i++)
        free(project->uses[i].person);
    free(project->uses);
    free(project->name);
    free(project->spent);
    free(project->person_spent);
}

static void drop(struct budgets *budgets)
{
    for (size_t i = 0; i < budgets->count; i++)
        done_project(&budgets->projects[i]);
    free(budgets->projects);
    id_map_done(&budgets->by_id);
    budgets->projects = NULL;
    budgets->count = 0;
    budgets->world = 0;
}

void budgets_done(struct budgets *budgets)
{
    drop(budgets);
    pthread_mutex_destroy(&budgets->lock);
}

void budgets_forget(struct budgets *budgets)
{
    pthread_mutex_lock(&budgets->lock);
    drop(budgets);
    pthread_mutex_unlock(&budgets->lock);
}

static struct budget_project *find_project(const struct budgets *budgets, int64_t id)
{
    return id_map_find(&budgets->by_id, id);
}

// Where the person's use is, or would be.
static size_t place_of(const struct budget_project *project, const char *person)
{
    size_t low = 0, high = project->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(project->uses[middle].person, person) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct use *find_use(const struct budget_project *project, const char *person)
{
    size_t place = place_of(project, person);
    bool is_there = place < project->count && strcmp(project->uses[place].person, person) == 0;
    return is_there ? &project->uses[place] : NULL;
}

static struct use *use_of(struct budget_project *project, const char *person)
{
    size_t place = place_of(project, person);
    struct use *use = project->uses + place;
    if (place < project->count && strcmp(use->person, person) == 0)
        return use;
    if (project->count == project->capacity) {
        project->capacity = project->capacity ? project->capacity * 2 : 8;
        project->uses = memory_realloc(project->uses, project->capacity * sizeof(*project->uses));
        use = project->uses + place;
    }
    memmove(use + 1, use, (project->count++ - place) * sizeof(*use));
    *use = (struct use){.person = memory_strdup(person)};
    return use;
}

// Thousandths of GPU hours; BUDGET_NONE.
static int64_t limit_of(const struct budget_project *project, const struct use *use)
{
    return use->person[0] ? project->terms.person_hours_milli : project->terms.hours_milli;
}

static enum spending spending_of(const struct budget_project *project, const struct use *use)
{
    int64_t limit = limit_of(project, use);
    if (limit == BUDGET_NONE || use->milli_ms < limit * HOUR_MILLI / 100 * NOTICE_PERCENT)
        return SPENDING_FREE;
    return use->milli_ms < limit * HOUR_MILLI ? SPENDING_NOTICED : SPENDING_OVER;
}

static void add_use(struct budget_project *project, const char *person, int64_t milli_ms)
{
    struct use *whole = use_of(project, "");
    whole->milli_ms = quantity_add(whole->milli_ms, milli_ms);
    if (!person[0])
        return;
    struct use *use = use_of(project, person);
    use->milli_ms = quantity_add(use->milli_ms, milli_ms);
}

static void load_held(void *context, int64_t project_id, const char *person, double gpus, int64_t from_ms,
                      int64_t to_ms)
{
    struct budget_project *project = find_project(context, project_id);
    if (!project || !project->is_new)
        return;
    if (from_ms < project->start_ms)
        from_ms = project->start_ms;
    if (to_ms > from_ms)
        add_use(project, person, llround(gpus * 1000 * (double)(to_ms - from_ms)));
}

// What new ones have used in their periods: of all in one go, which reads every allocation.
static int load_new(struct budgets *budgets, struct db *db, int64_t now_ms, struct error *err)
{
    int64_t since_ms = INT64_MAX;
    for (size_t i = 0; i < budgets->count; i++)
        if (budgets->projects[i].is_new && budgets->projects[i].start_ms < since_ms)
            since_ms = budgets->projects[i].start_ms;
    if (since_ms == INT64_MAX)
        return 0;
    struct db_conn *conn = db_acquire_for_reconciler(db);
    int rc = db_read_held_by_people(conn, 0, since_ms, now_ms, load_held, budgets, err);
    db_give_back(db, conn);
    for (size_t i = 0; i < budgets->count; i++)
        budgets->projects[i].is_new = false;
    return rc;
}

static bool is_same(const struct budget *a, const struct budget *b)
{
    return a->hours_milli == b->hours_milli && a->person_hours_milli == b->person_hours_milli &&
           a->period == b->period && a->refuses == b->refuses;
}

// Whether what is known of it still holds.
static bool is_present(const struct budget_project *old, const struct project_row *row, int64_t now_ms)
{
    return old && is_same(&old->terms, &row->budget) && strcmp(old->name, row->name) == 0 &&
           old->department_id == row->department_id && now_ms >= old->start_ms && now_ms < old->end_ms &&
           now_ms >= old->advanced_ms;
}

static bool has_period_ended(const struct budgets *budgets, int64_t now_ms)
{
    for (size_t i = 0; i < budgets->count; i++)
        if (now_ms >= budgets->projects[i].end_ms || now_ms < budgets->projects[i].advanced_ms)
            return true;
    return false;
}

// "budget of 100 GPU hours for November 2026"
static const char *name_budget(const struct budget_project *project, int64_t limit, struct arena *arena)
{
    char hours[QUANTITY_TEXT_SIZE], period[BUDGET_WORDS_SIZE];
    quantity_format_milli(limit, hours);
    budget_period_words(project->terms.period, project->start_ms, period);
    return arena_printf(arena, "budget of %s GPU hour%s for %s", hours, limit == 1000 ? "" : "s", period);
}

static void make_clauses(struct budget_project *project)
{
    struct arena arena;
    arena_init(&arena);
    project->spent = memory_strdup(arena_printf(&arena, "Project %s has used up its %s", project->name,
                                                name_budget(project, project->terms.hours_milli, &arena)));
    project->person_spent =
        memory_strdup(arena_printf(&arena, "Its submitter has used up the %s that each person of project %s has",
                                   name_budget(project, project->terms.person_hours_milli, &arena), project->name));
    arena_done(&arena);
}

static struct budget_project new_project(const struct project_row *row, int64_t now_ms)
{
    struct budget_project project = {.id = row->id,
                                     .department_id = row->department_id,
                                     .name = memory_strdup(row->name),
                                     .terms = row->budget,
                                     .is_new = true,
                                     .advanced_ms = now_ms};
    budget_period_around(row->budget.period, now_ms, &project.start_ms, &project.end_ms);
    make_clauses(&project);
    use_of(&project, "");
    return project;
}

static int take_settings(struct budgets *budgets, const struct world *world, struct db *db, int64_t now_ms,
                         struct error *err)
{
    struct budget_project *projects = memory_array(world->rows.project_count + 1, sizeof(*projects));
    size_t count = 0;
    for (size_t i = 0; i < world->rows.project_count; i++) {
        const struct project_row *row = &world->rows.projects[i];
        struct budget_project *old = find_project(budgets, row->id);
        if (row->budget.hours_milli == BUDGET_NONE && row->budget.person_hours_milli == BUDGET_NONE)
            continue;
        if (is_present(old, row, now_ms)) {
            projects[count++] = *old;
            *old = (struct budget_project){0};
        } else {
            projects[count++] = new_project(row, now_ms);
        }
    }
    drop(budgets);
    budgets->projects = projects;
    budgets->count = count;
    budgets->world = world->number;
    for (size_t i = 0; i < count; i++)
        id_map_put(&budgets->by_id, projects[i].id, &projects[i]);
    int rc = load_new(budgets, db, now_ms, err);
    if (rc < 0)
        drop(budgets); // the next turn reads it again
    return rc;
}

static void count_held(struct budgets *budgets, const struct cache *cache)
{
    size_t position = 0;
    for (size_t i = 0; i < budgets->count; i++)
        for (size_t k = 0; k < budgets->projects[i].count; k++)
            budgets->projects[i].uses[k].held_milli = 0;
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        int64_t milli = cache_gpus_held(pod);
        struct budget_project *project = milli > 0 ? find_project(budgets, pod->workload->project_id) : NULL;
        if (!project)
            continue;
        use_of(project, "")->held_milli += milli;
        if (pod->workload->created_by[0])
            use_of(project, pod->workload->created_by)->held_milli += milli;
    }
}

static int64_t used_by(const struct budget_project *project, const struct use *use, int64_t now_ms)
{
    return quantity_add(use->milli_ms, use->held_milli * (now_ms - project->advanced_ms));
}

static void advance(struct budget_project *project, int64_t now_ms)
{
    if (now_ms <= project->advanced_ms)
        return;
    for (size_t i = 0; i < project->count; i++)
        project->uses[i].milli_ms = used_by(project, &project->uses[i], now_ms);
    project->advanced_ms = now_ms;
}

static void tell(struct budget_notices *notices, const struct budget_project *project, const struct use *use,
                 struct arena *arena)
{
    bool is_over = use->spending == SPENDING_OVER;
    const char *who = use->person[0] ? use->person : arena_printf(arena, "Project %s", project->name);
    const char *where = use->person[0] ? arena_printf(arena, " in project %s", project->name) : "";
    const char *much = is_over ? "up" : arena_printf(arena, "%d %% of", NOTICE_PERCENT);
    notices->items = arena_grow(arena, notices->items, &notices->capacity, notices->count + 1, sizeof(*notices->items));
    notices->items[notices->count++] = (struct project_notice){
        .department_id = project->department_id,
        .project_id = project->id,
        .project_name = arena_strdup(arena, project->name),
        .reason = is_over ? "BudgetUsedUp" : "BudgetWarning",
        .message = arena_printf(arena, "%s has used %s %s %s%s", who, much, use->person[0] ? "the" : "its",
                                name_budget(project, limit_of(project, use), arena), where),
        .since_ms = project->start_ms,
    };
}

static bool look_at(const struct budget_project *project, struct use *use, struct arena *arena,
                    struct budget_notices *notices)
{
    enum spending before = use->spending;
    use->spending = spending_of(project, use);
    if (use->spending > before)
        tell(notices, project, use, arena);
    return (use->spending == SPENDING_OVER) != (before == SPENDING_OVER);
}

// Settings and periods that are others than those known here.
static int renew(struct budgets *budgets, const struct cache *cache, struct db *db, int64_t now_ms, bool *out_changed,
                 struct error *err)
{
    if (budgets->world == cache->world->number && !has_period_ended(budgets, now_ms))
        return 0;
    for (size_t i = 0; i < budgets->count; i++) // by what was held until now
        advance(&budgets->projects[i], now_ms);
    if (take_settings(budgets, cache->world, db, now_ms, err) < 0)
        return -1;
    count_held(budgets, cache);
    *out_changed = true;
    return 0;
}

int budgets_refresh(struct budgets *budgets, const struct cache *cache, struct db *db, int64_t now_ms,
                    struct arena *arena, bool *out_changed, struct budget_notices *out_notices, struct error *err)
{
    pthread_mutex_lock(&budgets->lock);
    int rc = renew(budgets, cache, db, now_ms, out_changed, err);
    for (size_t i = 0; i < budgets->count && rc == 0; i++) {
        struct budget_project *project = &budgets->projects[i];
        advance(project, now_ms);
        for (size_t k = 0; k < project->count; k++)
            *out_changed |= look_at(project, &project->uses[k], arena, out_notices);
    }
    pthread_mutex_unlock(&budgets->lock);
    return rc;
}

void budgets_hold(struct budgets *budgets, const struct cache *cache, int64_t now_ms)
{
    pthread_mutex_lock(&budgets->lock);
    for (size_t i = 0; i < budgets->count; i++)
        advance(&budgets->projects[i], now_ms);
    if (budgets->count > 0)
        count_held(budgets, cache);
    pthread_mutex_unlock(&budgets->lock);
}

// When a use comes to so much of its budget; INT64_MAX: never as things stand.
static int64_t reaches_at(const struct budget_project *project, const struct use *use, int64_t milli_ms)
{
    if (use->held_milli <= 0)
        return INT64_MAX;
    int64_t left = milli_ms - use->milli_ms;
    return quantity_add(project->advanced_ms, left <= 0 ? 0 : (left + use->held_milli - 1) / use->held_milli);
}

static int64_t next_of(const struct budget_project *project, const struct use *use)
{
    int64_t limit = limit_of(project, use);
    if (limit == BUDGET_NONE || use->spending == SPENDING_OVER)
        return INT64_MAX;
    int64_t all = limit * HOUR_MILLI;
    return reaches_at(project, use, use->spending == SPENDING_FREE ? all / 100 * NOTICE_PERCENT : all);
}

int64_t budgets_due_ms(struct budgets *budgets)
{
    int64_t due_ms = INT64_MAX;
    pthread_mutex_lock(&budgets->lock);
    for (size_t i = 0; i < budgets->count; i++) {
        const struct budget_project *project = &budgets->projects[i];
        due_ms = project->end_ms < due_ms ? project->end_ms : due_ms;
        for (size_t k = 0; k < project->count; k++) {
            int64_t next_ms = next_of(project, &project->uses[k]);
            due_ms = next_ms < due_ms ? next_ms : due_ms;
        }
    }
    pthread_mutex_unlock(&budgets->lock);
    return due_ms;
}

// The whole project's counts before the person's. Who has used nothing has none of their own to have used up, but for
// one of nothing at all.
static const char *find_clause(const struct budget_project *project, const char *person)
{
    const struct use *own = find_use(project, person);
    if (project->uses[0].spending == SPENDING_OVER)
        return project->spent;
    bool is_over = own ? own->spending == SPENDING_OVER : project->terms.person_hours_milli == 0;
    return is_over && person[0] ? project->person_spent : NULL;
}

const char *budgets_clause(struct budgets *budgets, int64_t project_id, const char *person, struct arena *arena,
                           int64_t *out_until_ms, bool *out_refuses)
{
    pthread_mutex_lock(&budgets->lock);
    const struct budget_project *project = find_project(budgets, project_id);
    const char *clause = project ? arena_strdup(arena, find_clause(project, person)) : NULL;
    *out_until_ms = clause ? project->end_ms : 0;
    if (out_refuses)
        *out_refuses = clause && project->terms.refuses;
    pthread_mutex_unlock(&budgets->lock);
    return clause;
}

static void read_use(const struct budget_project *project, const struct use *use, int64_t now_ms,
                     struct budget_use *out)
{
    int64_t limit = limit_of(project, use), at_ms = now_ms > project->advanced_ms ? now_ms : project->advanced_ms;
    *out = (struct budget_use){.used_milli_ms = used_by(project, use, at_ms),
                               .held_milli = use->held_milli,
                               .hours_milli = limit,
                               .is_over = use->spending == SPENDING_OVER,
                               .used_up_ms = INT64_MAX};
    if (limit == BUDGET_NONE || out->is_over)
        return;
    int64_t used_up_ms = reaches_at(project, use, limit * HOUR_MILLI);
    if (used_up_ms < project->end_ms) // else the next period begins before
        out->used_up_ms = used_up_ms;
}

bool budgets_read(struct budgets *budgets, int64_t project_id, int64_t now_ms, struct arena *arena,
                  struct budget_state *out_state)
{
    pthread_mutex_lock(&budgets->lock);
    const struct budget_project *project = find_project(budgets, project_id);
    if (project) {
        *out_state =
            (struct budget_state){.terms = project->terms, .start_ms = project->start_ms, .end_ms = project->end_ms};
        read_use(project, &project->uses[0], now_ms, &out_state->whole);
        out_state->people = arena_array(arena, project->count, sizeof(*out_state->people));
        for (size_t i = 1; i < project->count; i++) {
            struct budget_use *person = &out_state->people[out_state->people_count++];
            read_use(project, &project->uses[i], now_ms, person);
            person->name = arena_strdup(arena, project->uses[i].person);
        }
    }
    pthread_mutex_unlock(&budgets->lock);
    return project != NULL;
}

void budgets_each(struct budgets *budgets, int64_t now_ms, budget_fn fn, void *context)
{
    pthread_mutex_lock(&budgets->lock);
    for (size_t i = 0; i < budgets->count; i++) {
        const struct budget_project *project = &budgets->projects[i];
        struct budget_use use;
        read_use(project, &project->uses[0], now_ms, &use);
        fn(context, project->name, &use);
    }
    pthread_mutex_unlock(&budgets->lock);
}
