// `explain NAME`: why a workload is where it is, who holds what it asks for, and what would start it.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/what_if.h"

#include <stdio.h>
#include <string.h>

static void print_findings(struct cli *cli, const json_t *explanation)
{
    static const char *const TITLES[] = {"Node Pool", "Code", "What is the case"};
    struct table table;
    json_t *finding;
    size_t i;
    const json_t *findings = cli_at(explanation, "findings");
    if (json_array_size(findings) == 0)
        return;
    table_init(&table, &cli->arena, TITLES, 3);
    json_array_foreach(findings, i, finding) {
        const char *pool = cli_text(finding, "nodePool");
        table_add(&table,
                  (const char *const[]){*pool ? pool : NULL, cli_text(finding, "code"), cli_text(finding, "message")});
    }
    puts("\nWhat the scheduler found");
    table_print(&table, TABLE_RULED, NULL, 1);
}

static const char *bound(struct cli *cli, const json_t *value)
{
    return json_is_number(value) ? cli_amount(cli, json_number_value(value)) : "unlimited";
}

static void print_numbers(struct cli *cli, const json_t *explanation)
{
    static const char *const TITLES[] = {"",           "Name",      "GPU Quota",    "Limit",
                                         "Fair Share", "Allocated", "Non-Preempt.", "Requested"};
    static const char *const UNITS[][2] = {{"project", "Project"}, {"department", "Department"}};
    struct table table;
    table_init(&table, &cli->arena, TITLES, 8);
    for (size_t i = 0; i < 2; i++) {
        const json_t *unit = cli_at(cli_at(explanation, "numbers"), UNITS[i][0]);
        if (!unit)
            continue;
        table_add(&table, (const char *const[]){UNITS[i][1], cli_text(unit, "name"), bound(cli, cli_at(unit, "quota")),
                                                bound(cli, cli_at(unit, "limit")),
                                                cli_amount(cli, cli_number(unit, "fairShare")),
                                                cli_amount(cli, cli_number(unit, "allocated")),
                                                cli_amount(cli, cli_number(unit, "allocatedNonPreemptible")),
                                                cli_amount(cli, cli_number(unit, "requested"))});
    }
    if (table.row_count == 0)
        return;
    printf("\nNumbers in node pool %s (it asks for %s GPUs)\n", cli_text(explanation, "pool"),
           cli_amount(cli, cli_number(explanation, "numbers.requestedGpus")));
    table_print(&table, TABLE_RULED, NULL, 1);
}

static void print_explanation(struct cli *cli, const json_t *explanation, const json_t *answer)
{
    const char *why = cli_text(explanation, "why");
    // Where it was asked again, the scheduler knows more: what is never, and what a rule's end alone brings.
    bool is_asked = answer && strcmp(cli_text(answer, "verdict"), "Waits") == 0;
    const char *forecast = cli_text(is_asked ? answer : explanation, "forecast.sentence");
    if (cli_at(explanation, "cycle"))
        printf("Cycle %.0f, %s\n", cli_number(explanation, "cycle.cycle"), cli_text(explanation, "cycle.time"));
    printf("%s (%s): %s\n", cli_text(explanation, "workloadName"), cli_text(explanation, "phase"),
           cli_text(explanation, "sentence"));
    if (*why)
        printf("Why nobody gives it: %s\n", why);
    if (*forecast)
        printf("When: %s\n", forecast);
    print_findings(cli, explanation);
    print_numbers(cli, explanation);
    what_if_print_holders(cli, cli_at(explanation, "findings"));
    if (answer)
        what_if_print_fixes(answer);
}

int run_explain(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *workload, *explanation, *answer = NULL;
    if (cli_name(cli, &name, err) < 0 || cli_look_up_workload(cli, name, &workload, err) < 0)
        return -1;
    const char *id = arena_strdup(&cli->arena, cli_text(workload, "id"));
    json_decref(workload);
    const char *at = flag_text(&cli->arguments, "at");
    if (cli_get(cli, &explanation, err, "/api/v1/workloads/%s/explanation%s%s", id, at ? "?at=" : "", at ? at : "") < 0)
        return -1;
    // Refused where it does not wait: then there is nothing to change; nor is there in the past.
    struct error refused = {0};
    if (!at)
        (void)cli_get(cli, &answer, &refused, "/api/v1/workloads/%s/what-if", id);
    if (cli_output(cli) == OUTPUT_TABLE) {
        print_explanation(cli, explanation, answer);
    } else {
        json_t *both = json_pack("{s:O, s:O?}", "explanation", explanation, "whatIf", answer);
        cli_print(cli, both);
        json_decref(both);
    }
    json_decref(explanation);
    json_decref(answer);
    return 0;
}
