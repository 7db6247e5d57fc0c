#include "tests/support/rich_maker.h"

#include <stdio.h>

const char *const RICH_POOLS[3] = {"default", "other", "spare"};

static void choose_features(struct maker *maker)
{
    bool *const features[] = {&maker->fractions, &maker->memory_amounts, &maker->mig,       &maker->extended,
                              &maker->rules,     &maker->pod_affinity,   &maker->topology,  &maker->sub_groups,
                              &maker->elastic,   &maker->promised,       &maker->min_times, &maker->limits,
                              &maker->statuses,  &maker->deleting,       &maker->delays,    &maker->stale,
                              &maker->tight_cpu, &maker->small_pods};
    for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
        *features[i] = one_in(maker, 3);
}

static void make_settings(struct maker *maker)
{
    static const char *const ORDERS[][5] = {{"allocate", "reclaim", "preempt", "consolidation", "stalegangeviction"},
                                            {"stalegangeviction", "allocate", "preempt", "reclaim", NULL},
                                            {"allocate", NULL, NULL, NULL, NULL}};
    json_t *settings = json_object();
    if (one_in(maker, 6))
        json_object_set_new(settings, "fullHierarchyFairness", json_false());
    if (one_in(maker, 3))
        json_object_set_new(settings, "stalenessGraceSeconds", json_integer((json_int_t)below(maker, 3) * 60 - 60));
    if (one_in(maker, 6))
        set_int(settings, "maxConsolidationVictims", below(maker, 4));
    if (one_in(maker, 8))
        json_object_set_new(settings, "depthPerAction",
                            json_pack("{s:i, s:i}", "allocate", 3 + below(maker, 3), "reclaim", 1 + below(maker, 3)));
    if (one_in(maker, 8))
        set_int(settings, "scenariosPerWorkload", 1 + below(maker, 6));
    if (one_in(maker, 12))
        set_int(settings, "scenariosPerAction", 1 + below(maker, 20));
    if (one_in(maker, 3))
        json_object_set_new(settings, "reclaimMinRuntimeMethod", json_string("queue"));
    if (one_in(maker, 6))
        set_int(settings, "reclaimSaturationMultiplier", 1 + below(maker, 2));
    json_object_set_new(maker->document, "settings", settings);
    if (!one_in(maker, 10))
        return;
    json_t *actions = json_array();
    const char *const *order = ORDERS[below(maker, 3)];
    for (size_t i = 0; i < 5 && order[i]; i++)
        json_array_append_new(actions, json_string(order[i]));
    json_object_set_new(maker->document, "actions", actions);
}

static void set_min_times(struct maker *maker, json_t *object)
{
    static const unsigned SECONDS[] = {0, 300, 1200, 3600};
    if (maker->min_times && one_in(maker, 2))
        set_int(object, "preemptMinRuntimeSeconds", SECONDS[below(maker, 4)]);
    if (maker->min_times && one_in(maker, 2))
        set_int(object, "reclaimMinRuntimeSeconds", SECONDS[below(maker, 4)]);
}

static void make_pools(struct maker *maker)
{
    static const char *const STRATEGIES[8] = {"fragmentation", "spread",  "spread",  "binpack",
                                              "binpack",       "binpack", "binpack", "binpack"};
    json_t *pools = json_array();
    maker->pool_count = one_in(maker, 3) ? 2 + below(maker, 2) : 1;
    for (unsigned i = 0; i < maker->pool_count; i++) {
        const char *gpu = STRATEGIES[below(maker, 8)], *cpu = STRATEGIES[below(maker, 8)];
        json_t *pool =
            json_pack("{s:s, s:{s:s, s:s}}", "name", RICH_POOLS[i], "placementStrategy", "gpu", gpu, "cpu", cpu);
        set_min_times(maker, pool);
        if (one_in(maker, 3))
            json_object_set_new(pool, "timeBasedFairshare", json_pack("{s:f}", "kValue", 0.5 * below(maker, 6)));
        if (one_in(maker, 5))
            json_object_set_new(pool, "reservation", json_true());
        if (one_in(maker, 5))
            json_object_set_new(pool, "reclaimByRank", json_true());
        json_array_append_new(pools, pool);
    }
    json_object_set_new(maker->document, "nodePools", pools);
}

