#include "reconciler/world/snapshot_build.h"

#include "model/pod.h"
#include "model/workload_type.h"
#include "reconciler/world/gang_build.h"
#include "reconciler/world/gates.h"
#include "reconciler/world/volume_rules.h"
#include "reconciler/world/world_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    STUCK_AFTER_MS = 2 * 60 * 1000,
    SCENARIOS_PER_WORKLOAD = 10000,
    SCENARIOS_PER_ACTION = 100000
};

#define HOSTNAME_LABEL "kubernetes.io/hostname"
#define GPU_TAINT "nvidia.com/gpu"

struct builder {
    struct cache *cache;
    struct budgets *budgets;
    struct arena *arena;
    struct live_snapshot *live;
    struct snapshot_workload *workloads;
    struct snapshot_pod *pods;
    bool gpus_are_tainted; // some node keeps pods without GPUs away
    // The rules that were widened for it last, and what came of them: pods alike share one object.
    const struct snapshot_placement_rules *plain, *widened;
    // Likewise of a workload.
    const struct cache_workload *strict_for;
    const struct snapshot_placement_rules *lenient, *strict;
};

static bool is_for_planning(const struct cache_workload *workload)
{
    return workload->desired == DESIRED_RUNNING && !workload->deleted_ms && !phase_is_final(workload->phase) &&
           !workload->creates_all_pods;
}

static bool pod_counts(const struct cache_pod *pod)
{
    if (pod->status == POD_STATUS_SUCCEEDED)
        return workload_type_is(pod->workload->type, WORKLOAD_TYPE_DISTRIBUTED);
    return !pod_status_is_over(pod->status);
}

static bool has_pods_for_planning(const struct cache_workload *workload)
{
    bool is_planned = is_for_planning(workload);
    for (size_t i = 0; i < workload->pod_count; i++)
        if (is_planned ? pod_counts(workload->pods[i]) : pod_status_holds_place(workload->pods[i]->status))
            return true;
    return false;
}

static enum snapshot_pod_status status_of(const struct cache_pod *pod, int64_t now_ms, int64_t *next_due_ms)
{
    switch (pod->status) {
    case POD_STATUS_BINDING:
        return SNAPSHOT_POD_BINDING;
    case POD_STATUS_BOUND:
        return SNAPSHOT_POD_BOUND;
    case POD_STATUS_RUNNING:
        return SNAPSHOT_POD_RUNNING;
    case POD_STATUS_RELEASING: {
        int64_t stuck_ms = pod->stopping_ms + pod->workload->grace_period_ms + STUCK_AFTER_MS;
        if (now_ms >= stuck_ms)
            return SNAPSHOT_POD_STUCK_IN_RELEASING;
        if (stuck_ms < *next_due_ms)
            *next_due_ms = stuck_ms;
        return SNAPSHOT_POD_RELEASING;
    }
    case POD_STATUS_SUCCEEDED:
        return SNAPSHOT_POD_SUCCEEDED;
    default:
        return SNAPSHOT_POD_PENDING;
    }
}

static void set_groups(const struct builder *builder, struct snapshot_pod *out, const char *groups_json)
{
    const char **groups;
    if (!groups_json || strcmp(groups_json, "[]") == 0)
        return;
    out->gpu_group_count = world_json_texts(groups_json, builder->arena, &groups);
    out->gpu_groups = groups;
}

static const char *host_of(const struct snapshot_node *node)
{
    for (size_t i = 0; i < node->label_count; i++)
        if (strcmp(node->labels[i].key, HOSTNAME_LABEL) == 0)
            return node->labels[i].value;
    return node->name;
}

// The nodes that have refused pods of the workload lately, as a rule. NULL: there are none.
static const struct snapshot_requirement *avoidance_of(struct builder *builder, const struct cache_workload *workload)
{
    const struct world *world = builder->cache->world;
    const char **hosts = NULL;
    size_t count = 0;
    for (size_t i = 0; i < AVOIDED_NODES; i++) {
        const struct avoided_node *avoided = &workload->avoided[i];
        uint32_t node =
            avoided->until_ms > builder->live->snapshot.now_ms ? world_node(world, avoided->node_id) : SNAPSHOT_NONE;
        if (node == SNAPSHOT_NONE)
            continue;
        if (!hosts)
            hosts = arena_array(builder->arena, AVOIDED_NODES, sizeof(*hosts));
        hosts[count++] = host_of(&world->nodes[node]);
        if (avoided->until_ms < builder->live->next_due_ms)
            builder->live->next_due_ms = avoided->until_ms;
    }
    if (!count)
        return NULL;
    struct snapshot_requirement *requirement = arena_alloc(builder->arena, sizeof(*requirement));
    *requirement = (struct snapshot_requirement){HOSTNAME_LABEL, REQUIREMENT_NOT_IN, hosts, count};
    return requirement;
}

