// Lists of projects, departments, clusters, nodes, node pools; the cluster's and a project's figures.
#include "base/error.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_COLUMN_COUNT = 9 // without the labels
};

#define COLUMNS(titles) titles, sizeof(titles) / sizeof((titles)[0])

// A list as asked for: JSON, YAML or a table. key as for cli_get_all.
static int show_list(struct cli *cli, const char *path, const char *key, const char *const *titles, size_t count,
                     cli_row_fn add_row, struct error *err)
{
    json_t *entries;
    if (cli_get_all(cli, path, key, &entries, err) < 0)
        return -1;
    cli_print_list(cli, entries, titles, count, add_row);
    json_decref(entries);
    return 0;
}

static const char *ratio(struct cli *cli, double part, double whole)
{
    return whole > 0 ? arena_printf(&cli->arena, "%.2f%%", 100 * part / whole) : "-";
}

static void add_unit(struct cli *cli, const json_t *unit, struct table *table)
{
    double quota = cli_number(unit, "totalResources.gpuQuota"),
           held = cli_number(unit, "status.quotaStatus.allocated.gpu");
    table_add(table, (const char *const[]){cli_text(unit, "name"), cli_amount(cli, quota), cli_amount(cli, held),
                                           ratio(cli, held, quota)});
}

static const char *limit_of(struct cli *cli, const json_t *project)
{
    long seconds = (long)cli_number(project, "effective.schedulingRules.interactiveJobTimeLimitSeconds");
    return seconds > 0 ? arena_printf(&cli->arena, "%ldh%ldm%lds", seconds / 3600, seconds % 3600 / 60, seconds % 60)
                       : "-";
}

static void add_old_project(struct cli *cli, const json_t *project, struct table *table)
{
    const char *name = cli_text(project, "name"), *chosen = profile_project(&cli->profile);
    char quota[QUANTITY_TEXT_SIZE];
    quantity_format_milli((int64_t)(cli_number(project, "totalResources.gpuQuota") * 1000 + 0.5), quota);
    if (chosen && strcmp(chosen, name) == 0)
        name = arena_printf(&cli->arena, "%s (default)", name);
    table_add(table, (const char *const[]){name, cli_text(project, "parent.name"), arena_strdup(&cli->arena, quota),
                                           limit_of(cli, project), NULL, NULL});
}

int run_project_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name", "GPU Quota", "Allocated GPUs", "GPU Allocation Ratio"};
    static const char *const OLD_TITLES[] = {"PROJECT",   "DEPARTMENT",   "DESERVED GPUs",
                                             "INT LIMIT", "INT AFFINITY", "TRAIN AFFINITY"};
    if (cli->command->is_old)
        return show_list(cli, "/api/v1/org-unit/projects?sortBy=name", "projects", COLUMNS(OLD_TITLES), add_old_project,
                         err);
    return show_list(cli, "/api/v1/org-unit/projects?sortBy=name", "projects", COLUMNS(TITLES), add_unit, err);
}

int run_department_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name", "GPU Quota", "Allocated GPUs", "GPU Allocation Ratio"};
    return show_list(cli, "/api/v1/org-unit/departments?verbosity=verbose&sortBy=name", "departments", COLUMNS(TITLES),
                     add_unit, err);
}

static void add_cluster(struct cli *cli, const json_t *cluster, struct table *table)
{
    const char *current = profile_get(&cli->profile, "cluster", "uuid");
    bool is_current = current && strcmp(current, cli_text(cluster, "uuid")) == 0;
    table_add(table, (const char *const[]){
                         arena_printf(&cli->arena, "%s%s", cli_text(cluster, "name"), is_current ? " (current)" : ""),
                         cli_text(cluster, "uuid"), cli_text(cluster, "status.state"), cli_text(cluster, "version")});
}

int run_cluster_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name", "ID", "State", "Version"};
    return show_list(cli, "/api/v1/clusters", NULL, COLUMNS(TITLES), add_cluster, err);
}

