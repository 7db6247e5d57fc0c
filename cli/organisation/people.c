// `project people`, `budget`: who of a project holds and has used what, and what is left of its budgets of GPU hours.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

// The one named, else the default one.
static int find_id(struct cli *cli, const char **out_name, const char **out_id, struct error *err)
{
    json_t *project;
    *out_name = cli->arguments.words[0];
    if (!*out_name && cli_project_name(cli, out_name, err) < 0)
        return -1;
    if (cli_find_project(cli, *out_name, &project, err) < 0)
        return -1;
    *out_id = arena_strdup(&cli->arena, cli_text(project, "id"));
    json_decref(project);
    return 0;
}

int run_project_people(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Person", "GPUs", "Running", "GPUs Waited For", "Waiting", "GPU Hours"};
    const char *name, *id, *days = flag_text(&cli->arguments, "days");
    json_t *answer, *person;
    size_t i;
    if (find_id(cli, &name, &id, err) < 0 || cli_get(cli, &answer, err, "/api/v1/org-unit/projects/%s/people?days=%s",
                                                     id, client_escape(&cli->client, days ? days : "30")) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, answer);
    } else {
        struct table table;
        table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
        json_array_foreach(json_object_get(answer, "people"), i, person)
            table_add(&table, (const char *const[]){
                                  cli_text(person, "name"), cli_amount(cli, cli_number(person, "allocatedGpus")),
                                  arena_printf(&cli->arena, "%.0f", cli_number(person, "runningWorkloads")),
                                  cli_amount(cli, cli_number(person, "pendingGpus")),
                                  arena_printf(&cli->arena, "%.0f", cli_number(person, "pendingWorkloads")),
                                  arena_printf(&cli->arena, "%.2f", cli_number(person, "gpuHours"))});
        cli_print_table(cli, &table);
    }
    json_decref(answer);
    return 0;
}

// "used up", the time when it will be, or nothing.
static const char *say_end(const json_t *use)
{
    if (json_is_true(cli_at(use, "isUsedUp")))
        return "used up";
    const char *at = cli_text(use, "usedUpAt");
    return *at ? at : NULL;
}

static const char *hours_of(struct cli *cli, const json_t *budget, const char *key)
{
    const json_t *hours = cli_at(budget, key);
    return json_is_number(hours) ? cli_amount(cli, json_number_value(hours)) : NULL;
}

static void print_budget(struct cli *cli, const char *project, const json_t *budget)
{
    static const char *const TITLES[] = {"Whose", "Used", "GPU Hours", "GPUs", "Used Up"};
    const char *of_person = hours_of(cli, budget, "gpuHoursPerPerson");
    json_t *person;
    struct table table;
    size_t i;
    printf("Of each %s, now %.10s to %.10s (UTC). Once it is used up, work beyond the quota waits%s.\n",
           cli_text(budget, "period"), cli_text(budget, "periodStart"), cli_text(budget, "periodEnd"),
           strcmp(cli_text(budget, "enforcement"), "refuse") == 0 ? ", and new work is refused" : "");
    table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
    table_add(&table, (const char *const[]){arena_printf(&cli->arena, "project %s", project),
                                            arena_printf(&cli->arena, "%.2f", cli_number(budget, "usedGpuHours")),
                                            hours_of(cli, budget, "gpuHours"),
                                            cli_amount(cli, cli_number(budget, "allocatedGpus")), say_end(budget)});
    json_array_foreach(json_object_get(budget, "people"), i, person)
        table_add(&table, (const char *const[]){cli_text(person, "name"),
                                                arena_printf(&cli->arena, "%.2f", cli_number(person, "usedGpuHours")),
                                                of_person, cli_amount(cli, cli_number(person, "allocatedGpus")),
                                                say_end(person)});
    cli_print_table(cli, &table);
}

int run_budget(struct cli *cli, struct error *err)
{
    const char *name, *id;
    json_t *budget;
    if (find_id(cli, &name, &id, err) < 0 || cli_get(cli, &budget, err, "/api/v1/org-unit/projects/%s/budget", id) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, budget);
    else if (!json_object_get(budget, "period"))
        printf("Project %s has no budget of GPU hours; one is set by: %s project update %s --gpu-hours N\n", name,
               cli->program, name);
    else
        print_budget(cli, name, budget);
    json_decref(budget);
    return 0;
}
