// GET /scheduler/timeline: who held which devices from when to when, who gave way to whom, and figures of the same
// time.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/scheduling/timeline_blocks.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/db.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)
#define RANGE_MAXIMUM_MS (35 * DAY_MS)

enum {
    WIDTH = 400, // parts, where nothing is said
    POINTS_MAXIMUM = 200,
    EVICTIONS_SHOWN = 150,
    NODE_SLOTS = 4096, // a power of two
};

enum {
    FIGURE_ALLOCATED,
    FIGURE_READY,
    FIGURE_WAITING,
    FIGURE_COUNT
};

static const char *const FIGURES[] = {"ALLOCATED_GPU", "READY_GPU"}; // that are read by their metric
static const char *const FIGURE_KEYS[FIGURE_COUNT] = {"allocated", "ready", "waiting"};

struct node_slot {
    size_t lane;
    struct node_slot *next;
};

// A project or workload that blocks name by its place in the list, which is by id.
struct named {
    int64_t id;
    int64_t place_id; // one that it holds
};

struct named_list {
    struct named *rows;
    size_t count;
};

struct timeline {
    struct arena *arena;
    struct timeline_query query;
    struct scope_filter nodes, workloads;
    int64_t now_ms;
    int64_t parts;
    int64_t held_since_ms;
    struct timeline_lane *lanes;
    size_t lane_count, lane_capacity;
    struct node_slot *slots[NODE_SLOTS];
    struct timeline_place *places;
    size_t place_count, place_capacity;
    struct timeline_blocks merged;
    struct held_name *names;
    size_t name_count;
    struct timeline_eviction *evictions;
    size_t eviction_count;
    size_t point_count;
    double *points[FIGURE_COUNT];
    struct named_list projects, named_workloads; // that blocks name
};

static struct node_slot **slot_of(struct timeline *timeline, const char *node)
{
    size_t hash = 5381;
    for (const char *c = node; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    return &timeline->slots[hash & (NODE_SLOTS - 1)];
}

static void add_slot(struct timeline *timeline, size_t lane)
{
    struct node_slot **slot = slot_of(timeline, timeline->lanes[lane].node);
    struct node_slot *added = arena_alloc(timeline->arena, sizeof(*added));
    *added = (struct node_slot){lane, *slot};
    *slot = added;
}

// Of a node that has gone, a lane at the end.
static size_t lane_of(struct timeline *timeline, const char *node)
{
    for (const struct node_slot *slot = *slot_of(timeline, node); slot; slot = slot->next)
        if (strcmp(timeline->lanes[slot->lane].node, node) == 0)
            return slot->lane;
    timeline->lanes = arena_grow(timeline->arena, timeline->lanes, &timeline->lane_capacity, timeline->lane_count + 1,
                                 sizeof(*timeline->lanes));
    timeline->lanes[timeline->lane_count++] =
        (struct timeline_lane){.node = arena_strdup(timeline->arena, node), .node_pool = ""};
    add_slot(timeline, timeline->lane_count - 1);
    return timeline->lane_count - 1;
}

// Ends within the period; what ends later is still held there.
static void add_place(void *context, const struct held_place *held)
{
    struct timeline *timeline = context;
    int64_t until_ms = timeline->now_ms < timeline->query.end_ms ? timeline->now_ms : timeline->query.end_ms;
    struct timeline_place place = {*held, lane_of(timeline, held->node)};
    place.held.node = NULL;
    if (held->ended_ms == 0 || held->ended_ms > until_ms) {
        place.held.ended_ms = until_ms;
        place.held.end = HELD_STILL;
    }
    if (place.held.ended_ms <= held->started_ms)
        place.held.ended_ms = held->started_ms + 1;
    timeline->places = arena_grow(timeline->arena, timeline->places, &timeline->place_capacity,
                                  timeline->place_count + 1, sizeof(*timeline->places));
    timeline->places[timeline->place_count++] = place;
}

static int read_time(const struct request *req, const char *name, int64_t fallback_ms, int64_t *out_ms,
                     struct error *err)
{
    const char *text = request_query(req, name);
    *out_ms = fallback_ms;
    if (text && timestamp_parse(text, out_ms, err) < 0)
        return error_prefix(err, "%s: ", name);
    return 0;
}

static int read_query(struct request *req, struct timeline *timeline, struct error *err)
{
    struct timeline_query *query = &timeline->query;
    if (read_time(req, "end", req->received_ms, &query->end_ms, err) < 0 ||
        read_time(req, "start", query->end_ms - DAY_MS, &query->start_ms, err) < 0)
        return -1;
    if (query->start_ms >= query->end_ms)
        return error_set(err, ERROR_INVALID, "start: expected a time before end");
    if (query->end_ms - query->start_ms > RANGE_MAXIMUM_MS)
        return error_set(err, ERROR_INVALID, "start: at most 35 days before end");
    query->node_pool = request_query(req, "nodePool");
    query->node = request_query(req, "node");
    access_filter(req, RESOURCE_TYPE_NODES, ACTION_READ, &timeline->nodes);
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &timeline->workloads);
    query->nodes = &timeline->nodes;
    query->workloads = &timeline->workloads;
    timeline->parts = request_query_integer(req, "width", WIDTH);
    timeline->point_count = (size_t)(timeline->parts < POINTS_MAXIMUM ? timeline->parts : POINTS_MAXIMUM);
    return 0;
}

