#include "cli/what_if.h"

#include "cli/command.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *verdict_words(const char *verdict)
{
    static const char *const WORDS[][2] = {{"Starts", "Starts at once"},
                                           {"StartsAfterRelease", "Starts when what stops is gone"},
                                           {"StartsByEviction", "Starts, and others give way"},
                                           {"Waits", "Waits"}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcmp(WORDS[i][0], verdict) == 0)
            return WORDS[i][1];
    return verdict;
}

static void print_line(const char *title, const char *text)
{
    if (*text)
        printf("%-20s %s\n", title, text);
}

static const char *seconds_text(struct cli *cli, double seconds)
{
    int64_t whole = (int64_t)seconds;
    if (whole < 60)
        return arena_printf(&cli->arena, "%" PRId64 "s", whole);
    if (whole < 3600)
        return arena_printf(&cli->arena, "%" PRId64 "m%" PRId64 "s", whole / 60, whole % 60);
    return arena_printf(&cli->arena, "%" PRId64 "h%" PRId64 "m", whole / 3600, whole % 3600 / 60);
}

static void print_displaced(struct cli *cli, const json_t *displaced)
{
    static const char *const TITLES[] = {"Workload", "Project", "GPUs", "Pods", "What happens", "Run time lost"};
    struct table table;
    json_t *one;
    size_t i;
    if (json_array_size(displaced) == 0)
        return;
    table_init(&table, &cli->arena, TITLES, 6);
    json_array_foreach(displaced, i, one) {
        bool is_moved = json_is_true(cli_at(one, "moved"));
        table_add(&table, (const char *const[]){cli_text(one, "workload"), cli_text(one, "project"),
                                                cli_amount(cli, cli_number(one, "gpus")),
                                                arena_printf(&cli->arena, "%.0f", cli_number(one, "pods")),
                                                is_moved ? "moves to another node" : "stops, and waits again",
                                                seconds_text(cli, cli_number(one, "lostSeconds"))});
    }
    puts("\nWho gives way");
    table_print(&table, TABLE_RULED, NULL, 1);
}

// GPUs, or what else is short.
static const char *held(struct cli *cli, const json_t *holder, const char *gpu_key, const char *key)
{
    return cli_amount(cli, cli_at(holder, gpu_key) ? cli_number(holder, gpu_key) : cli_number(holder, key));
}

void what_if_print_holders(struct cli *cli, const json_t *findings)
{
    static const char *const TITLES[] = {"Project",    "Node Pool",    "Holds",
                                         "Could give", "Why not more", "Protected until"};
    struct table table;
    json_t *finding, *holder;
    size_t i, k;
    table_init(&table, &cli->arena, TITLES, 6);
    json_array_foreach(findings, i, finding) {
        json_array_foreach(json_object_get(finding, "reclaim"), k, holder) {
            const char *until = cli_text(holder, "protectedUntil");
            table_add(&table, (const char *const[]){cli_text(holder, "project"), cli_text(finding, "nodePool"),
                                                    held(cli, holder, "gpusHeld", "held"),
                                                    held(cli, holder, "gpusReclaimable", "reclaimable"),
                                                    cli_text(holder, "sentence"), *until ? until : NULL});
        }
    }
    if (table.row_count == 0)
        return;
    puts("\nWho holds what");
    table_print(&table, TABLE_RULED, NULL, 1);
}

void what_if_print_fixes(const json_t *answer)
{
    json_t *fix;
    size_t i;
    const json_t *fixes = cli_at(answer, "fixes");
    if (json_is_true(cli_at(answer, "fixesLeftOut")))
        puts("\nNo changes were tried: a cycle of this cluster takes too long for that.");
    if (json_array_size(fixes) > 0)
        puts("\nWhat would start it (each was tried)");
    else if (json_is_array(fixes) && !json_is_true(cli_at(answer, "fixesLeftOut")) &&
             strcmp(cli_text(answer, "verdict"), "Waits") == 0)
        puts("\nNo change was found that would start it in the next cycle: tried were fewer GPUs and pods, other node\n"
             "pools, other preemptibility and priority, and more quota.");
    json_array_foreach(fixes, i, fix) {
        printf("  %zu. %s\n", i + 1, cli_text(fix, "sentence"));
        if (*cli_text(fix, "price"))
            printf("     Price: %s\n", cli_text(fix, "price"));
        if (*cli_text(fix, "effect"))
            printf("     Then:  %s\n", cli_text(fix, "effect"));
    }
}

const char *what_if_fixes_text(struct cli *cli, const json_t *answer)
{
    const char *text = "";
    json_t *fix;
    size_t i;
    json_array_foreach(cli_at(answer, "fixes"), i, fix) {
        const char *said = cli_text(fix, "sentence");
        text = i == 0 || !*said ? said : arena_printf(&cli->arena, "%s; or %c%s", text, said[0] | 0x20, said + 1);
    }
    return text;
}

