#include "reconciler/world/people_usage.h"

#include "base/error.h"
#include "db/db.h"
#include "db/usage_days.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFRESH_MS = 60 * 1000,
    HALF_LIVES = 10 // what is older counts less than a thousandth
};
#define HOUR_MS 3600000.0
#define FORGOTTEN_GPU_HOURS 0.0005 // rounds to nothing

struct fair_project {
    int64_t id;
    int64_t half_life_ms;
    int64_t advanced_ms; // its people's uses are added up until then
};

struct person_use {
    int64_t project_id;
    char *name;
    double gpu_hours;
    double held_gpus; // since then
    int64_t shown_milli;
};

void people_usage_done(struct people_usage *usage)
{
    for (size_t i = 0; i < usage->count; i++)
        free(usage->people[i].name);
    free(usage->people);
    free(usage->projects);
    *usage = (struct people_usage){0};
}

double half_life_weight(int64_t half_life_ms, int64_t now_ms, int64_t from_ms, int64_t to_ms)
{
    double half_life = (double)half_life_ms;
    double young = exp2(-(double)(now_ms - to_ms) / half_life), old = exp2(-(double)(now_ms - from_ms) / half_life);
    return (young - old) * half_life / (M_LN2 * (double)(to_ms - from_ms));
}

double people_usage_of(double amount, int64_t from_ms, int64_t to_ms, int64_t now_ms, int64_t half_life_ms)
{
    if (to_ms <= from_ms)
        return 0;
    return amount * half_life_weight(half_life_ms, now_ms, from_ms, to_ms) * (double)(to_ms - from_ms) / HOUR_MS;
}

