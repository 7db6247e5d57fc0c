// One workload: what it is, what it asks for and holds, its pods and events; the present form and the first
// generation's.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/what_if.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
    json_t *workload, *submitted, *pods, *events, *explanation, *what_if;
};

static void release(struct view *view)
{
    json_decref(view->workload);
    json_decref(view->submitted);
    json_decref(view->pods);
    json_decref(view->events);
    json_decref(view->explanation);
    json_decref(view->what_if);
}

static int limit_flag(const struct cli *cli, const char *name, int fallback)
{
    const char *text = flag_text(&cli->arguments, name);
    return text ? atoi(text) : fallback;
}

static bool wants(const struct cli *cli, const char *part)
{
    const struct flag_value *value = flag_values(&cli->arguments, part);
    return !value || flag_is_set(&cli->arguments, part);
}

static bool newest_first(const struct cli *cli)
{
    const char *order = flag_text(&cli->arguments, "sortEvents");
    return order && strcmp(order, "desc") == 0;
}

static int check_order(const struct cli *cli, struct error *err)
{
    const char *order = flag_text(&cli->arguments, "sortEvents");
    if (!order || strcmp(order, "asc") == 0 || strcmp(order, "desc") == 0)
        return 0;
    return error_set(err, ERROR_INVALID, "--sortEvents: asc or desc, got %.60s", order);
}

static int load(struct cli *cli, struct view *view, struct error *err)
{
    const char *name;
    if (check_order(cli, err) < 0 || cli_name(cli, &name, err) < 0 ||
        cli_look_up_workload(cli, name, &view->workload, err) < 0)
        return -1;
    const char *id = cli_text(view->workload, "id"), *path = cli_path_of_type(cli_text(view->workload, "type"));
    if (cli_get(cli, &view->submitted, err, "/api/v1/workloads/%s/%s", path, id) < 0 ||
        cli_get(cli, &view->pods, err, "/api/v1/workloads/%s/pods?limit=500", id) < 0 ||
        cli_get(cli, &view->events, err, "/api/v1/workloads/%s/events?limit=500&sortOrder=asc", id) < 0)
        return -1;
    // Only what waits is explained; the way out is for who reads it.
    if (strcmp(cli_text(view->workload, "phase"), "Pending") == 0) {
        cli_get(cli, &view->explanation, NULL, "/api/v1/workloads/%s/explanation", id);
        if (cli_output(cli) == OUTPUT_TABLE)
            cli_get(cli, &view->what_if, NULL, "/api/v1/workloads/%s/what-if", id);
    }
    return 0;
}

static void print_general(struct cli *cli, const struct view *view)
{
    const json_t *workload = view->workload;
    const char *command = cli_text(view->submitted, "spec.command"), *args = cli_text(view->submitted, "spec.args");
    const char *message = cli_text(workload, "phaseMessage");
    printf("General\n  Name:            %s\n  ID:              %s\n  Type:            %s\n", cli_text(workload, "name"),
           cli_text(workload, "id"), cli_text(workload, "type"));
    const char *framework = cli_text(view->submitted, "spec.distributedFramework");
    if (*framework)
        printf("  Framework:       %s\n", framework);
    printf("  Project:         %s\n  Department:      %s\n  Cluster:         %s\n  Phase:           %s%s%s\n",
           cli_text(workload, "projectName"), cli_text(workload, "departmentName"), cli_text(workload, "clusterId"),
           cli_text(workload, "phase"), *message && strcmp(message, cli_text(workload, "phase")) != 0 ? " - " : "",
           strcmp(message, cli_text(workload, "phase")) != 0 ? message : "");
    printf(
        "  Created:         %s (%s ago)\n  Submitted by:    %s\n  Priority:        %s (%.0f)\n  Preemptible:     %s\n",
        cli_text(workload, "createdAt"), cli_age(cli, cli_text(workload, "createdAt")),
        cli_text(workload, "submittedBy"), cli_text(workload, "priorityClassName"), cli_number(workload, "priority"),
        json_is_true(cli_at(workload, "preemptible")) ? "Yes" : "No");
    printf("  Image:           %s\n  Command:         %s%s%s\n", cli_text(view->submitted, "spec.image"), command,
           *command && *args ? " " : "", args);
    const char *why = cli_text(view->explanation, "sentence");
    const char *fixes = what_if_fixes_text(cli, view->what_if);
    if (*why)
        printf("  Why pending:     %s\n", why);
    if (*fixes)
        printf("  Would start it:  %s.\n", fixes);
}