static bool has_gpu_taint(const struct world *world)
{
    for (size_t i = 0; i < world->rows.node_count; i++)
        for (size_t k = 0; k < world->nodes[i].taint_count; k++)
            if (strcmp(world->nodes[i].taints[k].key, GPU_TAINT) == 0)
                return true;
    return false;
}

// A pod that asks for GPUs tolerates the taint that keeps others from them, as it does when it is created.
static const struct snapshot_placement_rules *widen(struct builder *builder,
                                                    const struct snapshot_placement_rules *rules)
{
    if (builder->widened && builder->plain == rules)
        return builder->widened;
    struct snapshot_placement_rules *wider = arena_alloc(builder->arena, sizeof(*wider));
    if (rules)
        *wider = *rules;
    struct snapshot_toleration *tolerations =
        arena_array(builder->arena, wider->toleration_count + 1, sizeof(*tolerations));
    if (wider->toleration_count)
        memcpy(tolerations, wider->tolerations, wider->toleration_count * sizeof(*tolerations));
    tolerations[wider->toleration_count++] = (struct snapshot_toleration){
        .key = GPU_TAINT, .value = "", .operator= TOLERATION_EXISTS, .effect = TAINT_NO_SCHEDULE};
    wider->tolerations = tolerations;
    builder->plain = rules;
    builder->widened = wider;
    return wider;
}

static bool asks_for_gpus(const struct builder *builder, const struct cache_pod *pod)
{
    for (size_t i = 0; pod->placement && i < pod->placement->extended_count; i++)
        if (builder->cache->world->extended[pod->placement->extended[i].resource].is_mig)
            return true;
    return pod->gpu_devices > 0;
}

// What is known of the workload's volumes, and of nodes that refused it.
static const struct snapshot_placement_rules *make_stricter(struct builder *builder,
                                                            const struct cache_workload *workload,
                                                            const struct snapshot_placement_rules *rules)
{
    rules = volume_rules_apply(workload, rules, builder->live->snapshot.now_ms, builder->arena,
                               &builder->live->next_due_ms);
    const struct snapshot_requirement *avoidance = avoidance_of(builder, workload);
    if (!avoidance)
        return rules;
    struct snapshot_placement_rules *stricter = arena_alloc(builder->arena, sizeof(*stricter));
    if (rules)
        *stricter = *rules;
    struct snapshot_requirement *selector =
        arena_array(builder->arena, stricter->selector_count + 1, sizeof(*selector));
    if (stricter->selector_count)
        memcpy(selector, stricter->selector, stricter->selector_count * sizeof(*selector));
    selector[stricter->selector_count++] = *avoidance;
    stricter->selector = selector;
    return stricter;
}

// Pods of a workload whose rules are one object get one object.
static const struct snapshot_placement_rules *rules_of(struct builder *builder, const struct cache_pod *pod)
{
    const struct snapshot_placement_rules *rules = pod->placement ? pod->placement->rules : NULL;
    if (builder->gpus_are_tainted && asks_for_gpus(builder, pod))
        rules = widen(builder, rules);
    if (builder->strict_for != pod->workload || builder->lenient != rules) {
        builder->strict_for = pod->workload;
        builder->lenient = rules;
        builder->strict = make_stricter(builder, pod->workload, rules);
    }
    return builder->strict;
}

