// top: GPUs with what is measured of them and who holds them, the processes that nobody submitted, and what nodes and
// pods use of CPU and memory.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

const json_t *cli_device_utilization(const json_t *node, size_t index)
{
    const json_t *reading = json_array_get(json_object_get(node, "readings"), index);
    const json_t *used = json_object_get(reading, "utilization");
    return json_is_number(used)
               ? used
               : json_object_get(json_array_get(json_object_get(node, "devices"), index), "utilization");
}

static const char *number_of(struct cli *cli, const json_t *value, const char *unit)
{
    return json_is_number(value) ? arena_printf(&cli->arena, "%.0f%s", json_number_value(value), unit) : "-";
}

static const char *known(struct cli *cli, const json_t *reading, const char *key, const char *unit)
{
    return number_of(cli, json_object_get(reading, key), unit);
}

static const char *holders_of(struct cli *cli, const json_t *device)
{
    const json_t *workload;
    const char *list = "";
    size_t i;
    json_array_foreach(json_object_get(device, "workloads"), i, workload) {
        const char *project = cli_text(workload, "projectName");
        list = arena_printf(&cli->arena, "%s%s%s%s%s (%s)", list, i ? ", " : "", project, *project ? "/" : "",
                            cli_text(workload, "name"), cli_amount(cli, cli_number(workload, "share")));
    }
    return *list ? list : "-";
}

static const char *state_of(const json_t *device, const json_t *reading)
{
    const char *reason = cli_text(reading, "reason");
    return *reason ? reason : cli_text(device, "state");
}

// Of the pods on the device, and how many processes are nobody's.
static const char *pods_of(struct cli *cli, const json_t *reading)
{
    const json_t *process;
    const char *list = "";
    size_t i;
    json_array_foreach(json_object_get(reading, "processes"), i, process) {
        const char *pod = cli_text(process, "podName");
        if (*pod && !strstr(list, pod))
            list = arena_printf(&cli->arena, "%s%s%s", list, *list ? ", " : "", pod);
    }
    return *list ? list : "-";
}

static void add_device(struct cli *cli, const json_t *node, size_t index, struct table *table)
{
    const json_t *device = json_array_get(json_object_get(node, "devices"), index);
    const json_t *reading = json_array_get(json_object_get(node, "readings"), index);
    const json_t *mib = json_object_get(reading, "memoryMib");
    mib = json_is_number(mib) ? mib : json_object_get(node, "gpuMemoryMib");
    const char *memory =
        arena_printf(&cli->arena, "%s/%s MiB", known(cli, reading, "memoryUsedMib", ""), number_of(cli, mib, ""));
    table_add(table, (const char *const[]){cli_text(node, "name"), arena_printf(&cli->arena, "%zu", index),
                                           number_of(cli, cli_device_utilization(node, index), "%"),
                                           json_is_number(json_object_get(reading, "memoryUsedMib")) ? memory : "-",
                                           known(cli, reading, "temperatureCelsius", " C"), state_of(device, reading),
                                           holders_of(cli, device), pods_of(cli, reading)});
}

static void add_foreign(struct cli *cli, const json_t *node, size_t index, struct table *table)
{
    const json_t *process;
    size_t i;
    const json_t *reading = json_array_get(json_object_get(node, "readings"), index);
    json_array_foreach(json_object_get(reading, "processes"), i, process) {
        if (!json_is_true(json_object_get(process, "foreign")))
            continue;
        table_add(table, (const char *const[]){cli_text(node, "name"), arena_printf(&cli->arena, "%zu", index),
                                               known(cli, process, "pid", ""), cli_text(process, "user"),
                                               cli_text(process, "command"), known(cli, process, "memoryMib", " MiB")});
    }
}

static const char *cores_of(struct cli *cli, const json_t *of, const char *key)
{
    return arena_printf(&cli->arena, "%.2f", cli_number(of, key));
}

static const char *gib_of(struct cli *cli, const json_t *of, const char *key)
{
    return arena_printf(&cli->arena, "%.1f GiB", cli_number(of, key) / (1 << 30));
}

