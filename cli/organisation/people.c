// `project people`, `budget`: who of a project holds and has used what, and what is left of its budgets of GPU hours.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

// The one named, else the default one; the caller's.
static int find_project(struct cli *cli, json_t **out_project, struct error *err)
{
    const char *name = cli->arguments.words[0];
    if (!name && cli_project_name(cli, &name, err) < 0)
        return -1;
    return cli_find_project(cli, name, out_project, err);
}

int run_project_people(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Person", "GPUs", "Running", "GPUs Waited For", "Waiting", "GPU Hours"};
    const char *days = flag_text(&cli->arguments, "days");
    json_t *project, *answer, *person;
    size_t i;
    if (find_project(cli, &project, err) < 0)
        return -1;
    int rc = cli_get(cli, &answer, err, "/api/v1/org-unit/projects/%s/people?days=%s", cli_text(project, "id"),
                     client_escape(&cli->client, days ? days : "30"));
    json_decref(project);
    if (rc < 0)
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

static void say_none(const struct cli *cli, const json_t *project)
{
    const json_t *rules = cli_at(project, "effective.schedulingRules");
    const char *name = cli_text(project, "name");
    if (json_is_number(json_object_get(rules, "gpuHourBudget")) ||
        json_is_number(json_object_get(rules, "gpuHourBudgetPerPerson")))
        printf("The budget of project %s is not counted yet: ask again in a moment.\n", name);
    else
        printf("Project %s has no budget of GPU hours; one is set by: %s project update %s --gpu-hours N\n", name,
               cli->program, name);
}

int run_budget(struct cli *cli, struct error *err)
{
    json_t *project, *budget;
    if (find_project(cli, &project, err) < 0)
        return -1;
    int rc = cli_get(cli, &budget, err, "/api/v1/org-unit/projects/%s/budget", cli_text(project, "id"));
    if (rc == 0 && cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, budget);
    else if (rc == 0 && !json_object_get(budget, "period"))
        say_none(cli, project);
    else if (rc == 0)
        print_budget(cli, cli_text(project, "name"), budget);
    if (rc == 0)
        json_decref(budget);
    json_decref(project);
    return rc;
}
