// What a workload is given next, and what it gives up next: the worked units of docs/scheduler.md, 10.
#include "base/arena.h"
#include "base/error.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_GROUPS = 8,
    MOST_PODS = 8,
    TEXT_SIZE = 128
};

struct group_row {
    const char *name;
    const char *parent; // NULL: the root
    uint32_t minimum;   // pods, or children
    const char *pods;   // R running, P pending, E evicted by the open statement; "" for a set
};

struct unit_case {
    const char *name;
    uint32_t min_sub_groups;
    struct group_row groups[MOST_GROUPS]; // by name; one without a name: no sub-groups
    const char *next;                     // pods to place, "group:index"
    const char *victims;                  // pods to evict
    bool something_stays;
};

#define ALL SNAPSHOT_MIN_ALL

static const struct unit_case CASES[] = {
    {"a gang", ALL, {{"", NULL, 2, "PP"}}, "-0 -1", "", false},
    {"growth", ALL, {{"", NULL, 1, "RP"}}, "-1", "-0", false},
    {"the rest of a gang", ALL, {{"", NULL, 3, "RPPP"}}, "-1 -2", "-0", false},
    {"a whole gang goes", ALL, {{"", NULL, 2, "RR"}}, "", "-0 -1", false},
    {"surplus goes first", ALL, {{"", NULL, 1, "RR"}}, "", "-1", true},
    {"what all required children lack",
     ALL,
     {{"a", NULL, 1, "R"}, {"b", NULL, 1, "P"}, {"c", NULL, 1, "P"}},
     "b-0 c-0",
     "a-0",
     false},
    {"growth of the first child that has something",
     ALL,
     {{"a", NULL, 1, "R"}, {"b", NULL, 1, "RP"}, {"c", NULL, 1, "RP"}},
     "b-1",
     "a-0 b-0 c-0",
     false},
    {"no gang phase where no child is required", 0, {{"a", NULL, 1, "P"}, {"b", NULL, 1, "P"}}, "a-0", "", false},
    {"a surplus pod of the fuller child", ALL, {{"a", NULL, 1, "RR"}, {"b", NULL, 1, "R"}}, "", "a-1", true},
    {"both are required", ALL, {{"a", NULL, 1, "R"}, {"b", NULL, 1, "R"}}, "", "a-0 b-0", false},
    {"a surplus child", 1, {{"a", NULL, 1, "R"}, {"b", NULL, 1, "R"}}, "", "b-0", true},
    {"a surplus child inside",
     ALL,
     {{"a", "s", 2, "RR"}, {"b", "s", 2, "RR"}, {"s", NULL, 1, ""}},
     "",
     "b-0 b-1",
     true},
    {"a surplus set",
     1,
     {{"A", NULL, ALL, ""},
      {"B", NULL, ALL, ""},
      {"a1", "A", 1, "R"},
      {"a2", "A", 1, "R"},
      {"b1", "B", 1, "R"},
      {"b2", "B", 1, "R"}},
     "",
     "b1-0 b2-0",
     true},
    {"too few pods: no member of the gang", 1, {{"a", NULL, 2, "P"}, {"b", NULL, 1, "P"}}, "b-0", "", false},
    // Victims: what the open statement evicted may be placed like what waits.
    {"its place back", ALL, {{"", NULL, 2, "RE"}}, "-1", "-0", false},
    {"a pod that waited with one that goes back", ALL, {{"", NULL, 2, "PEE"}}, "-0 -1", "", false},
    {"a child that waits is a member",
     2,
     {{"a", NULL, 1, "P"}, {"b", NULL, 1, "E"}, {"c", NULL, 1, "E"}},
     "a-0 b-0",
     "",
     false},
    // What stood in part before the statement gets back what it gave, and nothing more.
    {"a part of a gang", ALL, {{"", NULL, 2, "E"}}, "-0", "", false},
    {"no pod that waited with a part of a gang", ALL, {{"", NULL, 4, "PEE"}}, "-1 -2", "", false},
    {"a part of a gang is not started", ALL, {{"", NULL, 2, "P"}}, "", "", false},
    {"a child that stood alone", ALL, {{"a", NULL, 1, "E"}, {"b", NULL, 2, "P"}}, "a-0", "", false},
    {"a child that is whole goes before a part of one",
     1,
     {{"a", NULL, 2, "E"}, {"b", NULL, 1, "E"}},
     "b-0",
     "",
     false},
    {"a part of a surplus child", 1, {{"a", NULL, 1, "R"}, {"b", NULL, 3, "PE"}}, "b-1", "a-0", false},
    {"a part of a child inside",
     ALL,
     {{"a", "s", 2, "PE"}, {"b", "s", 2, "E"}, {"c", NULL, 1, "P"}, {"s", NULL, ALL, ""}},
     "a-1 b-0",
     "",
     false},
};

// Victims that lost a pod by an earlier statement of the cycle.
static const struct unit_case AFTER_LOSS[] = {
    {"only what goes back", ALL, {{"", NULL, 2, "PEE"}}, "-1 -2", "", false},
    {"nothing goes back", ALL, {{"", NULL, 1, "RP"}}, "", "-0", false},
    {"a part of a gang goes back alone", ALL, {{"", NULL, 2, "PE"}}, "-1", "", false},
    {"a child that only waits is no member",
     2,
     {{"a", NULL, 1, "P"}, {"b", NULL, 1, "E"}, {"c", NULL, 1, "E"}},
     "b-0 c-0",
     "",
     false},
};

