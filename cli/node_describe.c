// describe node: what a node has, what is held of it, its labels, and its GPUs with who holds them.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

static int find_node(struct cli *cli, const char *name, json_t **out_node, struct error *err)
{
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/nodes?filterBy=%s",
                client_escape(&cli->client, arena_printf(&cli->arena, "name==%s", name))) < 0)
        return -1;
    json_t *node = json_incref(json_array_get(json_object_get(answer, "nodes"), 0));
    json_decref(answer);
    if (!node)
        return error_set(err, ERROR_NOT_FOUND, "no node was found: %s", name);
    *out_node = node;
    return 0;
}

static const char *holders_of(struct cli *cli, const json_t *device)
{
    const json_t *workload;
    const char *list = NULL;
    size_t i;
    json_array_foreach(json_object_get(device, "workloads"), i, workload) {
        const char *project = cli_text(workload, "projectName");
        list = arena_printf(&cli->arena, "%s%s%s%s%s", list ? list : "", list ? ", " : "", project, *project ? "/" : "",
                            cli_text(workload, "name"));
    }
    return list;
}

static void add_device(struct cli *cli, const json_t *device, struct table *table)
{
    const json_t *workload, *used = json_object_get(device, "utilization");
    double share = 0;
    size_t i;
    json_array_foreach(json_object_get(device, "workloads"), i, workload)
        share += cli_number(workload, "share");
    table_add(table, (const char *const[]){
                         arena_printf(&cli->arena, "%.0f", cli_number(device, "index")), cli_text(device, "state"),
                         cli_amount(cli, share),
                         json_is_number(used) ? arena_printf(&cli->arena, "%.0f%%", json_number_value(used)) : NULL,
                         holders_of(cli, device)});
}

static void print_cordon(const json_t *node)
{
    if (json_is_object(cli_at(node, "prorata.cordon")))
        printf("Cordoned: %s (%s, %s%s)\n", cli_text(node, "prorata.cordon.reason"),
               cli_text(node, "prorata.cordon.by"), cli_text(node, "prorata.cordon.at"),
               json_is_true(cli_at(node, "prorata.cordon.draining")) ? ", drains" : "");
    else if (json_is_true(cli_at(node, "prorata.cordoned")))
        printf("Cordoned: by the cluster\n");
}

static void print_node(struct cli *cli, const json_t *node)
{
    static const char *const TITLES[] = {"GPU", "STATE", "ALLOCATED", "UTILIZATION", "HELD BY"};
    const char *type = cli_text(node, "gpuInfo.gpuType"), *key;
    const json_t *device;
    json_t *value;
    size_t i;
    printf("Name: %s\nStatus: %s\n", cli_text(node, "name"), cli_text(node, "status"));
    print_cordon(node);
    printf("Node Pool: %s\nGPU Type: %s\nLabels:\n", cli_text(node, "nodePool"), *type ? type : "-");
    json_object_foreach((json_t *)cli_at(node, "prorata.labels"), key, value)
        printf("  %s=%s\n", key, json_string_value(value));
    printf("Resources (allocated of all):\n  nvidia.com/gpu: %s of %.0f\n  cpu: %.1f of %.1f cores\n"
           "  memory: %.1f of %.1f GiB\n  pods: %.0f\n\n",
           cli_amount(cli, cli_number(node, "prorata.allocatedGpus")), cli_number(node, "gpuInfo.gpuCount"),
           cli_number(node, "prorata.allocatedCpuCores"), cli_number(node, "prorata.cpuCores"),
           cli_number(node, "prorata.allocatedCpuMemoryBytes") / (1 << 30),
           cli_number(node, "prorata.cpuMemoryBytes") / (1 << 30), cli_number(node, "prorata.podCount"));
    struct table table;
    table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
    json_array_foreach(cli_at(node, "prorata.devices"), i, device)
        add_device(cli, device, &table);
    table_print(&table, TABLE_PLAIN, NULL, 1);
}

int run_node_describe(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *node = NULL;
    if (cli_name(cli, &name, err) < 0 || find_node(cli, name, &node, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, node);
    else
        print_node(cli, node);
    json_decref(node);
    return 0;
}