static const char *size_text(struct cli *cli, double bytes)
{
    return bytes >= 1 << 30   ? arena_printf(&cli->arena, "%.1f GiB", bytes / (1 << 30))
           : bytes >= 1 << 20 ? arena_printf(&cli->arena, "%.1f MiB", bytes / (1 << 20))
                              : arena_printf(&cli->arena, "%.0f KiB", bytes / (1 << 10));
}

static void add_part(struct cli *cli, const json_t *part, struct table *table)
{
    if (strcmp(cli_text(part, "state"), "ok") != 0)
        cli->exit_status = 1;
    table_add(table, (const char *const[]){cli_text(part, "name"), cli_text(part, "state"), cli_text(part, "problem")});
}

static void print_kept(struct cli *cli, const json_t *about)
{
    const json_t *kept;
    size_t i;
    puts("\nOn the disk:");
    json_array_foreach(json_object_get(about, "storage"), i, kept)
        printf("  %s: %s\n", cli_text(kept, "name"), size_text(cli, cli_number(kept, "sizeBytes")));
    if (json_object_get(about, "disk"))
        printf("  Free: %s of %s\n", size_text(cli, cli_number(about, "disk.freeBytes")),
               size_text(cli, cli_number(about, "disk.sizeBytes")));
    const char *newest = cli_text(about, "backups.newestAt");
    printf("  The newest backup: %s\n", *newest ? newest : "none");
}

// Ends with 1 where a part is not well, for scripts.
int run_cluster_status(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Part", "State", "Problem"};
    json_t *about;
    if (cli_get(cli, &about, err, "/api/v1/about") < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, about);
        json_decref(about);
        return 0;
    }
    printf("prorata %s, backend %s, since %s\n\n", cli_text(about, "version"), cli_text(about, "backend"),
           cli_text(about, "startedAt"));
    cli_print_list(cli, json_object_get(about, "parts"), COLUMNS(TITLES), add_part);
    printf("\n%s\n", cli_pace(cli, json_object_get(about, "scheduler")));
    if (json_object_get(about, "storage"))
        print_kept(cli, about);
    json_decref(about);
    return 0;
}

static const char *memory_text(struct cli *cli, double bytes)
{
    return arena_printf(&cli->arena, "%.1f GiB", bytes / (1 << 30));
}

static const char *labels_text(struct cli *cli, const json_t *node)
{
    const char *text = NULL, *key;
    json_t *value;
    json_object_foreach((json_t *)cli_at(node, "prorata.labels"), key, value)
        text = arena_printf(&cli->arena, "%s%s%s=%s", text ? text : "", text ? "," : "", key, json_string_value(value));
    return text;
}

static void add_node(struct cli *cli, const json_t *node, struct table *table)
{
    double gpus = cli_number(node, "gpuInfo.gpuCount"), held = cli_number(node, "prorata.allocatedGpus");
    const char *type = cli_text(node, "gpuInfo.gpuType");
    table_add(
        table,
        (const char *const[]){
            cli_text(node, "name"), cli_text(node, "status"), cli_text(node, "nodePool"), *type ? type : "-",
            arena_printf(&cli->arena, "%.0f", gpus), cli_amount(cli, held), cli_amount(cli, gpus - held),
            arena_printf(&cli->arena, "%.1f/%.1f", cli_number(node, "prorata.allocatedCpuCores"),
                         cli_number(node, "prorata.cpuCores")),
            arena_printf(&cli->arena, "%s/%s", memory_text(cli, cli_number(node, "prorata.allocatedCpuMemoryBytes")),
                         memory_text(cli, cli_number(node, "prorata.cpuMemoryBytes"))),
            table->column_count == NODE_COLUMN_COUNT ? NULL : labels_text(cli, node)});
}

int run_node_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name",           "Status",    "Node Pool",   "GPU Type", "GPU Devices",
                                         "Allocated GPUs", "Free GPUs", "CPU (Cores)", "Memory",   "Labels"};
    size_t count = flag_is_set(&cli->arguments, "show-labels") ? NODE_COLUMN_COUNT + 1 : NODE_COLUMN_COUNT;
    return show_list(cli, "/api/v1/nodes?sortBy=name", "nodes", TITLES, count, add_node, err);
}

