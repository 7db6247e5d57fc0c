// The timeline in JSON: lanes, names by their place in lists, blocks, evictions, figures.
#include "api/scheduling/timeline.h"

#include "base/arena.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const FIGURE_KEYS[FIGURE_COUNT] = {"allocated", "ready", "waiting"};

const char *timeline_by_text(enum timeline_by by)
{
    static const char *const TEXTS[TIMELINE_BY_COUNT] = {"nodes", "pools", "projects"};
    return TEXTS[by];
}

static int compare_named_id(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static void write_place(struct json_writer *json, const char *key, const struct named_list *list, int64_t id)
{
    const struct named *found =
        list->count ? bsearch(&(struct named){id, 0}, list->rows, list->count, sizeof(*list->rows), compare_named_id)
                    : NULL;
    if (found)
        json_int(json, key, found - list->rows);
}

static void write_devices(struct json_writer *json, uint64_t devices)
{
    json_key(json, "devices");
    json_begin_array(json);
    for (uint64_t left = devices; left; left &= left - 1)
        json_value_int(json, __builtin_ctzll(left));
    json_end_array(json);
}

static int64_t seconds_of(const struct timeline *timeline, int64_t time_ms)
{
    return (time_ms - timeline->query.start_ms) / 1000;
}

static void write_node_lanes(const struct timeline *timeline, struct json_writer *json)
{
    for (size_t i = 0; i < timeline->lane_count; i++) {
        json_begin_object(json);
        json_text(json, "node", timeline->lanes[i].node);
        json_text(json, "nodePool", timeline->lanes[i].node_pool);
        json_int(json, "gpus", timeline->lanes[i].gpu_count);
        json_end_object(json);
    }
}

static void write_pool_lanes(const struct timeline *timeline, struct json_writer *json)
{
    for (size_t i = 0; i < timeline->pool_count; i++) {
        json_begin_object(json);
        json_text(json, "nodePool", timeline->pools[i].name);
        json_int(json, "nodes", timeline->pools[i].node_count);
        json_int(json, "gpus", timeline->pools[i].gpu_count);
        json_end_object(json);
    }
}

// A project's GPUs are the most that it held; blocks are by lane.
static void write_project_lanes(const struct timeline *timeline, struct json_writer *json)
{
    const struct timeline_block *block = timeline->merged.blocks, *end = block + timeline->merged.count;
    for (size_t i = 0; i < timeline->merged.lane_count; i++) {
        const struct timeline_place *whose = block < end && block->lane == i ? block->whose : NULL;
        int64_t most_milli = 0;
        for (; block < end && block->lane == i; block++)
            if (block->gpu_milli > most_milli)
                most_milli = block->gpu_milli;
        json_begin_object(json);
        if (whose)
            write_place(json, "project", &timeline->projects, whose->held.project_id);
        json_int(json, "gpus", (most_milli + 999) / 1000);
        json_end_object(json);
    }
}

static void write_lanes(const struct timeline *timeline, struct json_writer *json)
{
    json_key(json, "lanes");
    json_begin_array(json);
    if (timeline->by == TIMELINE_BY_NODES)
        write_node_lanes(timeline, json);
    else if (timeline->by == TIMELINE_BY_POOLS)
        write_pool_lanes(timeline, json);
    else
        write_project_lanes(timeline, json);
    json_end_array(json);
}

// Names in the order of the lists.
static void write_names(const struct timeline *timeline, struct json_writer *json)
{
    const struct held_name *name = timeline->names;
    json_key(json, "projects");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->projects.count; i++, name++) {
        json_begin_object(json);
        json_text(json, "id", arena_printf(timeline->arena, "%" PRId64, timeline->projects.rows[i].id));
        json_text(json, "name", name->project);
        json_end_object(json);
    }
    json_end_array(json);
    json_key(json, "workloads");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->named_workloads.count; i++, name++) {
        json_begin_object(json);
        json_text(json, "id", name->workload_uuid);
        json_text(json, "name", name->workload);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_block(const struct timeline *timeline, const struct timeline_block *block, struct json_writer *json)
{
    json_begin_object(json);
    json_int(json, "lane", (int64_t)block->lane);
    // Shares follow each other without a gap; a device's place is told whole.
    bool is_cut = !block->devices && block->to_ms < timeline->query.end_ms;
    json_int(json, "from", seconds_of(timeline, block->from_ms));
    json_int(json, "to", seconds_of(timeline, is_cut ? block->to_ms : block->to_ms + 999));
    if (block->devices)
        write_devices(json, block->devices);
    json_milli(json, "gpus", block->gpu_milli);
    if (block->whose)
        write_place(json, "project", &timeline->projects, block->whose->held.project_id);
    if (block->only)
        write_place(json, "workload", &timeline->named_workloads, block->only->held.workload_id);
    if (block->count > 1)
        json_int(json, "count", block->count);
    else if (block->only && block->devices && block->only->held.end != HELD_STILL)
        json_text(json, "end", held_end_text(block->only->held.end));
    if (block->count > 1 || !block->devices) {
        if (block->failed)
            json_int(json, "failed", block->failed);
        if (block->preempted)
            json_int(json, "preempted", block->preempted);
    }
    json_end_object(json);
}

static void write_side(struct json_writer *json, const char *key, const char *uuid, const char *name,
                       const char *project)
{
    json_key(json, key);
    json_begin_object(json);
    json_text(json, "id", uuid);
    json_text(json, "name", name);
    json_text(json, "project", project);
    json_end_object(json);
}

static void write_eviction(const struct timeline *timeline, size_t index, struct json_writer *json)
{
    const struct timeline_eviction *eviction = &timeline->evictions[index];
    json_begin_object(json);
    json_int(json, "at", seconds_of(timeline, eviction->time_ms));
    json_text(json, "action", eviction->action);
    json_text(json, "node", eviction->node);
    json_text(json, "nodePool", timeline->eviction_pools[index]);
    write_devices(json, eviction->devices);
    json_milli(json, "gpus", eviction->gpu_milli);
    write_side(json, "victim", eviction->victim_uuid, eviction->victim, eviction->victim_project);
    if (eviction->has_beneficiary)
        write_side(json, "beneficiary", eviction->beneficiary_uuid, eviction->beneficiary,
                   eviction->beneficiary_project);
    json_end_object(json);
}

static void write_figures(const struct timeline *timeline, struct json_writer *json)
{
    json_key(json, "figures");
    json_begin_object(json);
    json_number(json, "step",
                (double)(timeline->query.end_ms - timeline->query.start_ms) / 1000 / (double)timeline->point_count);
    for (int i = 0; i < FIGURE_COUNT; i++) {
        json_key(json, FIGURE_KEYS[i]);
        json_begin_array(json);
        for (size_t p = 0; p < timeline->point_count; p++)
            json_value_real(json, timeline->points[i][p]);
        json_end_array(json);
    }
    json_end_object(json);
}

void timeline_write(struct timeline *timeline, struct json_writer *json)
{
    const struct timeline_blocks *merged = &timeline->merged;
    bool is_cut = timeline->held_since_ms > timeline->query.start_ms;
    json_begin_object(json);
    json_time(json, "start", timeline->query.start_ms);
    json_time(json, "end", timeline->query.end_ms);
    json_time(json, "heldSince", is_cut ? timeline->held_since_ms : 0);
    json_text(json, "by", timeline_by_text(timeline->by));
    json_text(json, "detail", merged->has_devices ? "devices" : "shares");
    json_milli(json, "partSeconds", merged->part_ms);
    write_lanes(timeline, json);
    write_names(timeline, json);
    json_key(json, "blocks");
    json_begin_array(json);
    for (size_t i = 0; i < merged->count; i++)
        write_block(timeline, &merged->blocks[i], json);
    json_end_array(json);
    json_key(json, "evictions");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->eviction_count; i++)
        write_eviction(timeline, i, json);
    json_end_array(json);
    write_figures(timeline, json);
    json_end_object(json);
}
