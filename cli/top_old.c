// `top node`, `top job` of the first generation: what nodes and running workloads use, in its tables.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

static const double GIB = 1 << 30;

// Sums of some devices, or of some pods; is_known: all of them were measured.
struct use {
    double gpus, utilization; // mean, in percent
    double cpu, cpu_used;     // cores
    double memory, memory_used;
    double gpu_memory_used_mib;
    bool gpus_are_known, load_is_known, gpu_memory_is_known;
    const char *node;
};

static const struct use UNUSED = {.gpus_are_known = true, .load_is_known = true, .gpu_memory_is_known = true};

static const char *percent_of(struct cli *cli, double part, double whole)
{
    return whole > 0 ? arena_printf(&cli->arena, "%.0f%%", part * 100 / whole) : "-";
}

// "250m (12%)"
static const char *cores(struct cli *cli, double used, double of)
{
    const char *text =
        used < 1 ? arena_printf(&cli->arena, "%.0fm", used * 1000) : arena_printf(&cli->arena, "%.1f", used);
    return of > 0 ? arena_printf(&cli->arena, "%s (%s)", text, percent_of(cli, used, of)) : text;
}

// "1.2GiB (30%)"
static const char *memory(struct cli *cli, double used, double of)
{
    const char *text = arena_printf(&cli->arena, "%.1fGiB", used / GIB);
    return of > 0 ? arena_printf(&cli->arena, "%s (%s)", text, percent_of(cli, used, of)) : text;
}

static void add_device(struct use *use, const json_t *node, size_t index)
{
    const json_t *reading = json_array_get(json_object_get(node, "readings"), index);
    const json_t *device = json_array_get(json_object_get(node, "devices"), index);
    const json_t *used = cli_device_utilization(node, index), *mib = json_object_get(reading, "memoryUsedMib");
    bool is_free = strcmp(cli_text(device, "state"), "free") == 0; // then nothing is recorded of it
    use->gpus_are_known = use->gpus_are_known && (is_free || json_is_number(used));
    use->gpu_memory_is_known = use->gpu_memory_is_known && (is_free || json_is_number(mib));
    use->utilization = (use->utilization * use->gpus + json_number_value(used)) / (use->gpus + 1);
    use->gpu_memory_used_mib += json_number_value(mib);
    use->gpus++;
}

static void add_load(struct use *use, const json_t *of)
{
    use->load_is_known = use->load_is_known && json_is_number(json_object_get(of, "usedCpuCores"));
    use->cpu += cli_number(of, "cpuCores");
    use->cpu_used += cli_number(of, "usedCpuCores");
    use->memory += cli_number(of, "cpuMemoryBytes");
    use->memory_used += cli_number(of, "usedCpuMemoryBytes");
}

static struct use use_of_node(const json_t *node)
{
    struct use use = UNUSED;
    for (size_t i = 0; i < json_array_size(json_object_get(node, "devices")); i++)
        add_device(&use, node, i);
    add_load(&use, node);
    return use;
}

static const char *status_of(const json_t *nodes, const char *name)
{
    const json_t *node;
    size_t i;
    json_array_foreach(nodes, i, node)
        if (strcmp(cli_text(node, "name"), name) == 0)
            return cli_text(node, "status");
    return "-";
}

enum {
    NODE_COLUMNS = 8,
    NODE_MORE_COLUMNS = 13
};

static void add_node(struct cli *cli, const json_t *node, const char *status, struct table *table)
{
    struct use use = use_of_node(node);
    double gpu_mib = use.gpus * cli_number(node, "gpuMemoryMib");
    bool has_gpus = use.gpus > 0 && use.gpus_are_known, has_gpu_memory = use.gpus > 0 && use.gpu_memory_is_known;
    struct arena *arena = &cli->arena;
    table_add(table,
              (const char *const[]){
                  cli_text(node, "name"), status, arena_printf(arena, "%.0f", use.gpus),
                  has_gpus ? arena_printf(arena, "%.0f%%", use.utilization) : "-", arena_printf(arena, "%.0f", use.cpu),
                  use.load_is_known ? percent_of(cli, use.cpu_used, use.cpu) : "-",
                  arena_printf(arena, "%.1fGiB", use.memory / GIB),
                  use.load_is_known ? arena_printf(arena, "%.1fGiB", use.memory_used / GIB) : "-",
                  use.load_is_known ? cores(cli, use.cpu_used, 0) : "-",
                  use.load_is_known ? percent_of(cli, use.memory_used, use.memory) : "-",
                  gpu_mib > 0 ? arena_printf(arena, "%.1fGiB", gpu_mib / 1024) : "-",
                  has_gpu_memory ? arena_printf(arena, "%.1fGiB", use.gpu_memory_used_mib / 1024) : "-",
                  has_gpu_memory ? percent_of(cli, use.gpu_memory_used_mib, gpu_mib) : "-"});
}

static void print_nodes(struct cli *cli, const json_t *devices, const json_t *nodes)
{
    static const char *const TITLES[NODE_MORE_COLUMNS] = {"NAME",
                                                          "STATUS",
                                                          "GPU CAPACITY",
                                                          "GPU UTILIZATION",
                                                          "CPU CAPACITY",
                                                          "CPU UTILIZATION",
                                                          "MEMORY CAPACITY",
                                                          "MEMORY USAGE",
                                                          "CPU USAGE",
                                                          "MEMORY UTILIZATION",
                                                          "GPU MEMORY CAPACITY",
                                                          "GPU MEMORY USAGE",
                                                          "GPU MEMORY UTILIZATION"};
    const json_t *node;
    struct table table;
    size_t i;
    table_init(&table, &cli->arena, TITLES, flag_is_set(&cli->arguments, "details") ? NODE_MORE_COLUMNS : NODE_COLUMNS);
    json_array_foreach(devices, i, node)
        add_node(cli, node, status_of(nodes, cli_text(node, "name")), &table);
    cli_print_table(cli, &table);
}