static void add_pod(struct builder *builder, struct cache_pod *pod, uint32_t workload, const char *suffix)
{
    struct snapshot *snapshot = &builder->live->snapshot;
    enum snapshot_pod_status status = status_of(pod, snapshot->now_ms, &builder->live->next_due_ms);
    bool has_node = status != SNAPSHOT_POD_PENDING;
    uint32_t promised = SNAPSHOT_NONE;
    if (!has_node && pod->promise_node)
        promised = world_node_by_name(builder->cache->world, pod->promise_node);
    if (promised != SNAPSHOT_NONE)
        status = SNAPSHOT_POD_PIPELINED;
    pod->position = (uint32_t)snapshot->pod_count;
    builder->live->pods[snapshot->pod_count] = pod;
    struct snapshot_pod *out = &builder->pods[snapshot->pod_count++];
    *out = (struct snapshot_pod){
        .name = arena_printf(builder->arena, "%s%s", pod->name, suffix),
        .workload = workload,
        .sub_group = SNAPSHOT_NONE,
        .role = pod->is_master ? POD_ROLE_MASTER : POD_ROLE_NONE,
        .gpu_devices = (uint32_t)pod->gpu_devices,
        .gpu_portion_milli = pod->gpu_portion_milli,
        .gpu_memory_mib = pod->gpu_memory_mib,
        .cpu_milli = pod->cpu_milli,
        .memory_bytes = pod->memory_bytes,
        .extended = pod->placement ? pod->placement->extended : NULL,
        .extended_count = pod->placement ? pod->placement->extended_count : 0,
        .rules = rules_of(builder, pod),
        .status = status,
        .node = has_node ? world_node(builder->cache->world, pod->node_id) : promised,
        .started_ms = pod->started_ms ? pod->started_ms : SNAPSHOT_TIME_NONE,
    };
    if (promised != SNAPSHOT_NONE)
        set_groups(builder, out, pod->promise_groups_json);
    if (!has_node || status == SNAPSHOT_POD_SUCCEEDED)
        return;
    if (pod->gpu_index_count) {
        uint32_t *indices = arena_array(builder->arena, pod->gpu_index_count, sizeof(*indices));
        memcpy(indices, pod->gpu_indices, pod->gpu_index_count * sizeof(*indices));
        out->gpu_indices = indices;
        out->gpu_index_count = pod->gpu_index_count;
    }
    set_groups(builder, out, pod->gpu_groups_json);
}

// By name; of two with one name, as attempts of a distributed workload have, the one that holds a place first.
static int compare_pods(const void *a, const void *b)
{
    const struct cache_pod *left = *(struct cache_pod *const *)a, *right = *(struct cache_pod *const *)b;
    int order = strcmp(left->name, right->name);
    return order ? order : pod_status_holds_place(right->status) - pod_status_holds_place(left->status);
}

static void add_pods(struct builder *builder, struct cache_workload *workload, uint32_t index, const char *suffix)
{
    struct cache_pod **pods = arena_array(builder->arena, workload->pod_count, sizeof(*pods));
    size_t count = 0;
    bool is_planned = is_for_planning(workload);
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        pod->position = SNAPSHOT_NONE;
        if (is_planned ? pod_counts(pod) : pod_status_holds_place(pod->status))
            pods[count++] = pod;
    }
    if (count > 1)
        qsort(pods, count, sizeof(*pods), compare_pods);
    // A new attempt waits until the old one of its name is gone.
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(pods[i]->name, pods[i - 1]->name) != 0)
            add_pod(builder, pods[i], index, suffix);
}

// The pools a workload may go to: its own list, else that of its project, by whose address it is known. False: it has a
// list of its own, and none of them is there.
static bool set_pools(const struct builder *builder, const struct cache_workload *workload,
                      struct snapshot_workload *out)
{
    const struct world *world = builder->cache->world;
    uint32_t *pools = NULL;
    size_t count = world_pools_named(world, workload->node_pools_json, builder->arena, &pools);
    out->node_pools = count ? pools : world->project_pools[out->project].pools;
    out->node_pool_count = count ? count : world->project_pools[out->project].count;
    return count > 0 || !workload->node_pools_json || strcmp(workload->node_pools_json, "[]") == 0;
}

// From its present start on: the limit is on the time in Running of all its lives. 0: there is none.
static int64_t run_time_left(const struct cache_workload *workload)
{
    if (workload->time_limit_ms == 0)
        return 0;
    int64_t left_ms = workload->time_limit_ms - workload->running_total_ms;
    return left_ms > 0 ? left_ms : 1;
}

