// `fairshare`, `queue`, `waiting`, `receipts`, `idle`: how the scheduler divides, whom it tries next, who waits for the
// same reason, what evictions cost, and who holds GPUs that do nothing.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// "?nodePool=NAME", or nothing.
static const char *pool_query(struct cli *cli)
{
    const char *pool = flag_text(&cli->arguments, "pool");
    return pool ? arena_printf(&cli->arena, "nodePool=%s&", client_escape(&cli->client, pool)) : "";
}

static const char *amount(struct cli *cli, const json_t *node, const char *key, bool is_memory)
{
    const json_t *value = cli_at(node, key);
    if (!json_is_number(value))
        return "unlimited";
    double number = json_number_value(value);
    return is_memory ? arena_printf(&cli->arena, "%.1f GiB", number / (1 << 30)) : cli_amount(cli, number);
}

// What a row of the tree is drawn before: the lines of those above, and its own branch.
static void add_node(struct cli *cli, const json_t *node, const char *lines, const char *branch, bool is_memory,
                     struct table *table)
{
    bool is_pool = strcmp(cli_text(node, "kind"), "pool") == 0;
    bool wants_terms = flag_is_set(&cli->arguments, "terms");
    json_t *item;
    size_t i;
    table_add(table,
              (const char *const[]){
                  arena_printf(&cli->arena, "%s%s%s", lines, branch, cli_text(node, "name")),
                  amount(cli, node, "fairShare", is_memory), is_pool ? NULL : amount(cli, node, "deserved", is_memory),
                  is_pool ? NULL : amount(cli, node, "limit", is_memory), amount(cli, node, "requested", is_memory),
                  amount(cli, node, "allocated", is_memory),
                  is_pool ? NULL : arena_printf(&cli->arena, "%.0f", cli_number(node, "rank")),
                  is_pool ? NULL : arena_printf(&cli->arena, "%g", cli_number(node, "weight"))});
    const char *below = *branch == '\0'                          ? ""
                        : strncmp(branch, "├", strlen("├")) == 0 ? arena_printf(&cli->arena, "%s│  ", lines)
                                                                 : arena_printf(&cli->arena, "%s   ", lines);
    const json_t *children = cli_at(node, "children");
    json_array_foreach(cli_at(node, "terms"), i, item)
        if (wants_terms)
            table_add(table, (const char *const[]){arena_printf(&cli->arena, "%s%s  %s", below,
                                                                json_array_size(children) ? "│" : " ",
                                                                cli_text(item, "sentence")),
                                                   amount(cli, item, "given", is_memory), "", "", "", "", "", ""});
    json_array_foreach(children, i, item) // three levels: pool, departments, projects
        add_node(cli, item, below, i + 1 < json_array_size(children) ? "├─ " : "└─ ", is_memory, table);
}

int run_fairshare(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name",      "Fair Share", "Deserved", "Limit",
                                         "Requested", "Allocated",  "Rank",     "Weight"};
    const char *resource = flag_text(&cli->arguments, "resource");
    json_t *tree;
    if (cli_get(cli, &tree, err, "/api/v1/scheduler/fairshare?%sresource=%s", pool_query(cli),
                client_escape(&cli->client, resource ? resource : "gpu")) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, tree);
    } else {
        struct table table;
        table_init(&table, &cli->arena, TITLES, 8);
        add_node(cli, cli_at(tree, "root"), "", "", strcmp(cli_text(tree, "resource"), "memory") == 0, &table);
        cli_print_table(cli, &table);
    }
    json_decref(tree);
    return 0;
}

static int print_pace(struct cli *cli, struct error *err)
{
    json_t *about;
    if (cli_get(cli, &about, err, "/api/v1/about") < 0)
        return -1;
    printf("\n%s\n", cli_pace(cli, cli_at(about, "scheduler")));
    json_decref(about);
    return 0;
}