static void print_compute(struct cli *cli, const json_t *workload)
{
    static const char *const TITLES[] = {"", "Requested", "Allocated"};
    struct table table;
    table_init(&table, &cli->arena, TITLES, 3);
    puts("\nCompute Resources");
    table_add(&table,
              (const char *const[]){"GPU Compute",
                                    cli_amount(cli, cli_number(workload, "workloadRequestedResources.gpu.request")),
                                    cli_amount(cli, cli_number(workload, "allocatedResources.gpu"))});
    if (cli_at(workload, "workloadRequestedResources.gpuMemory.request"))
        table_add(&table, (const char *const[]){
                              "GPU Memory", cli_text(workload, "workloadRequestedResources.gpuMemory.request"), "-"});
    table_add(&table,
              (const char *const[]){"CPU Compute",
                                    cli_amount(cli, cli_number(workload, "workloadRequestedResources.cpu.request")),
                                    cli_amount(cli, cli_number(workload, "allocatedResources.cpu"))});
    table_add(&table,
              (const char *const[]){"CPU Memory", cli_text(workload, "workloadRequestedResources.cpuMemory.request"),
                                    cli_text(workload, "allocatedResources.cpuMemory")});
    table_print(&table, TABLE_RULED, NULL, 1);
}

// "required topology/rack of dc, preferred host"; "" where there is none.
static const char *topology_words(struct cli *cli, const json_t *topology)
{
    const char *required = cli_text(topology, "required"), *preferred = cli_text(topology, "preferred");
    if (!*required && !*preferred)
        return "";
    return arena_printf(&cli->arena, "%s%s%s%s%s of %s", *required ? "required " : "", required,
                        *required && *preferred ? ", " : "", *preferred ? "preferred " : "", preferred,
                        cli_text(topology, "name"));
}

static const char *count_words(struct cli *cli, const json_t *group)
{
    if (cli_at(group, "minSubGroups"))
        return arena_printf(&cli->arena, "%.0f sub-groups", cli_number(group, "minSubGroups"));
    return arena_printf(&cli->arena, "%.0f of %.0f pods", cli_number(group, "minPods"),
                        cli_number(group, "workers") + json_is_true(cli_at(group, "master")));
}

static void print_sub_groups(struct cli *cli, const json_t *submitted)
{
    static const char *const TITLES[] = {"Name", "Part of", "Needs", "Topology"};
    const char *topology = topology_words(cli, cli_at(submitted, "spec.topology"));
    const json_t *groups = cli_at(submitted, "spec.subGroups");
    if (*topology)
        printf("  Topology:        %s\n", topology);
    if (json_array_size(groups) == 0)
        return;
    struct table table;
    table_init(&table, &cli->arena, TITLES, 4);
    printf("\nSub-groups (%.0f of those without a parent are needed)\n", cli_number(submitted, "spec.minSubGroups"));
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        const char *parent = cli_text(group, "parent"), *words = topology_words(cli, cli_at(group, "topology"));
        table_add(&table, (const char *const[]){cli_text(group, "name"), *parent ? parent : "-",
                                                count_words(cli, group), *words ? words : "-"});
    }
    table_print(&table, TABLE_RULED, NULL, 1);
}

static void print_pods(struct cli *cli, const json_t *pods, int limit)
{
    static const char *const TITLES[] = {"Name", "Phase", "Node", "Node Pool", "GPU Alloc."};
    struct table table;
    json_t *pod;
    size_t i;
    table_init(&table, &cli->arena, TITLES, 5);
    puts("\nPods");
    json_array_foreach(json_object_get(pods, "pods"), i, pod) {
        if (limit >= 0 && (int)i >= limit)
            break;
        const char *node = cli_text(pod, "nodeName"), *pool = cli_text(pod, "currentNodePool");
        table_add(&table, (const char *const[]){cli_text(pod, "name"), cli_text(pod, "k8sPhase"), *node ? node : "-",
                                                *pool ? pool : "-",
                                                cli_amount(cli, cli_number(pod, "allocatedResources.gpu"))});
    }
    table_print(&table, TABLE_RULED, NULL, 1);
    json_array_foreach(json_object_get(pods, "pods"), i, pod) {
        if (limit >= 0 && (int)i >= limit)
            break;
        if (*cli_text(pod, "message"))
            printf("  %s: %s\n", cli_text(pod, "name"), cli_text(pod, "message"));
    }
}

// "public", "authorizedUsers", as the specification has it; "-" of a port of another kind.
static const char *who_may_reach(const json_t *spec, double port)
{
    const json_t *urls = cli_at(spec, "exposedUrls");
    const char *type = cli_text(spec, "servingPort.authorizationType");
    for (size_t i = 0; i < json_array_size(urls); i++)
        if (cli_number(json_array_get(urls, i), "container") == port) {
            const char *of_url = cli_text(json_array_get(urls, i), "authorizationType");
            return *of_url ? of_url : "public";
        }
    return *type && cli_number(spec, "servingPort.container") == port ? type : "-";
}