int run_top_node(struct cli *cli, struct error *err)
{
    json_t *devices, *nodes;
    if (cli_get_all(cli, "/api/v1/devices?sortBy=name", "nodes", &devices, err) < 0)
        return -1;
    int rc = cli_get_all(cli, "/api/v1/nodes?sortBy=name", "nodes", &nodes, err);
    if (rc == 0 && cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, devices);
    else if (rc == 0)
        print_nodes(cli, devices, nodes);
    if (rc == 0)
        json_decref(nodes);
    json_decref(devices);
    return rc;
}

// A workload that runs, and what it uses; a device that it shares counts as a whole.
struct job {
    const char *id;
    const json_t *workload;
    struct use use;
};

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct job *)a)->id, ((const struct job *)b)->id);
}

// NULL: it is none of these. They stand by id.
static struct use *use_of_job(struct job *jobs, size_t count, const json_t *workload)
{
    struct job key = {.id = cli_text(workload, "id")};
    struct job *job = count > 0 ? bsearch(&key, jobs, count, sizeof(*jobs), compare_ids) : NULL;
    return job ? &job->use : NULL;
}

static void add_of_node(struct job *jobs, size_t count, const json_t *node)
{
    const json_t *device, *pod, *workload;
    struct use *use;
    size_t i, k;
    json_array_foreach(json_object_get(node, "devices"), i, device)
        json_array_foreach(json_object_get(device, "workloads"), k, workload)
            if ((use = use_of_job(jobs, count, workload)))
                add_device(use, node, i);
    json_array_foreach(json_object_get(node, "pods"), i, pod) {
        if (!(use = use_of_job(jobs, count, json_object_get(pod, "workload"))))
            continue;
        const char *name = cli_text(node, "name");
        use->node = !use->node || strcmp(use->node, name) == 0 ? name : "<multiple>";
        add_load(use, pod);
    }
}

static void add_job(struct cli *cli, const struct job *job, struct table *table)
{
    const json_t *workload = job->workload;
    const struct use *use = &job->use;
    bool has_load = use->node && use->load_is_known;
    struct arena *arena = &cli->arena;
    table_add(table,
              (const char *const[]){
                  cli_text(workload, "name"), cli_text(workload, "projectName"), cli_text(workload, "submittedBy"),
                  cli_old_type(workload), arena_printf(arena, "%.0fs", cli_number(workload, "totalRunningTimeSeconds")),
                  use->node ? use->node : "", arena_printf(arena, "%g", cli_number(workload, "allocatedResources.gpu")),
                  use->gpus > 0 && use->gpus_are_known ? arena_printf(arena, "%.0f%%", use->utilization) : "-",
                  arena_printf(arena, "%g", use->cpu), has_load ? cores(cli, use->cpu_used, use->cpu) : "-",
                  arena_printf(arena, "%.1fGiB", use->memory / GIB),
                  has_load ? memory(cli, use->memory_used, use->memory) : "-"});
}

// Who holds most GPUs first, then by name.
static int compare_jobs(const void *a, const void *b)
{
    const json_t *left = ((const struct job *)a)->workload, *right = ((const struct job *)b)->workload;
    double one = cli_number(left, "allocatedResources.gpu"), other = cli_number(right, "allocatedResources.gpu");
    if (one != other)
        return one > other ? -1 : 1;
    return strcmp(cli_text(left, "name"), cli_text(right, "name"));
}

static void print_jobs(struct cli *cli, const json_t *workloads, const json_t *devices)
{
    static const char *const TITLES[] = {
        "NAME",          "PROJECT",  "USER",          "TYPE",      "DURATION",         "NODE",
        "GPU ALLOCATED", "GPU UTIL", "CPU ALLOCATED", "CPU USAGE", "MEMORY ALLOCATED", "MEMORY USAGE"};
    const json_t *workload, *node;
    struct table table;
    size_t i, count = json_array_size(workloads);
    struct job *jobs = arena_array(&cli->arena, count, sizeof(*jobs));
    json_array_foreach(workloads, i, workload)
        jobs[i] = (struct job){cli_text(workload, "id"), workload, UNUSED};
    if (count > 0)
        qsort(jobs, count, sizeof(*jobs), compare_ids);
    json_array_foreach(devices, i, node)
        add_of_node(jobs, count, node);
    if (count > 0)
        qsort(jobs, count, sizeof(*jobs), compare_jobs);
    table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
    for (i = 0; i < count; i++)
        add_job(cli, &jobs[i], &table);
    cli_print_table(cli, &table);
}

int run_top_job(struct cli *cli, struct error *err)
{
    json_t *workloads, *devices = NULL;
    const char *project = NULL, *filter = "phase==Running";
    if (!flag_is_set(&cli->arguments, "all") && cli_project_name(cli, &project, err) < 0)
        return -1;
    if (project)
        filter = arena_printf(&cli->arena, "%s,projectName==%s", filter, project);
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads?filterBy=%s", client_escape(&cli->client, filter));
    if (cli_get_all(cli, path, "workloads", &workloads, err) < 0)
        return -1;
    struct error no_nodes = {0}; // who may not read nodes sees what they hold, and not what they use
    if (cli_get_all(cli, "/api/v1/devices?sortBy=name", "nodes", &devices, &no_nodes) < 0)
        devices = NULL;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print_entries(cli, workloads);
    else
        print_jobs(cli, workloads, devices);
    json_decref(devices);
    json_decref(workloads);
    return 0;
}
