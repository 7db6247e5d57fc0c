// `timeline`: who held which devices from when to when, how that ended, and who gave way to whom.
#include "base/timestamp.h"
#include "cli/command.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *timeline_path(struct cli *cli)
{
    static const struct {
        const char *flag, *parameter;
    } PARAMETERS[] = {{"pool", "nodePool"}, {"node", "node"},   {"start", "start"},
                      {"end", "end"},       {"width", "width"}, {"by", "by"}};
    const char *path = "/api/v1/scheduler/timeline";
    for (size_t i = 0; i < sizeof(PARAMETERS) / sizeof(PARAMETERS[0]); i++)
        path = cli_add_query(cli, path, PARAMETERS[i].parameter, flag_text(&cli->arguments, PARAMETERS[i].flag));
    return path;
}

// A moment so many seconds after the answer's start, to the second.
static const char *time_at(struct cli *cli, const json_t *timeline, double seconds)
{
    char text[TIMESTAMP_SIZE];
    int64_t start_ms = 0;
    (void)timestamp_parse(cli_text(timeline, "start"), &start_ms, NULL);
    timestamp_format(start_ms + (int64_t)seconds * 1000, text);
    return arena_printf(&cli->arena, "%.19sZ", text);
}

static const json_t *pointed_at(const json_t *timeline, const char *list, const json_t *block, const char *key)
{
    const json_t *index = cli_at(block, key);
    return index ? json_array_get(cli_at(timeline, list), (size_t)json_integer_value(index)) : NULL;
}

// "0-3,6"; NULL where devices are not told.
static const char *devices_of(struct cli *cli, const json_t *block)
{
    const json_t *devices = cli_at(block, "devices");
    const char *text = "";
    for (size_t i = 0, last; i < json_array_size(devices); i = last + 1) {
        int64_t first = json_integer_value(json_array_get(devices, i)), end = first;
        for (last = i; json_integer_value(json_array_get(devices, last + 1)) == end + 1; last++)
            end++;
        text = arena_printf(&cli->arena, "%s%s%" PRId64, text, *text ? "," : "", first);
        if (end > first)
            text = arena_printf(&cli->arena, "%s-%" PRId64, text, end);
    }
    return *text ? text : NULL;
}

static const char *holder_of(struct cli *cli, const json_t *timeline, const json_t *block)
{
    const json_t *workload = pointed_at(timeline, "workloads", block, "workload"), *count = cli_at(block, "count");
    if (workload)
        return cli_text(workload, "name");
    return count ? arena_printf(&cli->arena, "%.0f pods", json_number_value(count)) : "other";
}

static const char *end_of(struct cli *cli, const json_t *block)
{
    double failed = cli_number(block, "failed"), preempted = cli_number(block, "preempted");
    if (*cli_text(block, "end"))
        return cli_text(block, "end");
    if (failed > 0 && preempted > 0)
        return arena_printf(&cli->arena, "%.0f failed, %.0f preempted", failed, preempted);
    if (failed > 0 || preempted > 0)
        return arena_printf(&cli->arena, "%.0f %s", failed + preempted, failed > 0 ? "failed" : "preempted");
    return NULL;
}

enum {
    COLUMNS = 8,
    OF_NODES = 2, // the first columns; pools have the first of them
};

static void print_blocks(struct cli *cli, const json_t *timeline)
{
    const char *titles[COLUMNS] = {"Node", "Devices", "GPUs", "From", "To", "Project", "Workload", "Ended"};
    const char *by = cli_text(timeline, "by");
    bool is_pools = strcmp(by, "pools") == 0;
    size_t left_out = strcmp(by, "nodes") == 0 ? 0 : is_pools ? 1 : OF_NODES;
    struct table table;
    json_t *block;
    size_t i;
    if (is_pools)
        titles[1] = "Node Pool";
    table_init(&table, &cli->arena, titles + left_out, COLUMNS - left_out);
    json_array_foreach(cli_at(timeline, "blocks"), i, block) {
        const json_t *project = pointed_at(timeline, "projects", block, "project"),
                     *lane = pointed_at(timeline, "lanes", block, "lane");
        const char *row[COLUMNS] = {cli_text(lane, "node"),
                                    is_pools ? cli_text(lane, "nodePool") : devices_of(cli, block),
                                    cli_amount(cli, cli_number(block, "gpus")),
                                    time_at(cli, timeline, cli_number(block, "from")),
                                    time_at(cli, timeline, cli_number(block, "to")),
                                    project ? cli_text(project, "name") : NULL,
                                    holder_of(cli, timeline, block),
                                    end_of(cli, block)};
        table_add(&table, row + left_out);
    }
    cli_print_table(cli, &table);
}

static const char *side_of(const json_t *eviction, const char *path)
{
    const char *name = cli_text(eviction, path);
    return *name ? name : "other";
}

static void print_evictions(struct cli *cli, const json_t *timeline)
{
    static const char *const TITLES[] = {"Time", "Action", "Node", "GPUs", "Gave Way", "Project", "To"};
    struct table table;
    json_t *eviction;
    size_t i;
    table_init(&table, &cli->arena, TITLES, 7);
    json_array_foreach(cli_at(timeline, "evictions"), i, eviction)
        table_add(&table,
                  (const char *const[]){time_at(cli, timeline, cli_number(eviction, "at")),
                                        cli_text(eviction, "action"), cli_text(eviction, "node"),
                                        cli_amount(cli, cli_number(eviction, "gpus")), side_of(eviction, "victim.name"),
                                        side_of(eviction, "victim.project"), side_of(eviction, "beneficiary.name")});
    puts("");
    cli_print_table(cli, &table);
}

int run_timeline(struct cli *cli, struct error *err)
{
    json_t *timeline;
    if (cli_get(cli, &timeline, err, "%s", timeline_path(cli)) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, timeline);
    } else {
        if (*cli_text(timeline, "heldSince"))
            printf("Nothing is kept of what ended before %s.\n", cli_text(timeline, "heldSince"));
        if (json_array_size(cli_at(timeline, "blocks")) == 0)
            puts("Nobody held a GPU.");
        else
            print_blocks(cli, timeline);
        if (json_array_size(cli_at(timeline, "evictions")) > 0)
            print_evictions(cli, timeline);
    }
    json_decref(timeline);
    return 0;
}
