// GET /scheduler/timeline: who held which devices from when to when, who gave way to whom, and figures of the same
// time.
#include "api/scheduling/timeline.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
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
    NODES_AT_FIRST = 24, // `auto` shows more of them by pool
};

static const char *const FIGURES[] = {"ALLOCATED_GPU", "READY_GPU"}; // that are read by their metric

static struct node_slot **slot_of(struct timeline *timeline, const char *node)
{
    size_t hash = 5381;
    for (const char *c = node; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    return &timeline->slots[hash & (TIMELINE_NODE_SLOTS - 1)];
}

static void add_slot(struct timeline *timeline, size_t lane)
{
    struct node_slot **slot = slot_of(timeline, timeline->lanes[lane].node);
    struct node_slot *added = arena_alloc(timeline->arena, sizeof(*added));
    *added = (struct node_slot){lane, *slot};
    *slot = added;
}

static const struct node_slot *find_slot(struct timeline *timeline, const char *node)
{
    const struct node_slot *slot = *slot_of(timeline, node);
    while (slot && strcmp(timeline->lanes[slot->lane].node, node) != 0)
        slot = slot->next;
    return slot;
}

// Of a node that has gone, a lane at the end.
static size_t lane_of(struct timeline *timeline, const char *node)
{
    const struct node_slot *slot = find_slot(timeline, node);
    if (slot)
        return slot->lane;
    timeline->lanes = arena_grow(timeline->arena, timeline->lanes, &timeline->lane_capacity, timeline->lane_count + 1,
                                 sizeof(*timeline->lanes));
    timeline->lanes[timeline->lane_count++] =
        (struct timeline_lane){.node = arena_strdup(timeline->arena, node), .node_pool = ""};
    add_slot(timeline, timeline->lane_count - 1);
    return timeline->lane_count - 1;
}

// NULL: it has gone.
static const char *pool_of_node(struct timeline *timeline, const char *node)
{
    const struct node_slot *slot = find_slot(timeline, node);
    const char *pool = slot ? timeline->lanes[slot->lane].node_pool : "";
    return *pool ? pool : NULL;
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
    const char *by = request_query(req, "by");
    timeline->is_auto = by && strcmp(by, "auto") == 0;
    for (int i = 0; by && i < TIMELINE_BY_COUNT; i++)
        if (strcmp(timeline_by_text((enum timeline_by)i), by) == 0)
            timeline->by = (enum timeline_by)i;
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

// Puts each place into its node's pool. Lanes are by pool.
static void join_pools(struct timeline *timeline)
{
    size_t *pool_of = arena_array(timeline->arena, timeline->lane_count + 1, sizeof(*pool_of));
    timeline->pools = arena_array(timeline->arena, timeline->lane_count + 1, sizeof(*timeline->pools));
    for (size_t i = 0; i < timeline->lane_count; i++) {
        const struct timeline_lane *lane = &timeline->lanes[i];
        size_t count = timeline->pool_count;
        if (count == 0 || strcmp(timeline->pools[count - 1].name, lane->node_pool) != 0)
            timeline->pools[timeline->pool_count++].name = lane->node_pool;
        struct timeline_pool *pool = &timeline->pools[timeline->pool_count - 1];
        pool->node_count++;
        pool->gpu_count += lane->gpu_count;
        pool_of[i] = timeline->pool_count - 1;
    }
    for (size_t i = 0; i < timeline->place_count; i++)
        timeline->places[i].lane = pool_of[timeline->places[i].lane];
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
    if (timeline->is_auto)
        timeline->by = timeline->lane_count <= NODES_AT_FIRST ? TIMELINE_BY_NODES : TIMELINE_BY_POOLS;
    if (timeline->by == TIMELINE_BY_POOLS)
        join_pools(timeline);
    timeline_merge(&timeline->query, timeline->by,
                   timeline->by == TIMELINE_BY_POOLS ? timeline->pool_count : timeline->lane_count, timeline->places,
                   timeline->place_count, timeline->parts, timeline->arena, &timeline->merged);
    if (read_names(timeline, conn, err) < 0 || db_find_held_since(conn, &timeline->held_since_ms, err) < 0 ||
        db_list_timeline_evictions(conn, &timeline->query, EVICTIONS_SHOWN, timeline->arena, &timeline->evictions,
                                   &timeline->eviction_count, err) < 0)
        return -1;
    timeline->eviction_pools =
        arena_array(timeline->arena, timeline->eviction_count + 1, sizeof(*timeline->eviction_pools));
    for (size_t i = 0; i < timeline->eviction_count; i++)
        timeline->eviction_pools[i] = pool_of_node(timeline, timeline->evictions[i].node);
    return read_figures(timeline, conn, err);
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
    timeline_write(timeline, &json);
    return 0;
}
