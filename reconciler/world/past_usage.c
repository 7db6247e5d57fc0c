#include "reconciler/world/past_usage.h"

#include "base/error.h"
#include "db/db.h"
#include "db/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFRESH_MS = 60 * 1000,
    BUCKETS = 512,      // of a window
    RING = BUCKETS + 2, // one that is filling, one that is leaving
    BUCKET_MS_MINIMUM = 1000,
    CAPACITY = 0 // the id under which a pool's capacity goes: no owner has it
};
#define USAGE_MAXIMUM INT64_C(1000000000000) // millionths

// An owner's allocation, or the pool's capacity: amount times milliseconds, bucket by bucket.
struct track {
    int64_t id;
    int64_t last; // the newest bucket's number
    double sums[RING][RESOURCE_COUNT];
    double held[RESOURCE_COUNT]; // since the pool's advanced_ms
    struct amounts usage_micro;
};

struct usage_pool {
    int64_t id;
    struct usage_window window;
    int64_t bucket_ms, per_window;
    int64_t advanced_ms; // all tracks are added up until then
    struct id_map tracks;
};

void past_usage_init(struct past_usage *usage)
{
    *usage = (struct past_usage){0};
}

static void done_pool(struct usage_pool *pool)
{
    size_t position = 0;
    for (void *track; (track = id_map_next(&pool->tracks, &position));)
        free(track);
    id_map_done(&pool->tracks);
}

static void drop_pools(struct past_usage *usage)
{
    for (size_t i = 0; i < usage->pool_count; i++)
        done_pool(&usage->pools[i]);
    free(usage->pools);
    *usage = (struct past_usage){.people = usage->people};
}

