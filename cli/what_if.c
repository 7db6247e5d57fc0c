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

void what_if_print(struct cli *cli, const json_t *answer)
{
    const char *at = cli_text(answer, "forecast.at");
    print_line("Verdict:", verdict_words(cli_text(answer, "verdict")));
    print_line("What happens:", cli_text(answer, "sentence"));
    print_line("Why nobody gives it:", cli_text(answer, "reason"));
    print_line("Node pool:", cli_text(answer, "nodePool"));
    print_line("Could lose it to:", cli_text(answer, "couldLoseTo"));
    print_line("When:", *at ? arena_printf(&cli->arena, "%s; not before %s", cli_text(answer, "forecast.sentence"), at)
                            : cli_text(answer, "forecast.sentence"));
    print_displaced(cli, cli_at(answer, "displaced"));
    what_if_print_holders(cli, cli_at(answer, "explanation"));
    what_if_print_fixes(answer);
}
