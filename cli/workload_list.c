// Workloads as a table: the present one, and the first generation's.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/what_if.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const TITLES[] = {"Workload",         "Type",       "Status",      "Project",
                                     "Running/Req.Pods", "GPU Alloc.", "Preemptible", "Node Pool",
                                     "Priority",         "Age",        "Submitted By"};
static const char USUAL_COLUMNS[] = "Workload,Type,Status,Project,Running/Req.Pods,GPU Alloc.";
// `list`, as its documents write it.
static const char *const SHORT_TITLES[] = {"Workload", "Type", "Status", "Project", "Running/Req. Pods", "GPU Alloc."};
static const char *const OLD_TITLES[] = {"NAME",
                                         "STATUS",
                                         "AGE",
                                         "NODE",
                                         "IMAGE",
                                         "TYPE",
                                         "PROJECT",
                                         "USER",
                                         "GPUs Allocated (Requested)",
                                         "PODs Running (Pending)",
                                         "SERVICE URL(S)"};

// The first generation's words for phases and types.
static const char *old_status(const char *phase)
{
    static const char *const WORDS[][2] = {{"Completed", "Succeeded"},    {"Initializing", "ContainerCreating"},
                                           {"Creating", "Pending"},       {"Resuming", "Pending"},
                                           {"Deleting", "Terminating"},   {"Stopping", "Terminating"},
                                           {"Terminating", "Terminating"}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcmp(WORDS[i][0], phase) == 0)
            return WORDS[i][1];
    return phase;
}

const char *cli_old_type(const json_t *workload)
{
    const char *type = cli_text(workload, "type");
    return strcmp(type, "Workspace") == 0 ? "Interactive" : strcmp(type, "Inference") == 0 ? "Inference" : "Train";
}

static int has_ended(const json_t *workload)
{
    const char *phase = cli_text(workload, "phase");
    return strcmp(phase, "Completed") == 0 || strcmp(phase, "Failed") == 0 || strcmp(phase, "Stopped") == 0;
}

// What it holds; of what waits, what it will hold when it runs.
static double gpus_of(const json_t *workload)
{
    double held = cli_number(workload, "allocatedResources.gpu");
    return held > 0 || has_ended(workload) ? held : cli_number(workload, "workloadRequestedResources.gpu.request");
}

static void add_row(struct cli *cli, const json_t *workload, struct table *table)
{
    table_add(table,
              (const char *const[]){cli_text(workload, "name"), cli_text(workload, "type"), cli_text(workload, "phase"),
                                    cli_text(workload, "projectName"),
                                    arena_printf(&cli->arena, "%.0f/%.0f", cli_number(workload, "runningPods"),
                                                 cli_number(workload, "requestedPods.number")),
                                    cli_amount(cli, gpus_of(workload)),
                                    json_is_true(cli_at(workload, "preemptible")) ? "Yes" : "No",
                                    json_string_value(json_array_get(cli_at(workload, "currentNodePools"), 0)),
                                    cli_text(workload, "priorityClassName"),
                                    cli_age(cli, cli_text(workload, "createdAt")), cli_text(workload, "submittedBy")});
}

// Where a workload's pods are: one node, several, or none.
static const char *node_of(const json_t *pods, const char *workload_id)
{
    const char *node = NULL;
    json_t *pod;
    size_t i;
    json_array_foreach(pods, i, pod) {
        const char *name = cli_text(pod, "nodeName");
        if (strcmp(cli_text(pod, "workloadId"), workload_id) != 0 || !*name)
            continue;
        if (node && strcmp(node, name) != 0)
            return "<multiple>";
        node = name;
    }
    return node ? node : "";
}

// Of "a,b", "a" and "b".
static bool is_listed(const char *list, const char *url)
{
    size_t length = strlen(url);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, url, length) == 0)
            return true;
    return false;
}

const char *cli_service_urls(struct cli *cli, const json_t *workload, const char *node)
{
    const char *list = "";
    json_t *connection;
    size_t i;
    if (strcmp(node, "<multiple>") == 0)
        node = "";
    json_array_foreach(cli_at(workload, "externalConnections"), i, connection) {
        const char *url = cli_text(connection, "url");
        if (!*url && *node)
            url = arena_printf(&cli->arena, "http://%s:%.0f", node, cli_number(connection, "containerPort"));
        if (*url && !is_listed(list, url))
            list = arena_printf(&cli->arena, "%s%s%s", list, *list ? "," : "", url);
    }
    return list;
}

static void add_old_row(struct cli *cli, const json_t *workload, const json_t *pods, struct table *table)
{
    const char *node = node_of(pods, cli_text(workload, "id"));
    double held = cli_number(workload, "allocatedResources.gpu");
    double wanted = cli_number(workload, "workloadRequestedResources.gpu.request");
    double running = cli_number(workload, "runningPods"), pod_count = cli_number(workload, "requestedPods.number");
    const char *shown = has_ended(workload) && held <= 0 ? "-" : arena_printf(&cli->arena, "%g", held);
    const char *image = json_string_value(json_array_get(cli_at(workload, "images"), 0));
    table_add(table, (const char *const[]){cli_text(workload, "name"), old_status(cli_text(workload, "phase")),
                                           cli_age(cli, cli_text(workload, "createdAt")), node, image ? image : "",
                                           cli_old_type(workload), cli_text(workload, "projectName"),
                                           cli_text(workload, "submittedBy"),
                                           arena_printf(&cli->arena, "%s (%g)", shown, wanted),
                                           arena_printf(&cli->arena, "%g (%g)", running,
                                                        has_ended(workload)   ? 0
                                                        : pod_count > running ? pod_count - running
                                                                              : 0),
                                           cli_service_urls(cli, workload, node)});
}

