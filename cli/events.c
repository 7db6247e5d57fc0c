// `event list`: what happened to workloads, nodes and the organisation, newest first.
#include "base/duration.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdlib.h>

enum {
    SHOWN_DEFAULT = 50
};

// A time, or how long ago.
static int add_time(struct cli *cli, const char *flag, const char *parameter, const char **path, struct error *err)
{
    const char *given = flag_text(&cli->arguments, flag);
    char text[TIMESTAMP_SIZE];
    int64_t time_ms;
    if (!given)
        return 0;
    if (duration_parse(given, &time_ms, NULL) == 0)
        time_ms = timestamp_now_ms() - time_ms;
    else if (timestamp_parse(given, &time_ms, NULL) < 0)
        return error_set(err, ERROR_INVALID, "--%s: expected 2h or a time like 2026-01-01T00:00:00Z, got %s", flag,
                         given);
    timestamp_format(time_ms, text);
    *path = cli_add_query(cli, *path, parameter, text);
    return 0;
}

// The things that flags name, by their ids.
static int add_things(struct cli *cli, const char **path, struct error *err)
{
    static const struct {
        const char *what, *parameter;
    } UNITS[] = {{"project", "projectId"}, {"department", "departmentId"}};
    const char *workload = flag_text(&cli->arguments, "workload");
    json_t *found;
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        const char *name = flag_text(&cli->arguments, UNITS[i].what);
        if (!name)
            continue;
        if (cli_find_unit(cli, UNITS[i].what, name, &found, err) < 0)
            return -1;
        *path = cli_add_query(cli, *path, UNITS[i].parameter, cli_text(found, "id"));
        json_decref(found);
    }
    if (workload) {
        if (cli_look_up_workload(cli, workload, &found, err) < 0)
            return -1;
        *path = cli_add_query(cli, *path, "workloadId", cli_text(found, "id"));
        json_decref(found);
    }
    return 0;
}

static void add_event(struct cli *cli, const json_t *event, struct table *table)
{
    (void)cli;
    const char *project = cli_text(event, "projectName"), *workload = cli_text(event, "workloadName"),
               *object = *workload ? workload : cli_text(event, "involvedObject.name");
    table_add(table,
              (const char *const[]){cli_text(event, "createdAt"), cli_text(event, "type"), cli_text(event, "reason"),
                                    *project ? project : NULL, object, cli_text(event, "message")});
}

int run_event_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Time", "Type", "Reason", "Project", "Object", "Message"};
    static const char *const AS_GIVEN[] = {"kind", "type", "node", "search"};
    const char *path = "/api/v1/events", *most = flag_text(&cli->arguments, "max-items");
    char *end = NULL;
    size_t count = most ? strtoul(most, &end, 10) : SHOWN_DEFAULT;
    json_t *events;
    if (most && (*end || count < 1))
        return error_set(err, ERROR_INVALID, "--max-items: expected a number from 1, got %s", most);
    for (size_t i = 0; i < sizeof(AS_GIVEN) / sizeof(AS_GIVEN[0]); i++)
        path = cli_add_query(cli, path, AS_GIVEN[i], flag_text(&cli->arguments, AS_GIVEN[i]));
    if (add_time(cli, "since", "start", &path, err) < 0 || add_time(cli, "until", "end", &path, err) < 0 ||
        add_things(cli, &path, err) < 0)
        return -1;
    if (cli_get_first(cli, path, "events", count, &events, err) < 0)
        return -1;
    cli_print_list(cli, events, TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_event);
    json_decref(events);
    return 0;
}