int run_queue(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"#",    "Workload", "Project", "Department",     "GPUs",
                                         "Pods", "Priority", "Waiting", "Before the next"};
    json_t *entries, *entry;
    size_t i;
    const char *path = arena_printf(&cli->arena, "/api/v1/scheduler/queue?%s", pool_query(cli));
    if (cli_get_all(cli, path, "workloads", &entries, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, entries);
    } else if (json_array_size(entries) == 0) {
        puts("Nothing waits.");
    } else {
        struct table table;
        table_init(&table, &cli->arena, TITLES, 9);
        json_array_foreach(entries, i, entry) {
            const char *rule = cli_text(entry, "rule");
            table_add(&table,
                      (const char *const[]){arena_printf(&cli->arena, "%.0f", cli_number(entry, "position")),
                                            cli_text(entry, "workload"), cli_text(entry, "project"),
                                            cli_text(entry, "department"), cli_amount(cli, cli_number(entry, "gpus")),
                                            arena_printf(&cli->arena, "%.0f", cli_number(entry, "pods")),
                                            arena_printf(&cli->arena, "%.0f", cli_number(entry, "priority")),
                                            cli_age(cli, cli_text(entry, "waitingSince")), *rule ? rule : NULL});
        }
        cli_print_table(cli, &table);
    }
    json_decref(entries);
    bool is_for_people = cli_output(cli) == OUTPUT_TABLE && !flag_is_set(&cli->arguments, "no-headers");
    return is_for_people ? print_pace(cli, err) : 0;
}

// Names of an array's objects, with commas between.
static const char *names_of(struct cli *cli, const json_t *objects, const char *key)
{
    const char *names = "";
    json_t *object;
    size_t i;
    json_array_foreach(objects, i, object) {
        const char *name = cli_text(object, key);
        if (*name)
            names = arena_printf(&cli->arena, "%s%s%s", names, *names ? ", " : "", name);
    }
    return *names ? names : NULL;
}

static void print_waiting(struct cli *cli, const json_t *groups)
{
    static const char *const TITLES[] = {"Workloads", "GPUs",    "Node Pool", "Waiting",
                                         "Projects",  "Held By", "Expected",  "Reason"};
    struct table table;
    json_t *group;
    size_t i;
    table_init(&table, &cli->arena, TITLES, 8);
    json_array_foreach(groups, i, group) {
        const char *expected = cli_text(group, "expectedAt"), *sentence = cli_text(group, "sentence");
        table_add(&table, (const char *const[]){arena_printf(&cli->arena, "%.0f", cli_number(group, "count")),
                                                cli_amount(cli, cli_number(group, "gpus")), cli_text(group, "nodePool"),
                                                cli_age(cli, cli_text(group, "waitingSince")),
                                                names_of(cli, cli_at(group, "projects"), "name"),
                                                names_of(cli, cli_at(group, "holders"), "project"),
                                                *expected ? expected : NULL, *sentence ? sentence : NULL});
    }
    cli_print_table(cli, &table);
}

int run_waiting(struct cli *cli, struct error *err)
{
    json_t *waiting;
    if (cli_get(cli, &waiting, err, "/api/v1/scheduler/waiting?%s", pool_query(cli)) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, waiting);
    else if (json_array_size(cli_at(waiting, "groups")) == 0)
        puts("Nothing waits.");
    else
        print_waiting(cli, cli_at(waiting, "groups"));
    json_decref(waiting);
    return 0;
}

static int receipts_path(struct cli *cli, const char **out_path, struct error *err)
{
    const char *name = flag_text(&cli->arguments, "workload"), *since = flag_text(&cli->arguments, "since");
    const char *project = flag_text(&cli->arguments, "project");
    const char *path = arena_printf(&cli->arena, "/api/v1/scheduler/receipts?%s", pool_query(cli));
    json_t *found;
    if (name) {
        if (cli_find_workload(cli, name, &found, err) < 0)
            return -1;
        path = arena_printf(&cli->arena, "%sworkloadId=%s&", path, cli_text(found, "id"));
        json_decref(found);
    } else if (project) {
        if (cli_find_project(cli, project, &found, err) < 0)
            return -1;
        path = arena_printf(&cli->arena, "%sprojectId=%s&", path, cli_text(found, "id"));
        json_decref(found);
    }
    if (since)
        path = arena_printf(&cli->arena, "%ssince=%s&", path, client_escape(&cli->client, since));
    *out_path = path;
    return 0;
}