// As the API writes it; in any case, and by its longer name.
static const char *framework_name(const char *text)
{
    static const char *const NAMES[] = {"PyTorch", "MPI", "TF", "XGBoost", "JAX"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcasecmp(text, NAMES[i]) == 0)
            return NAMES[i];
    return strcasecmp(text, "TensorFlow") == 0 ? "TF" : text;
}

static int list_path(struct cli *cli, const char **out_path, struct error *err)
{
    const char *filter = "", *project = NULL;
    const char *status = flag_text(&cli->arguments, "status"), *type = flag_text(&cli->arguments, "type");
    if (!flag_is_set(&cli->arguments, "all") && cli_project_name(cli, &project, err) < 0)
        return -1;
    if (project)
        filter = arena_printf(&cli->arena, "projectName==%s,", project);
    const char *framework = flag_text(&cli->arguments, "framework");
    if (cli->command->kind->type)
        type = cli->command->kind->type;
    if (cli->command->kind->framework)
        framework = cli->command->kind->framework;
    if (framework)
        type = NULL; // `training list --framework`: the framework says it
    if (framework)
        filter = arena_printf(&cli->arena, "%sdistributedFramework==%s,", filter, framework_name(framework));
    if (type)
        filter = arena_printf(&cli->arena, "%stype==%s,", filter, type);
    if (status)
        filter = arena_printf(&cli->arena, "%sphase==%s,", filter, status);
    if (*filter)
        filter = arena_printf(&cli->arena, "&filterBy=%s",
                              client_escape(&cli->client, arena_strndup(&cli->arena, filter, strlen(filter) - 1)));
    *out_path =
        arena_printf(&cli->arena, "/api/v1/workloads?sortBy=%s%s%s", cli->command->is_old ? "projectName" : "createdAt",
                     filter, flag_is_set(&cli->arguments, "deleted") ? "&deleted=true" : "");
    return 0;
}

static int print_old(struct cli *cli, const json_t *workloads, struct error *err)
{
    json_t *pods, *workload;
    size_t i;
    if (cli_get_all(cli, "/api/v1/workloads/pods", "pods", &pods, err) < 0)
        return -1;
    if (!flag_is_set(&cli->arguments, "all")) {
        const char *project = NULL;
        cli_project_name(cli, &project, NULL);
        printf("Showing jobs for project %s\n", project ? project : "");
    }
    struct table table;
    table_init(&table, &cli->arena, OLD_TITLES, sizeof(OLD_TITLES) / sizeof(OLD_TITLES[0]));
    json_array_foreach(workloads, i, workload)
        add_old_row(cli, workload, pods, &table);
    cli_print_table(cli, &table);
    json_decref(pods);
    return 0;
}

// Nothing of a project that is not there is another answer than nothing of one that is.
static int check_project(struct cli *cli, const json_t *workloads, struct error *err)
{
    json_t *project;
    const char *name;
    if (json_array_size(workloads) > 0 || flag_is_set(&cli->arguments, "all"))
        return 0;
    if (cli_project_name(cli, &name, err) < 0)
        return -1;
    if (cli_find_project(cli, name, &project, err) < 0)
        return error_details(err, "It is not there, or you may not see it; those that you see: %s project list",
                             cli->program);
    json_decref(project);
    return 0;
}

// The first of the list that waits, why, and what would start it: for who looks at the table. A program reads rows
// alone, and costs the scheduler no question.
static void say_the_way_out(struct cli *cli, const json_t *workloads)
{
    const json_t *first = NULL;
    json_t *workload, *answer = NULL;
    size_t i, count = 0;
    json_array_foreach(workloads, i, workload)
        if (*cli_text(workload, "explanation.sentence") && strcmp(cli_text(workload, "phase"), "Pending") == 0) {
            first = first ? first : workload;
            count++;
        }
    if (!first)
        return;
    (void)cli_get(cli, &answer, NULL, "/api/v1/workloads/%s/what-if", cli_text(first, "id"));
    const char *fixes = what_if_fixes_text(cli, answer);
    fprintf(stderr, "%s waits: %s\n", cli_text(first, "name"), cli_text(first, "explanation.sentence"));
    if (*fixes)
        fprintf(stderr, "What would start it: %s.\n", fixes);
    fprintf(stderr, "More: %s explain %s -p %s", cli->program, cli_text(first, "name"), cli_text(first, "projectName"));
    if (count > 1)
        fprintf(stderr, "; of all that wait: %s waiting", cli->program);
    fputc('\n', stderr);
    json_decref(answer);
}

int run_workload_list(struct cli *cli, struct error *err)
{
    const char *path;
    json_t *workloads, *workload;
    size_t i;
    if (list_path(cli, &path, err) < 0 || cli_get_all(cli, path, "workloads", &workloads, err) < 0)
        return -1;
    int rc = check_project(cli, workloads, err);
    if (rc < 0) {
        json_decref(workloads);
        return rc;
    }
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print_entries(cli, workloads);
    } else if (cli->command->is_old) {
        rc = print_old(cli, workloads, err);
    } else {
        struct table table;
        bool is_short = strcmp(cli->command->words, "list") == 0;
        table_init(&table, &cli->arena, is_short ? SHORT_TITLES : TITLES,
                   is_short ? sizeof(SHORT_TITLES) / sizeof(SHORT_TITLES[0]) : sizeof(TITLES) / sizeof(TITLES[0]));
        json_array_foreach(workloads, i, workload)
            add_row(cli, workload, &table);
        cli_print_columns(cli, &table, is_short ? NULL : USUAL_COLUMNS);
    }
    if (rc == 0 && cli_output(cli) == OUTPUT_TABLE && isatty(STDERR_FILENO))
        say_the_way_out(cli, workloads);
    json_decref(workloads);
    return rc;
}
