// A node: what it has, what is held of it, its labels, its GPUs with who holds them; and node label, cordon, drain and
// uncordon, in kubectl's words.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

// *out_node is NULL where the caller sees no node of that name.
static int find_node(struct cli *cli, const char *name, json_t **out_node, struct error *err)
{
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/nodes?filterBy=%s",
                client_escape(&cli->client, arena_printf(&cli->arena, "name==%s", name))) < 0)
        return -1;
    *out_node = json_incref(json_array_get(json_object_get(answer, "nodes"), 0));
    json_decref(answer);
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
    if (!node)
        return error_set(err, ERROR_NOT_FOUND, "no node was found: %s", name);
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, node);
    else
        print_node(cli, node);
    json_decref(node);
    return 0;
}

// KEY=VALUE or KEY-.
static int add_change(struct cli *cli, const char *word, json_t *labels, struct error *err)
{
    const char *equals = strchr(word, '=');
    size_t length = strlen(word);
    if (equals && equals > word)
        json_object_set_new(labels, arena_printf(&cli->arena, "%.*s", (int)(equals - word), word),
                            json_string(equals + 1));
    else if (!equals && length > 1 && word[length - 1] == '-')
        json_object_set_new(labels, arena_printf(&cli->arena, "%.*s", (int)(length - 1), word), json_null());
    else
        return error_set(err, ERROR_INVALID, "%s: KEY=VALUE sets a label, KEY- removes it", word);
    return 0;
}

int run_node_label(struct cli *cli, struct error *err)
{
    const struct arguments *arguments = &cli->arguments;
    const char *name;
    json_t *node = NULL, *labels = json_object();
    int rc = cli_name(cli, &name, err);
    if (rc == 0 && arguments->word_count < 2)
        rc = error_set(err, ERROR_INVALID, "a label is missing: %s %s %s", cli->program, cli->command->words,
                       cli->command->usage);
    for (size_t i = 1; rc == 0 && i < arguments->word_count; i++)
        rc = add_change(cli, arguments->words[i], labels, err);
    if (rc == 0) {
        json_t *body = json_pack("{s:O}", "labels", labels);
        const char *path = arena_printf(&cli->arena, "/api/v1/nodes/%s", client_escape(&cli->client, name));
        rc = client_call(&cli->client, "PATCH", path, body, &node, err);
        json_decref(body);
    }
    if (rc == 0 && !flag_is_set(arguments, "quiet"))
        printf("node/%s labeled; it is in node pool %s\n", name, cli_text(node, "nodePool"));
    json_decref(node);
    json_decref(labels);
    return rc;
}

static int change(struct cli *cli, const char *action, json_t *body, const char *done, struct error *err)
{
    const char *name;
    json_t *node = NULL;
    int rc = cli_name(cli, &name, err);
    if (rc == 0)
        rc = find_node(cli, name, &node, err);
    if (rc == 0 && !node)
        rc = error_set(err, ERROR_NOT_FOUND, "node %.80s: not found", name);
    if (rc == 0)
        rc = client_call(&cli->client, "POST",
                         arena_printf(&cli->arena, "/api/v1/nodes/%s/%s", cli_text(node, "id"), action), body, NULL,
                         err);
    if (rc == 0 && !flag_is_set(&cli->arguments, "quiet"))
        printf("node/%s %s\n", name, done);
    json_decref(node);
    json_decref(body);
    return rc;
}

static int check_reason(struct cli *cli, const char **out_reason, struct error *err)
{
    *out_reason = flag_text(&cli->arguments, "reason");
    return *out_reason ? 0 : error_set(err, ERROR_INVALID, "--reason says why, to whoever waits for the node");
}

int run_node_cordon(struct cli *cli, struct error *err)
{
    const char *reason;
    if (check_reason(cli, &reason, err) < 0)
        return -1;
    return change(cli, "cordon", json_pack("{s:s}", "reason", reason), "cordoned: nothing new is placed there", err);
}

int run_node_drain(struct cli *cli, struct error *err)
{
    const char *reason;
    if (check_reason(cli, &reason, err) < 0)
        return -1;
    bool is_forced = flag_is_set(&cli->arguments, "force");
    return change(cli, "drain", json_pack("{s:s, s:b}", "reason", reason, "force", is_forced),
                  is_forced ? "drains: everything leaves it" : "drains: what may be preempted leaves it", err);
}

int run_node_uncordon(struct cli *cli, struct error *err)
{
    return change(cli, "uncordon", NULL, "uncordoned", err);
}