void past_usage_done(struct past_usage *usage)
{
    drop_pools(usage);
    people_usage_done(&usage->people);
    past_usage_init(usage);
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

// Buckets are numbered from the window's start on, per_window in each, the last of which may be shorter: so that a
// tumbling window begins with a bucket.
static int64_t bucket_of(const struct usage_pool *pool, int64_t time_ms)
{
    int64_t since = time_ms - pool->window.start_ms, window = divide_down(since, pool->window.duration_ms);
    return window * pool->per_window + (since - window * pool->window.duration_ms) / pool->bucket_ms;
}

static int64_t bucket_start(const struct usage_pool *pool, int64_t bucket)
{
    int64_t window = divide_down(bucket, pool->per_window);
    return pool->window.start_ms + window * pool->window.duration_ms +
           (bucket - window * pool->per_window) * pool->bucket_ms;
}

static double *sums_of(struct track *track, int64_t bucket)
{
    int64_t slot = bucket % RING;
    return track->sums[slot < 0 ? slot + RING : slot];
}

static struct track *track_of(struct usage_pool *pool, int64_t id)
{
    // Departments' and projects' ids are of one row of numbers; 0 is neither's, and no key of the map.
    struct track *track = id_map_find(&pool->tracks, id + 1);
    if (track)
        return track;
    track = memory_array(1, sizeof(*track));
    track->id = id;
    track->last = INT64_MIN;
    id_map_put(&pool->tracks, id + 1, track);
    return track;
}

static void open_bucket(struct track *track, int64_t bucket)
{
    if (track->last == INT64_MIN || bucket - track->last >= RING) {
        memset(track->sums, 0, sizeof(track->sums));
        track->last = bucket;
    }
    while (track->last < bucket)
        memset(sums_of(track, ++track->last), 0, sizeof(track->sums[0]));
}

// Adds an amount that was held from one time to another; what is older than the window is left out.
static void add_time(struct usage_pool *pool, struct track *track, int resource, double amount, int64_t from_ms,
                     int64_t to_ms)
{
    int64_t oldest_ms = to_ms - pool->window.duration_ms;
    if (from_ms < oldest_ms)
        from_ms = oldest_ms;
    while (amount > 0 && from_ms < to_ms) {
        int64_t bucket = bucket_of(pool, from_ms), end_ms = bucket_start(pool, bucket + 1);
        if (end_ms > to_ms)
            end_ms = to_ms;
        open_bucket(track, bucket);
        if (track->last - bucket < RING)
            sums_of(track, bucket)[resource] += amount * (double)(end_ms - from_ms);
        from_ms = end_ms;
    }
}

static void advance(struct usage_pool *pool, int64_t now_ms)
{
    size_t position = 0;
    if (now_ms <= pool->advanced_ms)
        return;
    for (struct track *track; (track = id_map_next(&pool->tracks, &position));)
        for (int resource = 0; resource < RESOURCE_COUNT; resource++)
            add_time(pool, track, resource, track->held[resource], pool->advanced_ms, now_ms);
    pool->advanced_ms = now_ms;
}

// A recorded series: what was held from one row to the next.
struct loading {
    struct usage_pool *pool;
    struct track *track;
    int resource;
    double unit; // of the snapshot's, in one of the series'
    double value;
    int64_t since_ms;
};

static void load_step(void *context, int64_t time_ms, double value)
{
    struct loading *loading = context;
    add_time(loading->pool, loading->track, loading->resource, loading->value, loading->since_ms, time_ms);
    loading->value = value * loading->unit;
    loading->since_ms = time_ms;
}

struct recorded {
    const char *allocation, *capacity;
    double unit;
};

static const struct recorded RECORDED[RESOURCE_COUNT] = {
    [RESOURCE_GPU] = {"GPU_ALLOCATION", "TOTAL_GPU", 1000},
    [RESOURCE_CPU] = {"CPU_ALLOCATION_MILLICORES", "CPU_CAPACITY_MILLICORES", 1},
    [RESOURCE_MEMORY] = {"CPU_MEMORY_ALLOCATION_MB", "CPU_MEMORY_CAPACITY_MB", 1000000},
};

static int load_track(struct usage_pool *pool, struct db_conn *conn, const char *scope, int64_t id, int64_t now_ms,
                      struct error *err)
{
    bool is_capacity = id == CAPACITY;
    for (int resource = 0; resource < RESOURCE_COUNT; resource++) {
        const struct recorded *recorded = &RECORDED[resource];
        struct series series = {scope, is_capacity ? pool->id : id, is_capacity ? 0 : pool->id,
                                is_capacity ? recorded->capacity : recorded->allocation};
        struct loading loading = {.pool = pool,
                                  .track = track_of(pool, id),
                                  .resource = resource,
                                  .unit = recorded->unit,
                                  .since_ms = now_ms};
        if (db_read_steps(conn, &series, now_ms - pool->window.duration_ms, now_ms, load_step, &loading, err) < 0)
            return -1;
        add_time(pool, loading.track, resource, loading.value, loading.since_ms, now_ms);
        loading.track->held[resource] = loading.value;
    }
    return 0;
}

static int load_pool(struct usage_pool *pool, const struct world *world, struct db *db, int64_t now_ms,
                     struct error *err)
{
    struct db_conn *conn = db_acquire_for_reconciler(db);
    pool->advanced_ms = now_ms;
    int rc = load_track(pool, conn, "nodepool", CAPACITY, now_ms, err);
    for (size_t i = 0; rc == 0 && i < world->rows.project_count; i++)
        rc = load_track(pool, conn, "project", world->rows.projects[i].id, now_ms, err);
    for (size_t i = 0; rc == 0 && i < world->rows.department_count; i++)
        rc = load_track(pool, conn, "department", world->rows.departments[i].id, now_ms, err);
    db_give_back(db, conn);
    return rc;
}

static bool is_same_window(const struct usage_window *a, const struct usage_window *b)
{
    return a->half_life_ms == b->half_life_ms && a->duration_ms == b->duration_ms && a->is_tumbling == b->is_tumbling &&
           a->start_ms == b->start_ms;
}

static struct usage_pool *find_pool(const struct past_usage *usage, int64_t id)
{
    for (size_t i = 0; i < usage->pool_count; i++)
        if (usage->pools[i].id == id)
            return &usage->pools[i];
    return NULL;
}

// Keeps the pools whose window is the same, drops the others, and reads what is new.
static int take_settings(struct past_usage *usage, const struct world *world, struct db *db, int64_t now_ms,
                         struct error *err)
{
    struct past_usage kept = {.refreshed_ms = 0, .world = world->number, .people = usage->people};
    int rc = 0;
    kept.pools = memory_array(world->rows.pool_count + 1, sizeof(*kept.pools));
    for (size_t i = 0; i < world->rows.pool_count && rc == 0; i++) {
        const struct usage_window *window = &world->windows[i];
        struct usage_pool *old = find_pool(usage, world->rows.pools[i].id);
        if (!window->is_enabled)
            continue;
        struct usage_pool *pool = &kept.pools[kept.pool_count++];
        if (old && is_same_window(&old->window, window)) {
            *pool = *old;
            old->tracks = (struct id_map){0};
            continue;
        }
        int64_t bucket_ms = (window->duration_ms + BUCKETS - 1) / BUCKETS;
        *pool = (struct usage_pool){.id = world->rows.pools[i].id,
                                    .window = *window,
                                    .bucket_ms = bucket_ms > BUCKET_MS_MINIMUM ? bucket_ms : BUCKET_MS_MINIMUM};
        pool->per_window = (window->duration_ms + pool->bucket_ms - 1) / pool->bucket_ms;
        rc = load_pool(pool, world, db, now_ms, err);
    }
    drop_pools(usage);
    *usage = kept;
    if (rc < 0)
        drop_pools(usage); // the next turn reads it again
    return rc;
}

static int64_t window_start(const struct usage_window *window, int64_t now_ms)
{
    if (!window->is_tumbling)
        return now_ms - window->duration_ms;
    int64_t into = (now_ms - window->start_ms) % window->duration_ms;
    return now_ms - (into < 0 ? into + window->duration_ms : into);
}

static double weight_of(const struct usage_window *window, int64_t now_ms, int64_t from_ms, int64_t to_ms)
{
    return window->half_life_ms > 0 ? half_life_weight(window->half_life_ms, now_ms, from_ms, to_ms) : 1;
}

struct bucket_weight {
    int64_t bucket;
    double weight; // of what is in the bucket
};

// The buckets of the window with their weights; the one at its beginning counts as far as it lies inside.
static size_t weigh_buckets(const struct usage_pool *pool, int64_t now_ms, struct bucket_weight weights[static RING])
{
    size_t count = 0;
    int64_t start_ms = window_start(&pool->window, now_ms);
    for (int64_t bucket = bucket_of(pool, now_ms - 1); count < RING; bucket--) {
        int64_t from_ms = bucket_start(pool, bucket), to_ms = bucket_start(pool, bucket + 1);
        if (to_ms > now_ms)
            to_ms = now_ms;
        if (to_ms <= start_ms || to_ms <= from_ms)
            break;
        int64_t inside_ms = from_ms > start_ms ? from_ms : start_ms;
        double part = (double)(to_ms - inside_ms) / (double)(to_ms - from_ms);
        weights[count++] = (struct bucket_weight){bucket, part * weight_of(&pool->window, now_ms, inside_ms, to_ms)};
    }
    return count;
}

static void sum_track(struct track *track, const struct bucket_weight *weights, size_t count,
                      double out_sums[static RESOURCE_COUNT])
{
    for (int resource = 0; resource < RESOURCE_COUNT; resource++)
        out_sums[resource] = 0;
    for (size_t i = 0; i < count && track->last != INT64_MIN; i++) {
        if (weights[i].bucket > track->last || track->last - weights[i].bucket >= RING)
            continue;
        const double *sums = sums_of(track, weights[i].bucket);
        for (int resource = 0; resource < RESOURCE_COUNT; resource++)
            out_sums[resource] += sums[resource] * weights[i].weight;
    }
}

// True where a figure changed.
static bool refresh_pool(struct usage_pool *pool, int64_t now_ms)
{
    struct bucket_weight *weights = memory_array(RING, sizeof(*weights));
    double capacity[RESOURCE_COUNT], used[RESOURCE_COUNT];
    size_t position = 0;
    bool has_changed = false;
    advance(pool, now_ms);
    size_t count = weigh_buckets(pool, now_ms, weights);
    sum_track(track_of(pool, CAPACITY), weights, count, capacity);
    for (struct track *track; (track = id_map_next(&pool->tracks, &position));) {
        struct amounts usage_micro = {{0}};
        if (track->id == CAPACITY)
            continue;
        sum_track(track, weights, count, used);
        for (int resource = 0; resource < RESOURCE_COUNT; resource++)
            if (capacity[resource] > 0)
                usage_micro.of[resource] =
                    llround(fmin(used[resource] / capacity[resource] * 1e6, (double)USAGE_MAXIMUM));
        has_changed |= memcmp(&track->usage_micro, &usage_micro, sizeof(usage_micro)) != 0;
        track->usage_micro = usage_micro;
    }
    free(weights);
    return has_changed;
}

int past_usage_refresh(struct past_usage *usage, const struct world *world, struct db *db, int64_t now_ms,
                       bool *out_changed, struct error *err)
{
    *out_changed = false;
    if (people_usage_refresh(&usage->people, world, db, now_ms, out_changed, err) < 0 ||
        (usage->world != world->number && take_settings(usage, world, db, now_ms, err) < 0))
        return -1;
    if (usage->pool_count == 0 ||
        (usage->refreshed_ms && now_ms < usage->refreshed_ms + REFRESH_MS && now_ms >= usage->refreshed_ms))
        return 0;
    for (size_t i = 0; i < usage->pool_count; i++)
        *out_changed |= refresh_pool(&usage->pools[i], now_ms);
    usage->refreshed_ms = now_ms;
    return 0;
}

int64_t past_usage_due_ms(const struct past_usage *usage)
{
    int64_t people_ms = people_usage_due_ms(&usage->people);
    int64_t pools_ms = usage->pool_count ? usage->refreshed_ms + REFRESH_MS : INT64_MAX;
    return people_ms < pools_ms ? people_ms : pools_ms;
}

static void hold(struct usage_pool *pool, int64_t id, const struct amounts *amounts)
{
    bool holds_any = amounts->of[RESOURCE_GPU] || amounts->of[RESOURCE_CPU] || amounts->of[RESOURCE_MEMORY];
    struct track *track = holds_any ? track_of(pool, id) : id_map_find(&pool->tracks, id + 1);
    for (int resource = 0; track && resource < RESOURCE_COUNT; resource++)
        track->held[resource] = (double)amounts->of[resource];
}

static struct amounts capacity_of(const struct world *world, uint32_t pool)
{
    struct amounts capacity = {{0}};
    for (size_t i = 0; i < world->rows.node_count; i++) {
        const struct snapshot_node *node = &world->nodes[i];
        if (node->node_pool != pool)
            continue;
        capacity.of[RESOURCE_GPU] += (int64_t)node->gpu_count * GPU_MILLI_PER_DEVICE;
        capacity.of[RESOURCE_CPU] += node->cpu_milli;
        capacity.of[RESOURCE_MEMORY] += node->memory_bytes;
    }
    return capacity;
}

void past_usage_hold(struct past_usage *usage, const struct world *world, const struct amounts *projects,
                     const struct amounts *departments, int64_t now_ms)
{
    size_t pool_count = world->rows.pool_count;
    for (size_t i = 0; i < usage->pool_count; i++) {
        struct usage_pool *pool = &usage->pools[i];
        uint32_t index = world_pool(world, pool->id);
        if (index == SNAPSHOT_NONE)
            continue;
        struct amounts capacity = capacity_of(world, index);
        advance(pool, now_ms);
        hold(pool, CAPACITY, &capacity);
        for (size_t k = 0; k < world->rows.project_count; k++)
            hold(pool, world->rows.projects[k].id, &projects[k * pool_count + index]);
        for (size_t k = 0; k < world->rows.department_count; k++)
            hold(pool, world->rows.departments[k].id, &departments[k * pool_count + index]);
    }
}

static void apply(const struct past_usage *usage, const struct world *world, struct snapshot_queue *queues,
                  int64_t owner)
{
    for (size_t i = 0; i < usage->pool_count; i++) {
        uint32_t index = world_pool(world, usage->pools[i].id);
        const struct track *track = id_map_find(&usage->pools[i].tracks, owner + 1);
        if (track && index != SNAPSHOT_NONE)
            queues[index].usage_micro = track->usage_micro;
    }
}

void past_usage_apply(const struct past_usage *usage, const struct world *world, struct snapshot *snapshot,
                      struct arena *arena)
{
    people_usage_apply(&usage->people, world, snapshot, arena);
    if (usage->pool_count == 0)
        return;
    size_t pools = snapshot->node_pool_count;
    struct snapshot_project *projects = arena_array(arena, snapshot->project_count, sizeof(*projects));
    struct snapshot_department *departments = arena_array(arena, snapshot->department_count, sizeof(*departments));
    struct snapshot_queue *queues =
        arena_array(arena, (snapshot->project_count + snapshot->department_count) * pools, sizeof(*queues));
    for (size_t i = 0; i < snapshot->project_count; i++, queues += pools) {
        projects[i] = snapshot->projects[i];
        memcpy(queues, projects[i].queues, pools * sizeof(*queues));
        apply(usage, world, queues, world->rows.projects[i].id);
        projects[i].queues = queues;
    }
    for (size_t i = 0; i < snapshot->department_count; i++, queues += pools) {
        departments[i] = snapshot->departments[i];
        memcpy(queues, departments[i].queues, pools * sizeof(*queues));
        apply(usage, world, queues, world->rows.departments[i].id);
        departments[i].queues = queues;
    }
    snapshot->projects = projects;
    snapshot->departments = departments;
}
