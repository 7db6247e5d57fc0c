#include "reconciler/draft.h"

#include "base/error.h"
#include "model/submission.h"
#include "reconciler/state.h"
#include "reconciler/world/snapshot_build.h"

#include <stdlib.h>
#include <string.h>

// The view's world with an arena and placements of its own: those of the view are its thread's.
static struct world *borrow_world(const struct present *present, struct arena *arena)
{
    const struct world *world = ((const struct view *)present->view)->world; // its first member
    struct world *borrowed = arena_alloc(arena, sizeof(*borrowed));
    borrowed->rows = world->rows;
    borrowed->node_index = world->node_index;
    borrowed->project_index = world->project_index;
    borrowed->pools = world->pools;
    borrowed->windows = world->windows;
    borrowed->pool_topologies = world->pool_topologies;
    borrowed->nodes = world->nodes;
    borrowed->topologies = world->topologies;
    borrowed->departments = world->departments;
    borrowed->projects = world->projects;
    borrowed->project_pools = world->project_pools;
    borrowed->extended = world->extended;
    borrowed->extended_count = world->extended_count;
    arena_init(&borrowed->arena);
    return borrowed;
}

static const struct snapshot_extended_amount *shift_amounts(const struct snapshot_extended_amount *old, size_t count,
                                                            const uint32_t *places, struct arena *arena)
{
    if (count == 0)
        return old;
    struct snapshot_extended_amount *amounts = arena_array(arena, count, sizeof(*amounts));
    for (size_t i = 0; i < count; i++)
        amounts[i] = (struct snapshot_extended_amount){places[old[i].resource], old[i].count};
    return amounts;
}

// Resources stand in the order of their names: those that are new push others on, in all that refers to them.
static void take_resources(struct present *present, struct world *world, const struct extended_names *asked)
{
    struct snapshot *snapshot = &present->snapshot;
    struct arena *arena = &present->arena;
    const struct snapshot_extended_resource *old = world->extended;
    size_t old_count = world->extended_count;
    world_add_extended(world, asked);
    uint32_t *places = arena_array(arena, old_count, sizeof(*places));
    for (uint32_t i = 0, place = 0; i < old_count; i++, place++) {
        while (strcmp(world->extended[place].name, old[i].name) != 0)
            place++;
        places[i] = place;
    }
    struct snapshot_node *nodes = arena_array(arena, snapshot->node_count, sizeof(*nodes));
    for (size_t i = 0; i < snapshot->node_count; i++) {
        nodes[i] = snapshot->nodes[i];
        nodes[i].extended = shift_amounts(nodes[i].extended, nodes[i].extended_count, places, arena);
    }
    struct snapshot_pod *pods = arena_array(arena, snapshot->pod_count, sizeof(*pods));
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        pods[i] = snapshot->pods[i];
        pods[i].extended = shift_amounts(pods[i].extended, pods[i].extended_count, places, arena);
    }
    snapshot->nodes = nodes;
    snapshot->pods = pods;
    snapshot->extended_resources = world->extended;
    snapshot->extended_resource_count = world->extended_count;
}

static int compare_names(const void *name, const void *workload)
{
    return strcmp(name, ((const struct snapshot_workload *)workload)->name);
}

// Nothing, or what tells it from a namesake of another project.
static const char *suffix_of(struct present *present, const struct submission *submission, const char *project)
{
    const struct snapshot *snapshot = &present->snapshot;
    const char *suffix = "";
    while (snapshot->workload_count > 0 &&
           bsearch(arena_printf(&present->arena, "%s%s", submission->name, suffix), snapshot->workloads,
                   snapshot->workload_count, sizeof(*snapshot->workloads), compare_names))
        suffix = arena_printf(&present->arena, "%s.%s", suffix, project);
    return suffix;
}

static void add_pods(struct cache_workload *workload, const struct pod_request *request, int64_t count,
                     const struct placement *placement, struct arena *arena)
{
    for (int64_t i = 0; i < count; i++) {
        struct cache_pod *pod = arena_alloc(arena, sizeof(*pod));
        char name[POD_NAME_SIZE];
        pod_name(workload->name, workload->type, request->role, i, 0, name);
        pod->facts = submission_pod_facts(request, arena_strdup(arena, name), i, 0);
        pod->placement = placement;
        pod->workload = workload;
        workload->pods[workload->pod_count++] = pod;
    }
}

static const struct placement *placement_of(struct world *world, const struct pod_request *request,
                                            struct extended_names *asked)
{
    return request->constraints_json ? world_placement(world, request->constraints_json, asked) : NULL;
}

static struct cache_workload *make_workload(struct present *present, struct world *world,
                                            const struct submission *submission)
{
    const struct workload_spec *spec = submission->spec;
    struct arena *arena = &present->arena;
    struct cache_workload *workload = arena_alloc(arena, sizeof(*workload));
    struct extended_names asked = {0};
    int64_t worker_count = spec->worker_count > 0 ? spec->worker_count : 1; // of no replica at first: the one to come
    workload->facts = submission_facts(submission);
    workload->name = arena_strdup(arena, submission->name);
    workload->node_pools_json = arena_strdup(arena, submission->node_pools_json);
    workload->sub_groups_json = arena_strdup(arena, submission->spec->sub_groups_json);
    workload->created_by = arena_strdup(arena, submission->created_by);
    workload->created_ms = present->snapshot.now_ms;
    workload->phase = PHASE_PENDING;
    workload->pods = arena_array(arena, (size_t)worker_count + 1, sizeof(struct cache_pod *));
    placement_of(world, &spec->worker, &asked);
    if (spec->has_master)
        placement_of(world, &spec->master, &asked);
    if (asked.count > 0) {
        take_resources(present, world, &asked);
        world->placements = NULL; // they know the old places
    }
    extended_names_done(&asked);
    if (spec->has_master)
        add_pods(workload, &spec->master, 1, placement_of(world, &spec->master, NULL), arena);
    add_pods(workload, &spec->worker, worker_count, placement_of(world, &spec->worker, NULL), arena);
    return workload;
}

int draft_workload(struct present *present, const struct submission *submission, struct what_if_question *question,
                   struct error *err)
{
    struct world *world = borrow_world(present, &present->arena);
    uint32_t project = world_project(world, submission->project_id);
    present->world = world;
    if (project == SNAPSHOT_NONE || world->rows.pool_count == 0)
        return error_set(err, ERROR_UNAVAILABLE, "the scheduler has not seen the project yet; try again");
    struct cache_workload *workload = make_workload(present, world, submission);
    struct live_snapshot *live = arena_alloc(&present->arena, sizeof(*live));
    snapshot_build_one(workload, project, suffix_of(present, submission, world->projects[project].name), world,
                       &present->reconciler->budgets, present->snapshot.now_ms, &present->arena, live);
    question->workload = live->snapshot.workloads;
    question->pods = live->snapshot.pods;
    return 0;
}