static void add_type(struct cli *cli, const json_t *type, struct table *table)
{
    (void)cli;
    table_add(table, (const char *const[]){cli_text(type, "name"), cli_text(type, "group"),
                                           cli_text(type, "categoryName"), cli_text(type, "priorityName")});
}

int run_workload_type_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name", "Group", "Category", "Priority"};
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/workload-types") < 0)
        return -1;
    cli->list_key = "types";
    cli_print_list(cli, json_object_get(answer, cli->list_key), TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_type);
    json_decref(answer);
    return 0;
}

struct pool_figures {
    double gpus, held;
    long nodes, ready;
};

// Figures of a pool ("" for all of them) from the nodes' list.
static struct pool_figures sum_nodes(const json_t *nodes, const char *pool)
{
    struct pool_figures sum = {0};
    json_t *node;
    size_t i;
    json_array_foreach(nodes, i, node) {
        if (*pool && strcmp(cli_text(node, "nodePool"), pool) != 0)
            continue;
        sum.nodes++;
        sum.ready += strcmp(cli_text(node, "status"), "Ready") == 0;
        sum.gpus += cli_number(node, "gpuInfo.gpuCount");
        sum.held += cli_number(node, "prorata.allocatedGpus");
    }
    return sum;
}

int run_nodepool_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name", "Label", "Status", "Nodes", "GPUs", "Allocated GPUs"};
    json_t *pools, *nodes, *pool;
    size_t i;
    if (cli_get_all(cli, "/api/v1/node-pools?sortBy=name", "nodepools", &pools, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print_entries(cli, pools);
        json_decref(pools);
        return 0;
    }
    if (cli_get_all(cli, "/api/v1/nodes", "nodes", &nodes, err) < 0) {
        json_decref(pools);
        return -1;
    }
    struct table table;
    table_init(&table, &cli->arena, COLUMNS(TITLES));
    json_array_foreach(pools, i, pool) {
        const char *name = cli_text(pool, "name"), *key = cli_text(pool, "labelKey");
        struct pool_figures sum = sum_nodes(nodes, name);
        table_add(&table, (const char *const[]){
                              name, *key ? arena_printf(&cli->arena, "%s=%s", key, cli_text(pool, "labelValue")) : "-",
                              cli_text(pool, "phase"), arena_printf(&cli->arena, "%ld", sum.nodes),
                              arena_printf(&cli->arena, "%.0f", sum.gpus), cli_amount(cli, sum.held)});
    }
    cli_print_table(cli, &table);
    json_array_foreach(pools, i, pool) {
        if (*cli_text(pool, "phaseMessage"))
            printf("%s\n", cli_text(pool, "phaseMessage"));
    }
    json_decref(nodes);
    json_decref(pools);
    return 0;
}

int run_cluster_info(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"NODE POOL", "NODES", "READY", "GPUs", "ALLOCATED GPUs", "FREE GPUs"};
    json_t *pools, *nodes, *pool;
    size_t i;
    if (cli_get_all(cli, "/api/v1/node-pools?sortBy=name", "nodepools", &pools, err) < 0)
        return -1;
    if (cli_get_all(cli, "/api/v1/nodes", "nodes", &nodes, err) < 0) {
        json_decref(pools);
        return -1;
    }
    struct table table;
    table_init(&table, &cli->arena, COLUMNS(TITLES));
    for (i = 0; i <= json_array_size(pools); i++) {
        pool = json_array_get(pools, i);
        const char *name = pool ? cli_text(pool, "name") : "";
        struct pool_figures sum = sum_nodes(nodes, name);
        table_add(&table, (const char *const[]){pool ? name : "total", arena_printf(&cli->arena, "%ld", sum.nodes),
                                                arena_printf(&cli->arena, "%ld", sum.ready),
                                                arena_printf(&cli->arena, "%.0f", sum.gpus), cli_amount(cli, sum.held),
                                                cli_amount(cli, sum.gpus - sum.held)});
    }
    cli_print_table(cli, &table);
    json_decref(nodes);
    json_decref(pools);
    return 0;
}