struct example {
    struct snapshot snapshot;
    struct snapshot_node_pool pool;
    struct snapshot_node node;
    struct snapshot_queue queue;
    struct snapshot_department department;
    struct snapshot_project project;
    struct snapshot_workload workload;
    struct snapshot_sub_group groups[MOST_GROUPS];
    struct snapshot_pod pods[MOST_PODS * MOST_GROUPS];
};

static uint32_t find_group(const struct unit_case *row, const char *name)
{
    for (uint32_t g = 0; name && row->groups[g].name; g++) {
        if (strcmp(row->groups[g].name, name) == 0)
            return g;
    }
    return SNAPSHOT_NONE;
}

static void add_pods(struct example *example, const struct group_row *group, uint32_t sub_group, struct arena *arena)
{
    for (size_t i = 0; group->pods[i]; i++) {
        bool runs = group->pods[i] != 'P';
        example->pods[example->snapshot.pod_count++] =
            (struct snapshot_pod){.name = arena_printf(arena, "%s-%zu", group->name, i),
                                  .sub_group = sub_group,
                                  .status = runs ? SNAPSHOT_POD_RUNNING : SNAPSHOT_POD_PENDING,
                                  .node = runs ? 0 : SNAPSHOT_NONE,
                                  .started_ms = SNAPSHOT_TIME_NONE};
    }
}

static void make_example(struct example *example, const struct unit_case *row, struct arena *arena)
{
    static const uint32_t POOLS[] = {0};
    memset(example, 0, sizeof(*example));
    snapshot_defaults(&example->snapshot);
    struct snapshot *snapshot = &example->snapshot;
    example->pool.name = "default";
    example->node = (struct snapshot_node){.name = "node", .gpu_count = 8, .max_pods = 110, .ready = true};
    example->queue = snapshot_queue_default();
    example->department = (struct snapshot_department){.name = "d", .queues = &example->queue};
    example->project = (struct snapshot_project){.name = "p", .queues = &example->queue};
    snapshot->node_pools = &example->pool;
    snapshot->nodes = &example->node;
    snapshot->departments = &example->department;
    snapshot->projects = &example->project;
    snapshot->workloads = &example->workload;
    snapshot->pods = example->pods;
    snapshot->node_pool_count = snapshot->node_count = snapshot->department_count = snapshot->project_count =
        snapshot->workload_count = 1;
    bool is_plain = !*row->groups[0].name;
    example->workload = (struct snapshot_workload){.name = "w",
                                                   .preemptible = true,
                                                   .min_pods = row->groups[0].minimum,
                                                   .min_sub_groups = row->min_sub_groups,
                                                   .node_pools = POOLS,
                                                   .node_pool_count = 1,
                                                   .sub_groups = example->groups,
                                                   .topology = {.topology = SNAPSHOT_NONE}};
    for (uint32_t g = 0; row->groups[g].name; g++) {
        const struct group_row *group = &row->groups[g];
        example->groups[g] = (struct snapshot_sub_group){.name = group->name,
                                                         .parent = find_group(row, group->parent),
                                                         .min_pods = group->minimum,
                                                         .min_sub_groups = group->minimum,
                                                         .topology = {.topology = SNAPSHOT_NONE}};
        example->workload.sub_group_count += !is_plain;
        add_pods(example, group, is_plain ? SNAPSHOT_NONE : g, arena);
    }
    example->workload.pod_count = (uint32_t)snapshot->pod_count;
}

static const char *name_pods(const struct example *example, const uint32_t *pods, uint32_t count, struct arena *arena)
{
    const char *text = "";
    for (uint32_t p = 0; p < example->snapshot.pod_count; p++) {
        for (uint32_t i = 0; i < count; i++) {
            if (pods[i] == p)
                text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", example->pods[p].name);
        }
    }
    return text;
}

static void evict_pods(struct cycle *cycle, const struct example *example, const struct unit_case *row)
{
    for (uint32_t p = 0; p < example->snapshot.pod_count; p++) {
        const struct snapshot_pod *pod = &example->pods[p];
        uint32_t group = pod->sub_group == SNAPSHOT_NONE ? 0 : pod->sub_group;
        if (row->groups[group].pods[strtoul(strrchr(pod->name, '-') + 1, NULL, 10)] == 'E')
            statement_evict(cycle, p);
    }
}

static void check_case(const struct unit_case *row, bool lost_pod)
{
    struct cycle *cycle;
    struct arena arena;
    struct error err = {0};
    arena_init(&arena);
    struct example *example = arena_alloc(&arena, sizeof(*example));
    make_example(example, row, &arena);
    if (cycle_open(&example->snapshot, &arena, &cycle, &err) < 0) {
        check_true(0, "%s: %s", row->name, err.message);
    } else {
        struct workload *workload = &cycle->workloads[0];
        uint32_t victims[MOST_PODS * MOST_GROUPS];
        evict_pods(cycle, example, row);
        workload->lost_pod = lost_pod;
        unit_find(cycle, workload);
        check_text(name_pods(example, workload->unit, workload->unit_count, &arena), row->next, "%s: next", row->name);
        uint32_t held = workload->counts.held;
        uint32_t count = unit_take_victims(cycle, workload, victims);
        check_text(name_pods(example, victims, count, &arena), row->victims, "%s: victims", row->name);
        check_int(count < held, row->something_stays, "%s: something stays", row->name);
    }
    arena_done(&arena);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        check_case(&CASES[i], false);
    for (size_t i = 0; i < COUNT(AFTER_LOSS); i++)
        check_case(&AFTER_LOSS[i], true);
    return check_finish();
}