// Whoever submitted it, where the project says something of people; NULL elsewhere.
static const char *person_of(const struct builder *builder, const struct cache_workload *workload, uint32_t project)
{
    const struct project_row *row = &builder->cache->world->rows.projects[project];
    bool is_asked = row->person_gpu_milli >= 0 || row->person_waiting_gpu_milli >= 0 || row->person_workloads >= 0 ||
                    row->is_fair_among_people;
    return is_asked && workload->created_by[0] ? arena_strdup(builder->arena, workload->created_by) : NULL;
}

static void add_workload(struct builder *builder, struct cache_workload *workload, uint32_t project, const char *suffix)
{
    struct snapshot *snapshot = &builder->live->snapshot;
    uint32_t index = (uint32_t)snapshot->workload_count++;
    workload->position = index;
    builder->live->workloads[index] = workload;
    struct snapshot_workload *out = &builder->workloads[index];
    *out = (struct snapshot_workload){
        .name = arena_printf(builder->arena, "%s%s", workload->name, suffix),
        .project = project,
        .person = person_of(builder, workload, project),
        .created_ms = workload->created_ms,
        .priority = workload->priority,
        .preemptible = workload->preemptible,
        .deleting = !is_for_planning(workload),
        .min_pods = (uint32_t)(workload->min_pods > 0 ? workload->min_pods : 1),
        .min_sub_groups = SNAPSHOT_MIN_ALL,
        .topology = {SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE},
        .staleness_grace_ms = SNAPSHOT_TIME_NONE,
        .stale_ms = workload->stale_since_ms ? snapshot->now_ms - workload->stale_since_ms : SNAPSHOT_TIME_NONE,
        .last_eviction_ms = workload->last_eviction_ms ? workload->last_eviction_ms : SNAPSHOT_TIME_NONE,
        .max_run_ms = run_time_left(workload),
        .displaced_count = (uint32_t)workload->displaced_count,
        .displaced_ms = workload->displaced_ms,
        .promise = workload->promise >= 0 ? (uint32_t)workload->promise : SNAPSHOT_PROMISE_NONE,
        .first_pod = (uint32_t)snapshot->pod_count,
    };
    if (out->preemptible)
        out->over_budget = budgets_clause(builder->budgets, workload->project_id, workload->created_by, builder->arena,
                                          &out->over_budget_until_ms, NULL);
    bool has_pools = set_pools(builder, workload, out);
    add_pods(builder, workload, index, suffix);
    out->pod_count = (uint32_t)(snapshot->pod_count - out->first_pod);
    if (!has_pools)
        gate_without_pools(workload, out, builder->pods, builder->arena);
    else if (!gate_until_others_end(workload, out, builder->pods, builder->arena))
        gate_until_start(workload, snapshot->now_ms, out, builder->pods, builder->arena, &builder->live->next_due_ms);
    gang_build(builder->cache->world, workload, builder->live->pods + out->first_pod, builder->arena, out,
               builder->pods + out->first_pod);
    const struct placement *placement = workload->pods[0]->placement;
    if (placement && placement->pod_affinity != POD_AFFINITY_NONE) {
        out->pod_affinity = placement->pod_affinity;
        out->pod_affinity_key = placement->pod_affinity_key;
    }
}

static bool has_namesake(const struct cache *cache, size_t position)
{
    const char *name = cache->order[position]->name;
    return (position > 0 && strcmp(cache->order[position - 1]->name, name) == 0) ||
           (position + 1 < cache->workload_count && strcmp(cache->order[position + 1]->name, name) == 0);
}

struct draft {
    struct cache_workload *workload;
    uint32_t project;
    const char *suffix; // tells namesakes of several projects apart
    const char *name;
};

static int compare_drafts(const void *a, const void *b)
{
    return strcmp(((const struct draft *)a)->name, ((const struct draft *)b)->name);
}