json_t *rich_document_node(struct document_dice *dice, const char *name, const char *pool)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:{s:s, s:s}}", "name", name, "nodePool", pool, "gpus",
                     1 + document_dice_throw(dice, MOST_GPUS), "gpuMemoryMib", DEVICE_MIB, "cpuCores", NODE_CORES,
                     "memoryBytes", (json_int_t)NODE_GIB << 30, "labels", "rack", "r0", "host", name);
}

static void make_node(struct maker *maker, json_t *nodes, unsigned index)
{
    struct room *room = &maker->rooms[index];
    char name[16];
    snprintf(name, sizeof(name), "node%u", index);
    *room = (struct room){.pool = below(maker, maker->pool_count), .mib = DEVICE_MIB, .pods = 110};
    json_t *node = rich_document_node(maker->dice, name, RICH_POOLS[room->pool]);
    room->gpus = (unsigned)json_integer_value(json_object_get(node, "gpus"));
    room->cpu_milli = (maker->tight_cpu ? 4 : NODE_CORES) * 1000;
    room->gib = NODE_GIB;
    set_int(node, "cpuCores", maker->tight_cpu ? 4 : NODE_CORES);
    if (one_in(maker, 5))
        set_int(node, "gpuMemoryMib", room->mib = DEVICE_MIB * 2);
    if (one_in(maker, 12))
        set_int(node, "gpus", room->gpus = 0);
    if (one_in(maker, 12) && room->gpus > 0) { // room is what is left of the others
        json_object_set_new(node, "unhealthyGpus", json_pack("[i]", below(maker, room->gpus)));
        room->gpus--;
    }
    if (one_in(maker, 10))
        set_int(node, "maxPods", room->pods = 2 + below(maker, 3));
    if (maker->mig && one_in(maker, 2)) {
        json_object_set_new(node, "migStrategy", json_string("mixed"));
        json_object_set_new(node, "migInstances", json_pack("{s:i, s:i}", MIG, MIG_INSTANCES, BIG_MIG, 1));
        set_int(node, "gpus", room->gpus = 0);
        json_object_del(node, "unhealthyGpus");
        room->mig = MIG_INSTANCES;
    }
    if (maker->extended && one_in(maker, 2)) {
        json_object_set_new(node, "extended", json_pack("{s:i}", NIC, NICS));
        room->nics = NICS;
    }
    json_t *labels = json_object_get(node, "labels");
    json_object_set_new(labels, "rack", json_sprintf("r%u", below(maker, 3)));
    json_object_set_new(labels, "zone", json_sprintf("z%u", index % 2));
    json_object_set_new(labels, "generation", json_sprintf("%u", 1 + below(maker, 3)));
    if (one_in(maker, 10))
        json_object_del(labels, "rack");
    if (maker->rules && one_in(maker, 4))
        json_object_set_new(node, "taints",
                            json_pack("[{s:s, s:s, s:s}]", "key", "team", "value", "blue", "effect",
                                      one_in(maker, 3) ? "PreferNoSchedule" : "NoSchedule"));
    if (one_in(maker, 14))
        json_object_set_new(node, one_in(maker, 2) ? "ready" : "cordoned",
                            one_in(maker, 2) ? json_false() : json_true());
    json_array_append_new(nodes, node);
}

static void make_nodes(struct maker *maker)
{
    json_t *nodes = json_array();
    maker->node_count = 1 + below(maker, MOST_NODES);
    for (unsigned i = 0; i < maker->node_count; i++)
        make_node(maker, nodes, i);
    json_object_set_new(maker->document, "nodes", nodes);
    json_object_set_new(maker->document, "topologies",
                        json_pack("[{s:s, s:[s,s,s]}]", "name", "dc", "levels", "zone", "rack", "host"));
}

static json_t *random_share(struct maker *maker, unsigned most, unsigned unlimited_in)
{
    json_t *share = json_pack("{s:i, s:i}", "deserved", below(maker, most), "overQuotaWeight", below(maker, 4));
    if (one_in(maker, unlimited_in))
        json_object_set_new(share, "deserved", json_null());
    if (maker->limits && one_in(maker, 2))
        set_int(share, "limit", below(maker, most + 4));
    return share;
}