int run_receipts(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Age",  "Action", "Workload", "Project", "GPUs",
                                         "Node", "For",    "Lost (s)", "Why"};
    const char *path;
    json_t *receipts, *receipt;
    size_t i;
    if (receipts_path(cli, &path, err) < 0 || cli_get_all(cli, path, "receipts", &receipts, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, receipts);
    } else if (json_array_size(receipts) == 0) {
        puts("Nothing gave way.");
    } else {
        struct table table;
        table_init(&table, &cli->arena, TITLES, 9);
        json_array_foreach(receipts, i, receipt) {
            const char *whom = cli_text(receipt, "beneficiary");
            table_add(&table,
                      (const char *const[]){
                          cli_age(cli, cli_text(receipt, "time")),
                          json_is_true(cli_at(receipt, "moved")) ? "moved" : cli_text(receipt, "action"),
                          cli_text(receipt, "workload"), cli_text(receipt, "project"),
                          cli_amount(cli, cli_number(receipt, "gpus")), cli_text(receipt, "node"), *whom ? whom : NULL,
                          arena_printf(&cli->arena, "%.0f", floor(cli_number(receipt, "lostSeconds"))),
                          cli_text(receipt, "sentence")});
        }
        cli_print_table(cli, &table);
    }
    json_decref(receipts);
    return 0;
}

static int idle_path(struct cli *cli, const char **out_path, struct error *err)
{
    const char *least = flag_text(&cli->arguments, "for"), *project = flag_text(&cli->arguments, "project");
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads/idle?%s", pool_query(cli));
    json_t *found;
    if (project) {
        if (cli_find_project(cli, project, &found, err) < 0)
            return -1;
        path = arena_printf(&cli->arena, "%sprojectId=%s&", path, cli_text(found, "id"));
        json_decref(found);
    }
    if (least)
        path = arena_printf(&cli->arena, "%sminIdleSeconds=%s&", path, client_escape(&cli->client, least));
    *out_path = path;
    return 0;
}

static void add_idle(struct cli *cli, const json_t *entry, struct table *table)
{
    const json_t *busy = cli_at(entry, "averageUtilization");
    table_add(table,
              (const char *const[]){
                  cli_text(entry, "name"), cli_text(entry, "type"), cli_text(entry, "projectName"),
                  cli_text(entry, "submittedBy"), cli_text(entry, "nodePool"),
                  cli_amount(cli, cli_number(entry, "gpusAllocated")), cli_amount(cli, cli_number(entry, "gpusIdle")),
                  json_is_number(busy) ? arena_printf(&cli->arena, "%.1f %%", json_number_value(busy)) : NULL,
                  cli_age(cli, cli_text(entry, "idleSince")), cli_amount(cli, cli_number(entry, "idleGpuHours"))});
}

int run_idle(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Workload", "Type", "Project",     "User",     "Node Pool",
                                         "GPUs",     "Idle", "Utilization", "Idle For", "GPU Hours"};
    const char *path;
    json_t *workloads;
    if (idle_path(cli, &path, err) < 0 || cli_get_all(cli, path, "workloads", &workloads, err) < 0)
        return -1;
    if (cli_output(cli) == OUTPUT_TABLE && json_array_size(workloads) == 0)
        puts("No GPU that somebody holds is idle.");
    else
        cli_print_list(cli, workloads, TITLES, 10, add_idle);
    json_decref(workloads);
    return 0;
}