void what_if_print(struct cli *cli, const json_t *answer)
{
    const char *at = cli_text(answer, "forecast.at"), *when = cli_text(answer, "forecast.sentence");
    print_line("Verdict:", verdict_words(cli_text(answer, "verdict")));
    print_line("What happens:", cli_text(answer, "sentence"));
    print_line("Why nobody gives it:", cli_text(answer, "reason"));
    print_line("Node pool:", cli_text(answer, "nodePool"));
    print_line("Could lose it to:", cli_text(answer, "couldLoseTo"));
    print_line("When:", strstr(when, at) ? when : arena_printf(&cli->arena, "%s; not before %s", when, at));
    print_displaced(cli, cli_at(answer, "displaced"));
    what_if_print_holders(cli, cli_at(answer, "explanation"));
    what_if_print_fixes(answer);
}

static const char *outcome_words(const char *outcome)
{
    static const char *const WORDS[][2] = {{"Starts", "starts"},
                                           {"Keeps", "keeps its place"},
                                           {"GivesWay", "stops, and waits again"},
                                           {"StaysPending", "stays pending"},
                                           {"Restarts", "stops, and starts again"}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcmp(WORDS[i][0], outcome) == 0)
            return WORDS[i][1];
    return outcome;
}

static const char *count_text(struct cli *cli, const json_t *entry, const char *key)
{
    return arena_printf(&cli->arena, "%.0f", cli_number(entry, key));
}

// "4 -> 2"; one number where it stays.
static const char *both(struct cli *cli, const json_t *queue, const char *key)
{
    const json_t *before = cli_at(cli_at(queue, "before"), key), *after = cli_at(cli_at(queue, "after"), key);
    const char *old = json_is_null(before) ? "unlimited" : cli_amount(cli, json_number_value(before));
    const char *new = json_is_null(after) ? "unlimited" : cli_amount(cli, json_number_value(after));
    return strcmp(old, new) == 0 ? new : arena_printf(&cli->arena, "%s -> %s", old, new);
}

static void print_queues(struct cli *cli, const json_t *queues)
{
    static const char *const TITLES[] = {"Kind", "Name", "Node Pool", "Quota", "Limit", "Fair share", "Held"};
    struct table table;
    json_t *queue;
    size_t i;
    if (json_array_size(queues) == 0)
        return;
    table_init(&table, &cli->arena, TITLES, 7);
    json_array_foreach(queues, i, queue) {
        table_add(&table,
                  (const char *const[]){cli_text(queue, "kind"), cli_text(queue, "name"), cli_text(queue, "nodePool"),
                                        both(cli, queue, "quota"), both(cli, queue, "limit"),
                                        both(cli, queue, "fairShare"), both(cli, queue, "allocated")});
    }
    puts("\nGPUs before and after");
    table_print(&table, TABLE_RULED, NULL, 1);
}

static void print_workloads(struct cli *cli, const json_t *answer)
{
    static const char *const TITLES[] = {"Workload", "Project", "GPUs", "Pods", "What happens", "For project"};
    const json_t *workloads = cli_at(answer, "workloads");
    struct table table;
    json_t *one;
    size_t i;
    if (json_array_size(workloads) == 0)
        return;
    table_init(&table, &cli->arena, TITLES, 6);
    json_array_foreach(workloads, i, one) {
        const char *beneficiary = cli_text(one, "beneficiaryProject");
        table_add(&table,
                  (const char *const[]){cli_text(one, "workload"), cli_text(one, "project"),
                                        cli_amount(cli, cli_number(one, "gpus")), count_text(cli, one, "pods"),
                                        outcome_words(cli_text(one, "outcome")), *beneficiary ? beneficiary : NULL});
    }
    puts("\nWho starts, who gives way");
    table_print(&table, TABLE_RULED, NULL, 1);
    if (cli_at(answer, "workloadsMore"))
        printf("and %s more\n", count_text(cli, answer, "workloadsMore"));
}

static void print_excesses(struct cli *cli, const json_t *excesses)
{
    json_t *one;
    size_t i;
    json_array_foreach(excesses, i, one) {
        const json_t *promised = cli_at(one, "promised");
        const char *department = cli_text(one, "department");
        const char *has = *department ? arena_printf(&cli->arena, "department %s has", department) : "the pool has";
        printf("%-20s %s: its %s are promised %s GPUs, and %s %s\n", i == 0 ? "Exceeded:" : "",
               cli_text(one, "nodePool"), cli_text(one, "promisedTo"),
               json_is_null(promised) ? "unlimited" : cli_amount(cli, json_number_value(promised)), has,
               cli_amount(cli, cli_number(one, "available")));
    }
}

void what_if_print_quota(struct cli *cli, const json_t *answer)
{
    const char *until = cli_text(answer, "holdsUntil");
    printf("%-20s %s\n", "What happens:", cli_text(answer, "sentence"));
    print_excesses(cli, cli_at(answer, "exceeded"));
    if (json_is_true(cli_at(answer, "atRest")))
        printf("%-20s after %s cycle%s\n", "At rest:", count_text(cli, answer, "cycles"),
               cli_number(answer, "cycles") == 1 ? "" : "s");
    else
        printf("%-20s not after %s cycles: more may follow\n", "At rest:", count_text(cli, answer, "cycles"));
    if (*until)
        printf("%-20s %s; then a rule's time may change more\n", "Holds until:", until);
    print_queues(cli, cli_at(answer, "queues"));
    print_workloads(cli, answer);
}
