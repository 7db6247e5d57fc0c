// The parts of a snapshot that are about the scheduler itself: actions, settings, node pools.
#include "base/arena.h"
#include "form/reader.h"

#include <string.h>

static int read_actions(struct reader *reader, const struct place *document, struct error *err)
{
    struct snapshot *snapshot = reader->snapshot;
    struct place list = place_member(document, "actions");
    if (!list.value)
        return 0;
    if (!json_is_array(list.value))
        return place_expected(&list, err, "a list");
    const char *words[ACTION_COUNT];
    for (size_t i = 0; i < ACTION_COUNT; i++)
        words[i] = scheduler_action_name((enum scheduler_action)i);
    bool seen[ACTION_COUNT] = {false};
    snapshot->action_count = 0;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct place item = place_item(&list, i);
        size_t action;
        if (read_word(&item, words, ACTION_COUNT, &action, err) < 0)
            return -1;
        if (seen[action])
            return place_error(&item, err, "duplicate action \"%s\"", words[action]);
        seen[action] = true;
        snapshot->actions[snapshot->action_count++] = (enum scheduler_action)action;
    }
    return 0;
}

// A bound; null: none.
static int read_bound(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    if (json_is_null(place->value)) {
        *(uint32_t *)target = SNAPSHOT_COUNT_UNLIMITED;
        return 0;
    }
    return read_count(reader, place, target, err);
}

static int read_steps(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    *(int64_t *)target = SNAPSHOT_STEPS_UNLIMITED;
    return json_is_null(place->value) ? 0 : read_whole(place, 1, SNAPSHOT_STEPS_UNLIMITED, target, err);
}

static int read_action(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    const char *words[ACTION_COUNT];
    size_t action;
    for (size_t i = 0; i < ACTION_COUNT; i++)
        words[i] = scheduler_action_name((enum scheduler_action)i);
    if (read_word(place, words, ACTION_COUNT, &action, err) < 0)
        return -1;
    *(enum scheduler_action *)target = (enum scheduler_action)action;
    return 0;
}

static int read_search_turn(struct reader *reader, const struct place *place, void *target, struct error *err)
{
#define TURN(key, member, read)                                                  \
    {                                                                            \
        key, read, offsetof(struct snapshot_search_turn, member), FIELD_REQUIRED \
    }
    static const struct field FIELDS[] = {
        TURN("action", action, read_action),
        TURN("nodePool", node_pool, read_name),
        TURN("preference", preference, read_count),
        {"next", read_name, offsetof(struct snapshot_search_turn, next), FIELD_NULL},
        {"first", read_name, offsetof(struct snapshot_search_turn, first), FIELD_NULL},
        TURN("thorough", is_thorough, read_bool),
        TURN("steps", steps, read_steps),
        TURN("cut", was_cut, read_bool),
        TURN("changed", has_changed, read_bool)};
#undef TURN
    return fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), target, err);
}

static int read_depth(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct field fields[ACTION_COUNT];
    for (size_t i = 0; i < ACTION_COUNT; i++)
        fields[i] = (struct field){scheduler_action_name((enum scheduler_action)i), read_bound, i * sizeof(uint32_t),
                                   FIELD_READS_NULL};
    return fields_read(reader, place, fields, ACTION_COUNT, target, err);
}

static int read_method(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    size_t word;
    if (read_word(place, (const char *const[]){"lca", "queue"}, 2, &word, err) < 0)
        return -1;
    *(enum reclaim_min_run_time_method *)target = word == 0 ? RECLAIM_MIN_RUN_TIME_LCA : RECLAIM_MIN_RUN_TIME_QUEUE;
    return 0;
}

static int read_multiplier(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    int64_t milli;
    if (read_exact(place, 1000, "0.001", 1000000 * INT64_C(1000), &milli, err) < 0)
        return -1;
    if (milli < 1000)
        return place_expected(place, err, "at least 1");
    *(int64_t *)target = milli;
    return 0;
}

#define SETTING(key, member, read, flags)                            \
    {                                                                \
        key, read, offsetof(struct snapshot_settings, member), flags \
    }
static const struct field SETTING_FIELDS[] = {
    SETTING("stalenessGraceSeconds", staleness_grace_ms, read_grace, 0),
    SETTING("maxConsolidationVictims", max_consolidation_victims, read_bound, FIELD_READS_NULL),
    SETTING("fullHierarchyFairness", full_hierarchy_fairness, read_bool, 0),
    SETTING("depthPerAction", depth, read_depth, 0),
    SETTING("reclaimMinRuntimeMethod", reclaim_min_run_time_method, read_method, 0),
    SETTING("reclaimSaturationMultiplier", saturation_multiplier_milli, read_multiplier, 0),
    SETTING("scenariosPerWorkload", scenarios_per_workload, read_bound, FIELD_READS_NULL),
    SETTING("scenariosPerAction", scenarios_per_action, read_bound, FIELD_READS_NULL),
    SETTING("searchSteps", search_steps, read_steps, FIELD_READS_NULL),
};