static void print_networks(struct cli *cli, const json_t *workload, const json_t *spec)
{
    static const char *const TITLES[] = {"Port", "Address", "Who May"};
    const json_t *list = cli_at(workload, "externalConnections");
    struct table table;
    json_t *connection;
    size_t i;
    if (json_array_size(list) == 0)
        return;
    table_init(&table, &cli->arena, TITLES, 3);
    puts("\nNetworks");
    json_array_foreach(list, i, connection) {
        const char *url = cli_text(connection, "url");
        double port = cli_number(connection, "containerPort");
        table_add(&table, (const char *const[]){arena_printf(&cli->arena, "%.0f", port), *url ? url : "-",
                                                who_may_reach(spec, port)});
    }
    table_print(&table, TABLE_RULED, NULL, 1);
}

// What each volume is made of, in the order of the specification.
static void print_storage(struct cli *cli, const json_t *submitted)
{
    static const char *const TITLES[] = {"Kind", "From", "Path"};
    static const char *const FROM[] = {"claimName", "server", "repository", "bucket",
                                       "configMap", "secret", "name",       "path"};
    static const char *const TO[] = {"mountPath", "path"};
    struct table table;
    const char *kind;
    json_t *list, *volume;
    size_t i;
    table_init(&table, &cli->arena, TITLES, 3);
    json_object_foreach((json_t *)cli_at(submitted, "spec.storage"), kind, list)
        json_array_foreach(list, i, volume) {
            const char *from = "", *to = "";
            for (size_t k = 0; !*from && k < sizeof(FROM) / sizeof(FROM[0]); k++)
                from = cli_text(volume, FROM[k]);
            for (size_t k = 0; !*to && k < sizeof(TO) / sizeof(TO[0]); k++)
                to = cli_text(volume, TO[k]);
            table_add(&table, (const char *const[]){kind, from, to});
        }
    if (table.row_count == 0)
        return;
    puts("\nStorage");
    table_print(&table, TABLE_RULED, NULL, 1);
}

// A pod has one container, named as its workload.
static void print_container(struct cli *cli, const struct view *view)
{
    static const char *const TITLES[] = {"Name", "Image", "Command", "Arguments", "Variables"};
    const json_t *spec = cli_at(view->submitted, "spec");
    struct table table;
    table_init(&table, &cli->arena, TITLES, 5);
    table_add(&table, (const char *const[]){
                          cli_text(view->workload, "name"), cli_text(spec, "image"), cli_text(spec, "command"),
                          cli_text(spec, "args"),
                          arena_printf(&cli->arena, "%zu", json_array_size(cli_at(spec, "environmentVariables")))});
    puts("\nContainers");
    table_print(&table, TABLE_RULED, NULL, 1);
}

static void print_events(struct cli *cli, const json_t *events, int limit)
{
    static const char *const TITLES[] = {"Time", "Type", "Reason", "Message"};
    const json_t *list = json_object_get(events, "events");
    size_t count = json_array_size(list), first = limit >= 0 && count > (size_t)limit ? count - (size_t)limit : 0;
    struct table table;
    table_init(&table, &cli->arena, TITLES, 4);
    puts("\nEvents");
    for (size_t i = first; i < count; i++) {
        const json_t *event = json_array_get(list, newest_first(cli) ? count - 1 - (i - first) : i);
        table_add(&table, (const char *const[]){cli_text(event, "createdAt"), cli_text(event, "type"),
                                                cli_text(event, "reason"), cli_text(event, "message")});
    }
    table_print(&table, TABLE_RULED, NULL, 1);
}

static void print_present(struct cli *cli, const struct view *view)
{
    if (wants(cli, "general")) {
        print_general(cli, view);
        print_sub_groups(cli, view->submitted);
    }
    if (wants(cli, "compute"))
        print_compute(cli, view->workload);
    if (wants(cli, "pods"))
        print_pods(cli, view->pods, limit_flag(cli, "pod-limit", 10));
    if (flag_is_set(&cli->arguments, "containers"))
        print_container(cli, view);
    if (wants(cli, "networks"))
        print_networks(cli, view->workload, cli_at(view->submitted, "spec"));
    if (wants(cli, "storage"))
        print_storage(cli, view->submitted);
    if (wants(cli, "show-events"))
        print_events(cli, view->events, limit_flag(cli, "event-limit", 50));
}

