// pods list, adopt, end: what runs though no workload asks for it.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *devices_of(struct cli *cli, const json_t *pod)
{
    const json_t *index;
    const char *list = "";
    size_t i;
    if (!json_is_true(json_object_get(pod, "devicesAreKnown")))
        return "unknown: all are kept";
    json_array_foreach(json_object_get(pod, "devices"), i, index)
        list = arena_printf(&cli->arena, "%s%s%" PRId64, list, i ? "," : "", (int64_t)json_integer_value(index));
    return *list ? list : "-";
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static void add_pod(struct cli *cli, const json_t *pod, struct table *table)
{
    table_add(table, (const char *const[]){cli_text(pod, "id"), or_dash(cli_text(pod, "projectName")),
                                           or_dash(cli_text(pod, "workloadName")), devices_of(cli, pod),
                                           arena_printf(&cli->arena, "%.0f", cli_number(pod, "processId")),
                                           or_dash(cli_age(cli, cli_text(pod, "startedAt"))),
                                           json_is_true(json_object_get(pod, "ending")) ? "ending" : "runs"});
}

int run_pods_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Pod", "Project", "Workload", "Devices", "Process", "Age", "State"};
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/admin/pods") < 0)
        return -1;
    cli_print_list(cli, json_object_get(answer, "pods"), TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_pod);
    json_decref(answer);
    return 0;
}

// Those of this id, or of the workload of this name; where workloads of several projects have it none.
static int find_pods(struct cli *cli, const char *name, json_t **out_pods, struct error *err)
{
    json_t *answer, *found = json_array();
    json_t *pod;
    size_t i;
    const char *project = NULL;
    if (cli_get(cli, &answer, err, "/api/v1/admin/pods") < 0) {
        json_decref(found);
        return -1;
    }
    int rc = 0;
    json_array_foreach(json_object_get(answer, "pods"), i, pod) {
        bool is_named = *name && strcmp(cli_text(pod, "workloadName"), name) == 0;
        if (!is_named && strcmp(cli_text(pod, "id"), name) != 0)
            continue;
        if (project && strcmp(project, cli_text(pod, "projectName")) != 0)
            rc = error_set(err, ERROR_CONFLICT, "%s: pods of several workloads of that name run: name one by its id",
                           name);
        project = arena_strdup(&cli->arena, cli_text(pod, "projectName"));
        json_array_append(found, pod);
    }
    json_decref(answer);
    if (rc == 0 && json_array_size(found) == 0)
        rc = error_set(err, ERROR_NOT_FOUND, "%s: not among the pods that run without a workload (prorata pods list)",
                       name);
    *out_pods = found;
    if (rc < 0)
        json_decref(found);
    return rc;
}

int run_pods_end(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *pods, *pod;
    size_t i;
    if (cli_name(cli, &name, err) < 0 || find_pods(cli, name, &pods, err) < 0)
        return -1;
    int rc = 0;
    json_array_foreach(pods, i, pod) {
        json_t *answer = NULL;
        const char *id = cli_text(pod, "id");
        if (rc == 0)
            rc = client_call(&cli->client, "DELETE", arena_printf(&cli->arena, "/api/v1/admin/pods/%s", id), NULL,
                             &answer, err);
        if (rc == 0)
            printf("pod %s is told to stop\n", id);
        json_decref(answer);
    }
    json_decref(pods);
    return rc;
}

// {"projectId"} where a project was named.
static int read_project(struct cli *cli, json_t **out_body, struct error *err)
{
    const char *name = flag_text(&cli->arguments, "project");
    json_t *project, *body = json_object();
    if (name && cli_find_project(cli, name, &project, err) < 0) {
        json_decref(body);
        return -1;
    }
    if (name) {
        json_object_set(body, "projectId", json_object_get(project, "id"));
        json_decref(project);
    }
    *out_body = body;
    return 0;
}

int run_pods_adopt(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *pods, *body, *answer;
    if (cli_name(cli, &name, err) < 0 || find_pods(cli, name, &pods, err) < 0)
        return -1;
    const char *path =
        arena_printf(&cli->arena, "/api/v1/admin/pods/%s/adopt", cli_text(json_array_get(pods, 0), "id"));
    json_decref(pods);
    if (read_project(cli, &body, err) < 0)
        return -1;
    int rc = client_call(&cli->client, "POST", path, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    size_t count = json_array_size(json_object_get(answer, "pods"));
    printf("workload %s is adopted: %zu %s\n", cli_text(answer, "name"), count, count == 1 ? "pod" : "pods");
    json_decref(answer);
    return 0;
}