int read_settings(struct reader *reader, const struct place *document, struct error *err)
{
    struct place version = place_member(document, "version");
    int64_t number;
    if (read_whole(&version, 1, 1, &number, err) < 0)
        return -1;
    struct place now = place_member(document, "now");
    if (read_time(reader, &now, &reader->snapshot->now_ms, err) < 0 || read_actions(reader, document, err) < 0)
        return -1;
    struct place turns = place_member(document, "searchTurns"), cycle = place_member(document, "searchCycle");
    if (cycle.value && read_count(reader, &cycle, &reader->snapshot->search_cycle, err) < 0)
        return -1;
    void *items;
    if (fields_read_list(reader, &turns, sizeof(struct snapshot_search_turn), read_search_turn, &items,
                         &reader->snapshot->search_turn_count, err) < 0)
        return -1;
    reader->snapshot->search_turns = items;
    struct place settings = place_member(document, "settings");
    if (!settings.value)
        return 0;
    return fields_read(reader, &settings, SETTING_FIELDS, READER_COUNT_OF(SETTING_FIELDS), &reader->snapshot->settings,
                       err);
}

static int read_strategy(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    size_t word;
    if (read_word(place, (const char *const[]){"binpack", "spread", "fragmentation"}, 3, &word, err) < 0)
        return -1;
    *(enum placement_strategy *)target = (enum placement_strategy)word;
    return 0;
}

static int read_strategies(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"gpu", read_strategy, offsetof(struct snapshot_node_pool, gpu_placement), 0},
        {"cpu", read_strategy, offsetof(struct snapshot_node_pool, cpu_placement), 0},
    };
    return fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), target, err);
}

static int read_k_value(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_rounded(place, 1000000, READER_RATIO_MAXIMUM * 1000000, target, err);
}

static int read_time_based(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {{"kValue", read_k_value, 0, 0}};
    if (json_is_null(place->value)) {
        *(int64_t *)target = 0;
        return 0;
    }
    return fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), target, err);
}

static int read_node_pool(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"name", read_name, offsetof(struct snapshot_node_pool, name), FIELD_REQUIRED},
        {"placementStrategy", read_strategies, 0, FIELD_NULL},
        {"preemptMinRuntimeSeconds", read_seconds, offsetof(struct snapshot_node_pool, preempt_min_run_time_ms),
         FIELD_NULL},
        {"reclaimMinRuntimeSeconds", read_seconds, offsetof(struct snapshot_node_pool, reclaim_min_run_time_ms),
         FIELD_NULL},
        {"reservation", read_bool, offsetof(struct snapshot_node_pool, reserves), 0},
        {"reclaimByRank", read_bool, offsetof(struct snapshot_node_pool, reclaims_by_rank), 0},
        {"topology", read_name, offsetof(struct snapshot_node_pool, topology), FIELD_NULL},
        {"timeBasedFairshare", read_time_based, offsetof(struct snapshot_node_pool, fair_share_k_micro),
         FIELD_READS_NULL},
    };
    struct snapshot_node_pool *pool = target;
    pool->fair_share_k_micro = 1000000;
    return fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), pool, err);
}

int read_node_pools(struct reader *reader, const struct place *document, struct error *err)
{
    struct place list = place_member(document, "nodePools");
    void *pools;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct snapshot_node_pool), read_node_pool, &pools, &count, err) < 0 ||
        names_sort(reader, &list, pools, count, sizeof(struct snapshot_node_pool), err) < 0)
        return -1;
    reader->snapshot->node_pools = pools;
    reader->snapshot->node_pool_count = count;
    return 0;
}

int read_node_pool_reference(struct reader *reader, const struct place *object, uint32_t *out_node_pool,
                             struct error *err)
{
    const struct snapshot *snapshot = reader->snapshot;
    size_t size = sizeof(struct snapshot_node_pool), count = snapshot->node_pool_count;
    struct place place = place_member(object, "nodePool");
    if (place.value)
        return names_resolve(&place, "node pool", snapshot->node_pools, count, size, out_node_pool, err);
    uint32_t usual = count == 1 ? 0 : names_find(snapshot->node_pools, count, size, "default");
    if (usual == SNAPSHOT_NONE)
        return place_error(&place, err, "missing, and no node pool is called \"default\"");
    *out_node_pool = usual;
    return 0;
}