static bool is_used_known(const json_t *of)
{
    return json_is_number(json_object_get(of, "usedCpuCores"));
}

static void add_node_load(struct cli *cli, const json_t *node, struct table *table)
{
    if (is_used_known(node))
        table_add(table, (const char *const[]){cli_text(node, "name"), cores_of(cli, node, "usedCpuCores"),
                                               cores_of(cli, node, "allocatedCpuCores"),
                                               cores_of(cli, node, "cpuCores"), gib_of(cli, node, "usedCpuMemoryBytes"),
                                               gib_of(cli, node, "allocatedCpuMemoryBytes"),
                                               gib_of(cli, node, "cpuMemoryBytes")});
}

static void add_pod_load(struct cli *cli, const json_t *node, const json_t *pod, struct table *table)
{
    const char *name = cli_text(pod, "podName");
    if (is_used_known(pod))
        table_add(table,
                  (const char *const[]){*name ? name : cli_text(pod, "workload.name"), cli_text(node, "name"),
                                        cores_of(cli, pod, "usedCpuCores"), cores_of(cli, pod, "cpuCores"),
                                        gib_of(cli, pod, "usedCpuMemoryBytes"), gib_of(cli, pod, "cpuMemoryBytes")});
}

// Nothing where nobody measures it.
static void print_loads(struct cli *cli, const json_t *nodes, bool has_titles)
{
    static const char *const NODES[] = {"Node",        "CPU used",         "CPU allocated", "CPU cores",
                                        "Memory used", "Memory allocated", "Memory"};
    static const char *const PODS[] = {"Pod", "Node", "CPU used", "CPU asked", "Memory used", "Memory asked"};
    struct table of_nodes, of_pods;
    const json_t *node, *pod;
    size_t i, k;
    table_init(&of_nodes, &cli->arena, NODES, sizeof(NODES) / sizeof(NODES[0]));
    table_init(&of_pods, &cli->arena, PODS, sizeof(PODS) / sizeof(PODS[0]));
    json_array_foreach(nodes, i, node) {
        add_node_load(cli, node, &of_nodes);
        json_array_foreach(json_object_get(node, "pods"), k, pod)
            add_pod_load(cli, node, pod, &of_pods);
    }
    if (of_nodes.row_count > 0) {
        puts("\nCPU and memory of nodes:");
        table_print(&of_nodes, TABLE_RULED, NULL, has_titles);
    }
    if (of_pods.row_count > 0) {
        puts("\nCPU and memory of pods:");
        table_print(&of_pods, TABLE_RULED, NULL, has_titles);
    }
}

static void print_tables(struct cli *cli, const json_t *nodes)
{
    static const char *const TITLES[] = {"Node",        "GPU",   "Utilization", "Memory",
                                         "Temperature", "State", "Held by",     "Pods on it"};
    static const char *const FOREIGN[] = {"Node", "GPU", "Process", "User", "Command", "Memory"};
    struct table devices, processes;
    const json_t *node;
    size_t i;
    bool has_titles = !flag_is_set(&cli->arguments, "no-headers");
    const char *columns = flag_text(&cli->arguments, "columns");
    table_init(&devices, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
    table_init(&processes, &cli->arena, FOREIGN, sizeof(FOREIGN) / sizeof(FOREIGN[0]));
    json_array_foreach(nodes, i, node) {
        for (size_t k = 0; k < json_array_size(json_object_get(node, "devices")); k++) {
            add_device(cli, node, k, &devices);
            add_foreign(cli, node, k, &processes);
        }
    }
    table_print(&devices, TABLE_RULED, columns, has_titles);
    if (processes.row_count > 0) {
        puts("\nProcesses that nobody submitted:");
        table_print(&processes, TABLE_RULED, NULL, has_titles);
    }
    print_loads(cli, nodes, has_titles);
}

int run_top(struct cli *cli, struct error *err)
{
    json_t *nodes;
    if (cli_get_all(cli, "/api/v1/devices?sortBy=name", "nodes", &nodes, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, nodes);
    else
        print_tables(cli, nodes);
    json_decref(nodes);
    return 0;
}