// What takes part, by name. Namesakes of different projects get their project's name behind their own, so that names
// are unique as the snapshot's form wants it.
static size_t choose_workloads(const struct builder *builder, struct draft *drafts)
{
    struct cache *cache = builder->cache;
    size_t count = 0;
    bool is_renamed = false;
    for (size_t i = 0; i < cache->workload_count; i++) {
        struct cache_workload *workload = cache->order[i];
        workload->position = SNAPSHOT_NONE;
        uint32_t project = world_project(cache->world, workload->project_id);
        if (project == SNAPSHOT_NONE || !has_pods_for_planning(workload))
            continue;
        const char *suffix = "";
        if (has_namesake(cache, i))
            suffix = arena_printf(builder->arena, ".%s.%" PRId64, workload->project_name, workload->id);
        is_renamed |= *suffix != '\0';
        const char *name = *suffix ? arena_printf(builder->arena, "%s%s", workload->name, suffix) : workload->name;
        drafts[count++] = (struct draft){workload, project, suffix, name};
    }
    if (is_renamed)
        qsort(drafts, count, sizeof(*drafts), compare_drafts);
    return count;
}

void snapshot_build(struct cache *cache, struct budgets *budgets, int64_t now_ms, struct arena *arena,
                    struct live_snapshot *out_live)
{
    const struct world *world = cache->world;
    size_t pod_count = 0;
    for (size_t i = 0; i < cache->workload_count; i++)
        pod_count += cache->order[i]->pod_count;
    cache_sort(cache);
    snapshot_defaults(&out_live->snapshot);
    struct snapshot *snapshot = &out_live->snapshot;
    snapshot->now_ms = now_ms;
    snapshot->settings.full_hierarchy_fairness = world->rows.has_departments;
    snapshot->settings.scenarios_per_workload = SCENARIOS_PER_WORKLOAD;
    snapshot->settings.scenarios_per_action = SCENARIOS_PER_ACTION;
    snapshot->node_pools = world->pools;
    snapshot->node_pool_count = world->rows.pool_count;
    snapshot->extended_resources = world->extended;
    snapshot->extended_resource_count = world->extended_count;
    snapshot->nodes = world->nodes;
    snapshot->node_count = world->rows.node_count;
    snapshot->topologies = world->topologies;
    snapshot->topology_count = world->rows.topology_count;
    snapshot->departments = world->departments;
    snapshot->department_count = world->rows.department_count;
    snapshot->projects = world->projects;
    snapshot->project_count = world->rows.project_count;
    struct builder builder = {
        .cache = cache,
        .budgets = budgets,
        .arena = arena,
        .live = out_live,
        .workloads = arena_array(arena, cache->workload_count, sizeof(struct snapshot_workload)),
        .pods = arena_array(arena, pod_count, sizeof(struct snapshot_pod)),
        .gpus_are_tainted = has_gpu_taint(cache->world),
    };
    out_live->workloads = arena_array(arena, cache->workload_count, sizeof(struct cache_workload *));
    out_live->pods = arena_array(arena, pod_count, sizeof(struct cache_pod *));
    out_live->next_due_ms = INT64_MAX;
    struct draft *drafts = arena_array(arena, cache->workload_count, sizeof(*drafts));
    size_t count = world->rows.pool_count ? choose_workloads(&builder, drafts) : 0;
    for (size_t i = 0; i < count; i++)
        add_workload(&builder, drafts[i].workload, drafts[i].project, drafts[i].suffix);
    gate_beyond_waiting(world, builder.workloads, snapshot->workload_count, builder.pods, arena);
    snapshot->workloads = builder.workloads;
    snapshot->pods = builder.pods;
}

void snapshot_build_one(struct cache_workload *workload, uint32_t project, const char *suffix, struct world *world,
                        struct budgets *budgets, int64_t now_ms, struct arena *arena, struct live_snapshot *out_live)
{
    struct cache cache = {.world = world};
    snapshot_defaults(&out_live->snapshot);
    out_live->snapshot.now_ms = now_ms;
    struct builder builder = {
        .cache = &cache,
        .budgets = budgets,
        .arena = arena,
        .live = out_live,
        .workloads = arena_array(arena, 1, sizeof(struct snapshot_workload)),
        .pods = arena_array(arena, workload->pod_count, sizeof(struct snapshot_pod)),
        .gpus_are_tainted = has_gpu_taint(cache.world),
    };
    out_live->workloads = arena_array(arena, 1, sizeof(struct cache_workload *));
    out_live->pods = arena_array(arena, workload->pod_count, sizeof(struct cache_pod *));
    out_live->next_due_ms = INT64_MAX;
    add_workload(&builder, workload, project, suffix);
    out_live->snapshot.workloads = builder.workloads;
    out_live->snapshot.pods = builder.pods;
}
