#include "form/snapshot_writer.h"

#include "base/json_writer.h"
#include "base/timestamp.h"
#include "form/writer.h"

void write_time(struct json_writer *json, const char *key, int64_t time_ms)
{
    char text[TIMESTAMP_SIZE];
    if (time_ms != SNAPSHOT_TIME_NONE)
        timestamp_format(time_ms, text);
    json_text(json, key, time_ms == SNAPSHOT_TIME_NONE ? NULL : text);
}

static void write_bound(struct json_writer *json, const char *key, uint32_t bound)
{
    if (bound == SNAPSHOT_COUNT_UNLIMITED)
        json_null_at(json, key);
    else
        json_int(json, key, bound);
}

static void write_settings(struct json_writer *json, const struct snapshot *snapshot)
{
    const struct snapshot_settings *settings = &snapshot->settings;
    json_key(json, "actions");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->action_count; i++)
        json_value_text(json, scheduler_action_name(snapshot->actions[i]));
    json_end_array(json);
    json_key(json, "settings");
    json_begin_object(json);
    json_key(json, "stalenessGraceSeconds");
    if (settings->staleness_grace_ms < 0)
        json_value_int(json, -1);
    else
        json_value_milli(json, settings->staleness_grace_ms);
    write_bound(json, "maxConsolidationVictims", settings->max_consolidation_victims);
    json_bool(json, "fullHierarchyFairness", settings->full_hierarchy_fairness);
    json_key(json, "depthPerAction");
    json_begin_object(json);
    for (size_t i = 0; i < ACTION_COUNT; i++)
        if (settings->depth[i] != SNAPSHOT_COUNT_UNLIMITED)
            json_int(json, scheduler_action_name((enum scheduler_action)i), settings->depth[i]);
    json_end_object(json);
    json_text(json, "reclaimMinRuntimeMethod",
              settings->reclaim_min_run_time_method == RECLAIM_MIN_RUN_TIME_LCA ? "lca" : "queue");
    json_milli(json, "reclaimSaturationMultiplier", settings->saturation_multiplier_milli);
    write_bound(json, "scenariosPerWorkload", settings->scenarios_per_workload);
    write_bound(json, "scenariosPerAction", settings->scenarios_per_action);
    if (settings->search_steps == SNAPSHOT_STEPS_UNLIMITED)
        json_null_at(json, "searchSteps");
    else
        json_int(json, "searchSteps", settings->search_steps);
    json_end_object(json);
}

static void write_search_turns(struct json_writer *json, const struct snapshot *snapshot)
{
    json_int(json, "searchCycle", snapshot->search_cycle);
    json_key(json, "searchTurns");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->search_turn_count; i++) {
        const struct snapshot_search_turn *turn = &snapshot->search_turns[i];
        json_begin_object(json);
        json_text(json, "action", scheduler_action_name(turn->action));
        json_text(json, "nodePool", turn->node_pool);
        json_int(json, "preference", turn->preference);
        json_text(json, "next", turn->next);
        json_text(json, "first", turn->first);
        json_bool(json, "thorough", turn->is_thorough);
        json_int(json, "steps", turn->steps);
        json_bool(json, "cut", turn->was_cut);
        json_bool(json, "changed", turn->has_changed);
        json_end_object(json);
    }
    json_end_array(json);
}

static const char *strategy_word(enum placement_strategy strategy)
{
    static const char *const WORDS[] = {"binpack", "spread", "fragmentation"};
    return WORDS[strategy];
}

static void write_node_pools(struct json_writer *json, const struct snapshot *snapshot)
{
    json_key(json, "nodePools");
    json_begin_array(json);
    for (size_t i = 0; i < snapshot->node_pool_count; i++) {
        const struct snapshot_node_pool *pool = &snapshot->node_pools[i];
        json_begin_object(json);
        json_text(json, "name", pool->name);
        json_key(json, "placementStrategy");
        json_begin_object(json);
        json_text(json, "gpu", strategy_word(pool->gpu_placement));
        json_text(json, "cpu", strategy_word(pool->cpu_placement));
        json_end_object(json);
        json_milli(json, "preemptMinRuntimeSeconds", pool->preempt_min_run_time_ms);
        json_milli(json, "reclaimMinRuntimeSeconds", pool->reclaim_min_run_time_ms);
        if (pool->reserves)
            json_bool(json, "reservation", true);
        if (pool->reclaims_by_rank)
            json_bool(json, "reclaimByRank", true);
        if (pool->topology)
            json_text(json, "topology", pool->topology);
        json_key(json, "timeBasedFairshare");
        json_begin_object(json);
        json_number(json, "kValue", (double)pool->fair_share_k_micro / 1e6);
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
}

struct list {
    const char *key;
    void (*write)(struct json_writer *json, const struct snapshot *snapshot, size_t index);
};

static const struct list LISTS[SNAPSHOT_LIST_COUNT] = {
    [SNAPSHOT_LIST_NODES] = {"nodes", write_node},
    [SNAPSHOT_LIST_DEPARTMENTS] = {"departments", write_department},
    [SNAPSHOT_LIST_PROJECTS] = {"projects", write_project},
    [SNAPSHOT_LIST_WORKLOADS] = {"workloads", write_workload},
};

const char *snapshot_list_key(enum snapshot_list list)
{
    return LISTS[list].key;
}

size_t snapshot_list_count(const struct snapshot *snapshot, enum snapshot_list list)
{
    const size_t counts[SNAPSHOT_LIST_COUNT] = {snapshot->node_count, snapshot->department_count,
                                                snapshot->project_count, snapshot->workload_count};
    return counts[list];
}

const char *snapshot_list_name(const struct snapshot *snapshot, enum snapshot_list list, size_t index)
{
    switch (list) {
    case SNAPSHOT_LIST_NODES:
        return snapshot->nodes[index].name;
    case SNAPSHOT_LIST_DEPARTMENTS:
        return snapshot->departments[index].name;
    case SNAPSHOT_LIST_PROJECTS:
        return snapshot->projects[index].name;
    default:
        return snapshot->workloads[index].name;
    }
}

void snapshot_write_entry(struct json_writer *json, const struct snapshot *snapshot, enum snapshot_list list,
                          size_t index)
{
    LISTS[list].write(json, snapshot, index);
}

void snapshot_write_rules(struct json_writer *json, const struct snapshot *snapshot)
{
    json_int(json, "version", 1);
    write_settings(json, snapshot);
    write_search_turns(json, snapshot);
    write_node_pools(json, snapshot);
    write_topologies(json, snapshot);
    write_usage(json, snapshot);
    write_people(json, snapshot);
}

void snapshot_write(struct json_writer *json, const struct snapshot *snapshot)
{
    json_begin_object(json);
    write_time(json, "now", snapshot->now_ms);
    snapshot_write_rules(json, snapshot);
    for (int list = 0; list < SNAPSHOT_LIST_COUNT; list++) {
        json_key(json, LISTS[list].key);
        json_begin_array(json);
        size_t count = snapshot_list_count(snapshot, (enum snapshot_list)list);
        for (size_t i = 0; i < count; i++)
            snapshot_write_entry(json, snapshot, (enum snapshot_list)list, i);
        json_end_array(json);
    }
    json_end_object(json);
}