// Where it is, or would be.
static size_t place_of(const struct people_usage *usage, int64_t project_id, const char *name)
{
    size_t low = 0, high = usage->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct person_use *use = &usage->people[middle];
        if (use->project_id < project_id || (use->project_id == project_id && strcmp(use->name, name) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct person_use *use_of(struct people_usage *usage, int64_t project_id, const char *name)
{
    size_t place = place_of(usage, project_id, name);
    struct person_use *use = usage->people + place;
    if (place < usage->count && use->project_id == project_id && strcmp(use->name, name) == 0)
        return use;
    if (usage->count == usage->capacity) {
        usage->capacity = usage->capacity ? usage->capacity * 2 : 16;
        usage->people = memory_realloc(usage->people, usage->capacity * sizeof(*usage->people));
        use = usage->people + place;
    }
    memmove(use + 1, use, (usage->count++ - place) * sizeof(*use));
    *use = (struct person_use){.project_id = project_id, .name = memory_strdup(name)};
    return use;
}

static struct fair_project *find_project(const struct people_usage *usage, int64_t id)
{
    for (size_t i = 0; i < usage->project_count; i++)
        if (usage->projects[i].id == id)
            return &usage->projects[i];
    return NULL;
}

static void advance(struct people_usage *usage, struct fair_project *project, int64_t now_ms)
{
    if (now_ms <= project->advanced_ms)
        return;
    double left = exp2(-(double)(now_ms - project->advanced_ms) / (double)project->half_life_ms);
    for (size_t i = place_of(usage, project->id, ""); i < usage->count && usage->people[i].project_id == project->id;
         i++) {
        struct person_use *use = &usage->people[i];
        use->gpu_hours = use->gpu_hours * left +
                         people_usage_of(use->held_gpus, project->advanced_ms, now_ms, now_ms, project->half_life_ms);
    }
    project->advanced_ms = now_ms;
}

struct loading {
    struct people_usage *usage;
    const struct fair_project *project;
};

static void load_held(void *context, int64_t project_id, const char *person, double gpus, int64_t from_ms,
                      int64_t to_ms)
{
    const struct loading *loading = context;
    const struct fair_project *project = loading->project;
    if (!person[0])
        return;
    use_of(loading->usage, project_id, person)->gpu_hours +=
        people_usage_of(gpus, from_ms, to_ms, project->advanced_ms, project->half_life_ms);
}

static int load_project(struct people_usage *usage, const struct fair_project *project, struct db *db,
                        struct error *err)
{
    struct loading loading = {usage, project};
    struct db_conn *conn = db_acquire_for_reconciler(db);
    int rc = db_read_held_by_people(conn, project->id, project->advanced_ms - HALF_LIVES * project->half_life_ms,
                                    project->advanced_ms, load_held, &loading, err);
    db_give_back(db, conn);
    return rc;
}

// Takes over what is known of a project whose half-life is the same.
static void keep_people(struct people_usage *to, const struct people_usage *from, int64_t project_id)
{
    for (size_t i = place_of(from, project_id, ""); i < from->count && from->people[i].project_id == project_id; i++) {
        const struct person_use *old = &from->people[i];
        struct person_use *use = use_of(to, project_id, old->name);
        use->gpu_hours = old->gpu_hours;
        use->held_gpus = old->held_gpus;
        use->shown_milli = old->shown_milli;
    }
}

static int take_settings(struct people_usage *usage, const struct world *world, struct db *db, int64_t now_ms,
                         struct error *err)
{
    struct people_usage kept = {.world = world->number};
    int rc = 0;
    kept.projects = memory_array(world->rows.project_count + 1, sizeof(*kept.projects));
    for (size_t i = 0; i < world->rows.project_count && rc == 0; i++) {
        const struct project_row *row = &world->rows.projects[i];
        const struct fair_project *old = find_project(usage, row->id);
        if (!row->is_fair_among_people)
            continue;
        struct fair_project *project = &kept.projects[kept.project_count++];
        *project = (struct fair_project){row->id, row->person_half_life_ms, now_ms};
        if (old && old->half_life_ms == project->half_life_ms) {
            *project = *old;
            keep_people(&kept, usage, row->id);
        } else {
            rc = load_project(&kept, project, db, err);
        }
    }
    people_usage_done(usage);
    *usage = kept;
    if (rc < 0)
        people_usage_done(usage); // the next turn reads it again
    return rc;
}

// Who holds nothing and has used nothing that is left to see.
static bool is_forgotten(const struct person_use *use)
{
    return use->held_gpus <= 0 && use->gpu_hours < FORGOTTEN_GPU_HOURS;
}

int people_usage_refresh(struct people_usage *usage, const struct world *world, struct db *db, int64_t now_ms,
                         bool *out_changed, struct error *err)
{
    if (usage->world != world->number && take_settings(usage, world, db, now_ms, err) < 0)
        return -1;
    if (usage->project_count == 0 ||
        (usage->refreshed_ms && now_ms < people_usage_due_ms(usage) && now_ms >= usage->refreshed_ms))
        return 0;
    for (size_t i = 0; i < usage->project_count; i++)
        advance(usage, &usage->projects[i], now_ms);
    size_t left = 0;
    for (size_t i = 0; i < usage->count; i++) {
        struct person_use *use = &usage->people[i];
        int64_t milli = llround(use->gpu_hours * 1000);
        *out_changed |= milli != use->shown_milli;
        use->shown_milli = milli;
        if (is_forgotten(use))
            free(use->name);
        else
            usage->people[left++] = *use;
    }
    usage->count = left;
    usage->refreshed_ms = now_ms;
    return 0;
}

int64_t people_usage_due_ms(const struct people_usage *usage)
{
    return usage->project_count ? usage->refreshed_ms + REFRESH_MS : INT64_MAX;
}

void people_usage_hold(struct people_usage *usage, const struct cache *cache, int64_t now_ms)
{
    size_t position = 0;
    if (usage->project_count == 0)
        return;
    for (size_t i = 0; i < usage->project_count; i++)
        advance(usage, &usage->projects[i], now_ms);
    for (size_t i = 0; i < usage->count; i++)
        usage->people[i].held_gpus = 0;
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        const struct cache_workload *workload = pod->workload;
        int64_t milli = cache_gpus_held(pod);
        if (milli == 0 || !workload->created_by[0])
            continue;
        uint32_t project = world_project(cache->world, workload->project_id);
        if (project != SNAPSHOT_NONE && cache->world->rows.projects[project].is_fair_among_people)
            use_of(usage, workload->project_id, workload->created_by)->held_gpus += (double)milli / 1000;
    }
}

void people_usage_apply(const struct people_usage *usage, const struct world *world, struct snapshot *snapshot,
                        struct arena *arena)
{
    if (usage->count == 0)
        return;
    struct snapshot_project *projects = arena_array(arena, snapshot->project_count, sizeof(*projects));
    struct snapshot_person *people = arena_array(arena, usage->count, sizeof(*people));
    for (size_t i = 0; i < snapshot->project_count; i++) {
        int64_t id = world->rows.projects[i].id;
        struct snapshot_project *project = &projects[i];
        *project = snapshot->projects[i];
        project->people = people;
        for (size_t k = place_of(usage, id, ""); k < usage->count && usage->people[k].project_id == id; k++)
            if (usage->people[k].shown_milli > 0)
                people[project->person_count++] =
                    (struct snapshot_person){arena_strdup(arena, usage->people[k].name), usage->people[k].shown_milli};
        people += project->person_count;
    }
    snapshot->projects = projects;
}