static const char *bound(struct cli *cli, const json_t *value)
{
    return json_is_number(value) ? cli_amount(cli, json_number_value(value)) : "unlimited";
}

static void print_resources(struct cli *cli, const json_t *project)
{
    static const char *const TITLES[] = {"NODE POOL",      "GPU QUOTA",       "GPU LIMIT", "WEIGHT",
                                         "ALLOCATED GPUs", "NON-PREEMPTIBLE", "REQUESTED", "RANK"};
    struct table table;
    json_t *resource;
    size_t i;
    table_init(&table, &cli->arena, COLUMNS(TITLES));
    json_array_foreach(cli_at(project, "resources"), i, resource) {
        const json_t *status = json_array_get(cli_at(project, "status.nodePoolQuotaStatuses"), i);
        table_add(&table, (const char *const[]){
                              cli_text(resource, "nodePool.name"), bound(cli, cli_at(resource, "gpu.deserved")),
                              bound(cli, cli_at(resource, "gpu.limit")),
                              arena_printf(&cli->arena, "%g", cli_number(resource, "gpu.overQuotaWeight")),
                              cli_amount(cli, cli_number(status, "allocated.gpu")),
                              cli_amount(cli, cli_number(status, "allocatedNonPreemptible.gpu")),
                              cli_amount(cli, cli_number(status, "requested.gpu")), cli_text(resource, "rank")});
    }
    table_print(&table, TABLE_PLAIN, flag_text(&cli->arguments, "columns"), 1);
}

int run_get_resources(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *project;
    if (cli_project_name(cli, &name, err) < 0 || cli_find_project(cli, name, &project, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, project);
    else
        print_resources(cli, project);
    json_decref(project);
    return 0;
}

// What each person may have and use, its own or the department's word.
static void print_bounds(const json_t *project)
{
    static const char *const BOUNDS[][2] = {
        {"maxGpusPerPerson", "GPUs Of Each Person"},
        {"maxWorkloadsPerPerson", "Running Workloads Of Each Person"},
        {"maxWaitingGpusPerPerson", "Waiting GPUs Of Each Person"},
    };
    static const char *const BUDGETS[][2] = {
        {"gpuHourBudget", "Budget"},
        {"gpuHourBudgetPerPerson", "Budget Of Each Person"},
    };
    const json_t *rules = cli_at(project, "effective.schedulingRules");
    for (size_t i = 0; i < sizeof(BOUNDS) / sizeof(BOUNDS[0]); i++)
        if (json_is_number(json_object_get(rules, BOUNDS[i][0])))
            printf("%s: at most %g\n", BOUNDS[i][1], cli_number(rules, BOUNDS[i][0]));
    for (size_t i = 0; i < sizeof(BUDGETS) / sizeof(BUDGETS[0]); i++)
        if (json_is_number(json_object_get(rules, BUDGETS[i][0])))
            printf("%s: %g GPU hours of each %s\n", BUDGETS[i][1], cli_number(rules, BUDGETS[i][0]),
                   *cli_text(rules, "budgetPeriod") ? cli_text(rules, "budgetPeriod") : "month");
    if (json_is_true(json_object_get(rules, "fairAmongPeople")))
        puts("Fair Among People: who has used least goes first");
    puts("");
}

int run_describe_project(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *project;
    if (cli_name(cli, &name, err) < 0 || cli_find_project(cli, name, &project, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, project);
    } else {
        printf("Name: %s\nID: %s\nDepartment: %s\nNamespace: %s\nStatus: %s\nGPU Quota: %s\nAllocated GPUs: %s\n", name,
               cli_text(project, "id"), cli_text(project, "parent.name"), cli_text(project, "status.namespace"),
               cli_text(project, "status.phase"), cli_amount(cli, cli_number(project, "totalResources.gpuQuota")),
               cli_amount(cli, cli_number(project, "status.quotaStatus.allocated.gpu")));
        print_bounds(project);
        print_resources(cli, project);
    }
    json_decref(project);
    return 0;
}
