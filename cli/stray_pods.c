// pods list, pods end: what runs though no workload asks for it.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

static const char *devices_of(struct cli *cli, const json_t *pod)
{
    const json_t *index;
    const char *list = "";
    size_t i;
    if (!json_is_true(json_object_get(pod, "devicesAreKnown")))
        return "not known: all are kept";
    json_array_foreach(json_object_get(pod, "devices"), i, index) list =
        arena_printf(&cli->arena, "%s%s%lld", list, i ? "," : "", (long long)json_integer_value(index));
    return *list ? list : "-";
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

int run_pods_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Pod", "Project", "Workload", "Devices", "Process", "Age", "State"};
    struct table table;
    json_t *answer;
    const json_t *pod;
    size_t i;
    if (cli_get(cli, &answer, err, "/api/v1/admin/pods") < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, json_object_get(answer, "pods"));
        json_decref(answer);
        return 0;
    }
    table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
    json_array_foreach(json_object_get(answer, "pods"), i, pod)
    {
        table_add(&table, (const char *const[]){cli_text(pod, "id"), or_dash(cli_text(pod, "projectName")),
                                                or_dash(cli_text(pod, "workloadName")), devices_of(cli, pod),
                                                arena_printf(&cli->arena, "%.0f", cli_number(pod, "processId")),
                                                or_dash(cli_age(cli, cli_text(pod, "startedAt"))),
                                                json_is_true(json_object_get(pod, "ending")) ? "ending" : "runs"});
    }
    table_print(&table, TABLE_RULED, flag_text(&cli->arguments, "columns"),
                !flag_is_set(&cli->arguments, "no-headers"));
    json_decref(answer);
    return 0;
}

int run_pods_end(struct cli *cli, struct error *err)
{
    const char *id;
    json_t *answer = NULL;
    if (cli_name(cli, &id, err) < 0)
        return -1;
    const char *path = arena_printf(&cli->arena, "/api/v1/admin/pods/%s", client_escape(&cli->client, id));
    int rc = client_call(&cli->client, "DELETE", path, NULL, &answer, err);
    if (rc == 0)
        printf("pod %s is told to stop\n", id);
    json_decref(answer);
    return rc;
}