static json_t *random_resources(struct maker *maker, unsigned most)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < maker->pool_count; i++) {
        if (one_in(maker, 12))
            continue;
        json_t *item = json_pack("{s:s, s:i, s:o}", "nodePool", RICH_POOLS[i], "rank", 100 * (1 + one_in(maker, 4)),
                                 "gpu", random_share(maker, most, 8));
        if (one_in(maker, 5))
            json_object_set_new(item, "cpu", random_share(maker, 24, 3));
        if (one_in(maker, 10))
            json_object_set_new(
                item, "memory",
                json_pack("{s:I}", one_in(maker, 2) ? "deserved" : "limit", (json_int_t)below(maker, NODE_GIB) << 30));
        json_array_append_new(list, item);
    }
    return list;
}

static void add_usage(struct maker *maker, json_t *list, const char *kind, const char *prefix, unsigned index)
{
    if (one_in(maker, 3))
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:f, s:f}", "kind", kind, "name", named(prefix, index),
                                              "nodePool", RICH_POOLS[below(maker, maker->pool_count)], "gpu",
                                              0.05 * below(maker, 21), "cpu", 0.1 * below(maker, 5)));
}

// What a project says of people, and what they have used of it.
static void add_people(json_t *project, json_t *people, unsigned index)
{
    set_int(project, "maxWorkloadsPerPerson", index);
    json_object_set_new(project, "maxGpusPerPerson", index % 2 ? json_null() : json_real(index + 0.5));
    json_object_set_new(project, "fairAmongPeople", json_boolean(index % 2 == 0));
    for (unsigned i = 0; i < index; i++)
        json_array_append_new(people, json_pack("{s:o, s:o, s:f}", "project", named("p", index), "name",
                                                named("person", i), "gpuHours", 0.25 * i));
}

static void make_queues(struct maker *maker)
{
    json_t *departments = json_array(), *projects = json_array(), *usage = json_array(), *people = json_array();
    maker->department_count = 1 + below(maker, 3);
    maker->project_count = 1 + below(maker, 5);
    bool with_usage = one_in(maker, 3);
    for (unsigned i = 0; i < maker->department_count; i++) {
        json_t *department = json_pack("{s:o, s:o, s:o}", "name", named("d", i), "createdAt",
                                       clock_text(below(maker, 3)), "resources", random_resources(maker, 16));
        set_min_times(maker, department);
        json_array_append_new(departments, department);
        if (with_usage)
            add_usage(maker, usage, "department", "d", i);
    }
    for (unsigned i = 0; i < maker->project_count; i++) {
        json_t *project = json_pack("{s:o, s:o, s:o, s:o}", "name", named("p", i), "department",
                                    named("d", below(maker, maker->department_count)), "createdAt",
                                    clock_text(below(maker, 3)), "resources", random_resources(maker, 8));
        set_min_times(maker, project);
        if (with_usage) // not by dice of its own: other documents stay as they were
            add_people(project, people, i);
        json_array_append_new(projects, project);
        if (with_usage)
            add_usage(maker, usage, "project", "p", i);
    }
    json_object_set_new(maker->document, "departments", departments);
    json_object_set_new(maker->document, "projects", projects);
    json_object_set_new(maker->document, "usage", usage);
    json_object_set_new(maker->document, "people", people);
}

json_t *rich_document(struct document_dice *dice)
{
    struct maker maker = {.dice = dice};
    maker.document = json_pack("{s:i, s:s}", "version", 1, "now", "2026-01-01T12:00:00Z");
    choose_features(&maker);
    make_settings(&maker);
    make_pools(&maker);
    make_nodes(&maker);
    make_queues(&maker);
    json_t *workloads = json_array();
    for (unsigned i = 0, count = 1 + below(&maker, 24); i < count; i++)
        make_workload(&maker, workloads, i);
    size_t person;
    json_t *workload;
    json_array_foreach(workloads, person, workload)
        if (json_array_size(json_object_get(maker.document, "people")) > 0 && person % 4 > 0)
            json_object_set_new(workload, "submittedBy", named("person", (unsigned)person % 4));
    json_array_foreach(workloads, person, workload)
        if (person % 5 == 3) {
            json_object_set_new(workload, "overBudget", json_string("It is used up"));
            json_object_set_new(workload, "overBudgetUntil", clock_text((unsigned)person % 3));
        }
    json_object_set_new(maker.document, "workloads", workloads);
    return maker.document;
}