static void print_old(struct cli *cli, const struct view *view)
{
    const json_t *workload = view->workload;
    const char *command = cli_text(view->submitted, "spec.command"), *args = cli_text(view->submitted, "spec.args");
    double running = cli_number(workload, "runningPods"), wanted = cli_number(workload, "requestedPods.number");
    const char *type = cli_text(workload, "type");
    const json_t *pod = json_array_get(json_object_get(view->pods, "pods"), 0);
    const char *urls = cli_service_urls(cli, workload, cli_text(pod, "nodeName"));
    printf("NAME: %s\nNAMESPACE: %s\nTYPE: %s\nSTATUS: %s\nPriority: %s\n", cli_text(workload, "name"),
           cli_text(workload, "namespace"), strcmp(type, "Workspace") == 0 ? "Interactive" : "Train",
           cli_text(workload, "phase"), cli_text(workload, "priorityClassName"));
    const char *gpu_memory = cli_text(workload, "podsRequestedResources.gpuMemory.request");
    printf("TRAINING DURATION: %.0fs\nGPUS: %g\n", cli_number(workload, "totalRunningTimeSeconds"),
           cli_number(workload, "podsRequestedResources.gpu.request"));
    if (*gpu_memory)
        printf("GPU MEMORY: %s\n", gpu_memory);
    printf("TOTAL REQUESTED GPUS: %g\n", cli_number(workload, "workloadRequestedResources.gpu.request"));
    if (*gpu_memory)
        printf("TOTAL REQUESTED GPU MEMORY: %s\n", cli_text(workload, "workloadRequestedResources.gpuMemory.request"));
    printf("ALLOCATED GPUS: %g\nRUNNING PODS: %g\nPENDING PODS: %g\n", cli_number(workload, "allocatedResources.gpu"),
           running, wanted > running ? wanted - running : 0);
    printf("PARALLELISM: %g\nCOMPLETIONS: %g\nIS DISTRIBUTED WORKLOAD: %s\nCREATED BY CLI: %s\nSERVICE URL(S): %s"
           "\nCOMMAND LINE: %s%s%s\n",
           cli_number(workload, "requestedPods.parallelism"), cli_number(workload, "requestedPods.completions"),
           strcmp(type, "Distributed") == 0 ? "true" : "false",
           strcmp(cli_text(workload, "source"), "CLI") == 0 ? "true" : "false", urls, command,
           *command && *args ? " " : "", args);
    const char *why = cli_text(view->explanation, "sentence");
    const char *fixes = what_if_fixes_text(cli, view->what_if);
    if (*why)
        printf("WHY PENDING: %s\n", why);
    if (*fixes)
        printf("WOULD START IT: %s.\n", fixes);
    static const char *const POD_TITLES[] = {"POD", "STATUS", "TYPE", "AGE", "NODE"};
    struct table table;
    json_t *item;
    size_t i;
    table_init(&table, &cli->arena, POD_TITLES, 5);
    json_array_foreach(json_object_get(view->pods, "pods"), i, item) {
        char *status = arena_strdup(&cli->arena, cli_text(item, "k8sPhase"));
        for (char *c = status; *c; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        const char *node = cli_text(item, "nodeName");
        table_add(&table, (const char *const[]){cli_text(item, "name"), status,
                                                strcmp(type, "Workspace") == 0 ? "INTERACTIVE" : "TRAIN",
                                                cli_age(cli, cli_text(item, "createdAt")), *node ? node : "N/A"});
    }
    puts("\nPods:");
    table_print(&table, TABLE_PLAIN, NULL, 1);
    if (!wants(cli, "show-events"))
        return;
    static const char *const EVENT_TITLES[] = {"SOURCE", "TYPE", "AGE", "MESSAGE"};
    table_init(&table, &cli->arena, EVENT_TITLES, 4);
    json_array_foreach(json_object_get(view->events, "events"), i, item) {
        const char *kind = cli_text(item, "involvedObject.kind");
        table_add(&table,
                  (const char *const[]){
                      arena_printf(&cli->arena, "%s/%s", strcmp(kind, "Pod") == 0 ? "pod" : "workload",
                                   cli_text(item, "involvedObject.name")),
                      cli_text(item, "type"), cli_age(cli, cli_text(item, "createdAt")),
                      arena_printf(&cli->arena, "[%s] %s", cli_text(item, "reason"), cli_text(item, "message"))});
    }
    puts("\nEvents:");
    if (table.row_count == 0)
        puts("No events for resources");
    else
        table_print(&table, TABLE_PLAIN, NULL, 1);
}

int run_workload_describe(struct cli *cli, struct error *err)
{
    struct view view = {0};
    int rc = load(cli, &view, err);
    if (rc == 0 && cli_output(cli) != OUTPUT_TABLE) {
        json_t *all = json_pack("{s:O, s:O, s:O, s:O}", "workload", view.workload, "spec",
                                json_object_get(view.submitted, "spec"), "pods", json_object_get(view.pods, "pods"),
                                "events", json_object_get(view.events, "events"));
        cli_print(cli, all);
        json_decref(all);
    } else if (rc == 0 && cli->command->is_old) {
        print_old(cli, &view);
    } else if (rc == 0) {
        print_present(cli, &view);
    }
    release(&view);
    return rc;
}
