// The organisation and the nodes in the scheduler's form: what changes seldom. Built whole from rows, then unchanging
// but for the interned placement rules, and shared by reference between the cache and published snapshots. Names are in
// byte order, as the snapshot wants them.
#pragma once
#include "base/arena.h"
#include "db/reconcile_read.h"
#include "reconciler/world/extended_names.h"
#include "reconciler/world/world_json.h"
#include "scheduler/snapshot.h"
#include <stdatomic.h>

// From a row's id (not 0) to its place in an array.
struct id_slot {
    int64_t id;
    uint32_t position;
};
struct id_index {
    struct id_slot *slots;
    size_t mask;
};

// Node pools in order of preference.
struct pool_list {
    uint32_t *pools;
    size_t count;
};

struct world {
    atomic_int references;
    uint64_t number; // of no other world; not 0
    struct arena arena;
    struct world_rows rows; // in the order of the arrays below
    struct id_index node_index;
    struct id_index project_index;
    struct snapshot_node_pool *pools;
    struct usage_window *windows; // by pool
    uint32_t *pool_topologies;    // by pool; SNAPSHOT_NONE: none that counts
    struct snapshot_node *nodes;
    struct snapshot_topology *topologies;
    struct snapshot_department *departments;
    struct snapshot_project *projects;
    struct pool_list *project_pools; // as projects: where work goes that names none
    int64_t *queue_ids[2]; // by plan.h's queue_kind: queues.id of [owner * pool_count + pool]; 0: there is no row
    struct snapshot_extended_resource *extended;
    size_t extended_count;
    struct placement **placements; // hash slots
    size_t placement_count;
};

// Adds the names that the world does not know; indices of resources change.
void world_add_extended(struct world *world, const struct extended_names *names);
struct world *world_create(struct db_conn *conn, const struct extended_names *asked, struct error *err);
struct world *world_acquire(struct world *world);
void world_release(struct world *world); // NULL is fine

// A row as the scheduler counts it under the tenant's settings; without past usage.
struct snapshot_queue world_queue(const struct world_rows *rows, const struct queue_row *row);

// By row id; SNAPSHOT_NONE where there is none.
uint32_t world_pool(const struct world *world, int64_t id);
uint32_t world_pool_by_name(const struct world *world, const char *name);
// The pools that a text (["a", "b"], or NULL) names, each once, as far as there are any; scratch and result are the
// arena's.
size_t world_pools_named(const struct world *world, const char *names_json, struct arena *arena, uint32_t **out_pools);
// The same, or the default pool where the text names none that is there.
struct pool_list world_pools_of_text(const struct world *world, const char *names_json, struct arena *arena);
uint32_t world_topology_by_name(const struct world *world, const char *name); // NULL is none
uint32_t world_node(const struct world *world, int64_t id);
uint32_t world_node_by_name(const struct world *world, const char *name);
uint32_t world_project(const struct world *world, int64_t id);
// The pool that takes what no other names.
uint32_t world_default_pool(const struct world *world);

// The placement for a text (not NULL). Resources that the world does not know are added to asked: the world must then
// be made again.
const struct placement *world_placement(struct world *world, const char *constraints_json,
                                        struct extended_names *asked);