static int read_figures(struct timeline *timeline, struct db_conn *conn, struct error *err)
{
    for (int i = 0; i < FIGURE_COUNT; i++)
        timeline->points[i] = arena_array(timeline->arena, timeline->point_count, sizeof(double));
    for (int i = 0; i < FIGURE_WAITING; i++)
        if (db_read_timeline_figure(conn, &timeline->query, FIGURES[i], timeline->now_ms, timeline->point_count,
                                    timeline->points[i], err) < 0)
            return -1;
    return db_read_timeline_waiting(conn, &timeline->query, timeline->now_ms, timeline->point_count, timeline->arena,
                                    timeline->points[FIGURE_WAITING], err);
}

static int compare_named(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->place_id > right->place_id) - (left->place_id < right->place_id);
}

static int compare_named_id(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static void sort_named(struct named_list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->rows, list->count, sizeof(*list->rows), compare_named);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->rows[kept - 1].id != list->rows[i].id)
            list->rows[kept++] = list->rows[i];
    list->count = kept;
}

static void collect_named(struct timeline *timeline)
{
    const struct timeline_blocks *merged = &timeline->merged;
    struct named_list *projects = &timeline->projects, *workloads = &timeline->named_workloads;
    projects->rows = arena_array(timeline->arena, merged->count, sizeof(*projects->rows));
    workloads->rows = arena_array(timeline->arena, merged->count, sizeof(*workloads->rows));
    for (size_t i = 0; i < merged->count; i++) {
        const struct timeline_place *only = merged->blocks[i].only, *whose = merged->blocks[i].whose;
        if (whose && whose->held.project_id)
            projects->rows[projects->count++] = (struct named){whose->held.project_id, whose->held.id};
        if (only && only->held.workload_id)
            workloads->rows[workloads->count++] = (struct named){only->held.workload_id, only->held.id};
    }
    sort_named(projects);
    sort_named(workloads);
}

static int read_names(struct timeline *timeline, struct db_conn *conn, struct error *err)
{
    struct buffer ids;
    const struct named_list *lists[] = {&timeline->projects, &timeline->named_workloads};
    collect_named(timeline);
    buffer_init(&ids, 0);
    buffer_char(&ids, '[');
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            buffer_printf(&ids, "%s%" PRId64, ids.length > 1 ? "," : "", lists[l]->rows[i].place_id);
    buffer_char(&ids, ']');
    int rc = db_read_held_names(conn, ids.data, timeline->arena, &timeline->names, &timeline->name_count, err);
    buffer_done(&ids);
    if (rc == 0)
        assert(timeline->name_count == lists[0]->count + lists[1]->count); // read in the same state
    return rc;
}

static int read_timeline(struct timeline *timeline, struct db_conn *conn, struct error *err)
{
    if (db_list_timeline_lanes(conn, &timeline->query, timeline->arena, &timeline->lanes, &timeline->lane_count, err) <
        0)
        return -1;
    timeline->lane_capacity = timeline->lane_count;
    for (size_t i = 0; i < timeline->lane_count; i++)
        add_slot(timeline, i);
    if (db_read_held(conn, &timeline->query, timeline->arena, add_place, timeline, err) < 0)
        return -1;
    timeline_merge(&timeline->query, timeline->lane_count, timeline->places, timeline->place_count, timeline->parts,
                   timeline->arena, &timeline->merged);
    if (read_names(timeline, conn, err) < 0 || db_find_held_since(conn, &timeline->held_since_ms, err) < 0 ||
        db_list_timeline_evictions(conn, &timeline->query, EVICTIONS_SHOWN, timeline->arena, &timeline->evictions,
                                   &timeline->eviction_count, err) < 0)
        return -1;
    return read_figures(timeline, conn, err);
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

static void write_lanes(const struct timeline *timeline, struct json_writer *json)
{
    json_key(json, "lanes");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->lane_count; i++) {
        json_begin_object(json);
        json_text(json, "node", timeline->lanes[i].node);
        json_text(json, "nodePool", timeline->lanes[i].node_pool);
        json_int(json, "gpus", timeline->lanes[i].gpu_count);
        json_end_object(json);
    }
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
    json_int(json, "from", seconds_of(timeline, block->from_ms));
    json_int(json, "to", seconds_of(timeline, block->to_ms + 999));
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

static void write_eviction(struct timeline *timeline, const struct timeline_eviction *eviction,
                           struct json_writer *json)
{
    json_begin_object(json);
    json_int(json, "at", seconds_of(timeline, eviction->time_ms));
    json_text(json, "action", eviction->action);
    json_text(json, "node", eviction->node);
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

static void write_timeline(struct timeline *timeline, struct json_writer *json)
{
    const struct timeline_blocks *merged = &timeline->merged;
    bool is_cut = timeline->held_since_ms > timeline->query.start_ms;
    json_begin_object(json);
    json_time(json, "start", timeline->query.start_ms);
    json_time(json, "end", timeline->query.end_ms);
    json_time(json, "heldSince", is_cut ? timeline->held_since_ms : 0);
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
        write_eviction(timeline, &timeline->evictions[i], json);
    json_end_array(json);
    write_figures(timeline, json);
    json_end_object(json);
}

int op_get_scheduler_timeline(struct request *req, struct response *res, struct error *err)
{
    struct timeline *timeline = arena_alloc(req->arena, sizeof(*timeline)); // too big for a worker's stack
    struct json_writer json;
    timeline->arena = req->arena;
    timeline->now_ms = req->received_ms;
    if (read_query(req, timeline, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_begin(conn, err);
    if (rc == 0) {
        rc = read_timeline(timeline, conn, err);
        db_read_end(conn);
    }
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_timeline(timeline, &json);
    return 0;
}
