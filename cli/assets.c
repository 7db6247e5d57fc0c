// template, compute, environment, datasource, credential: list, describe. And the same by name, for submissions.
#include "cli/assets.h"

#include "base/error.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/table.h"

#include <string.h>

int asset_read_query(struct cli *cli, const struct kind *kind, const char **out_query, struct error *err)
{
    const char *name = flag_text(&cli->arguments, "project");
    json_t *project;
    *out_query = "";
    if (!name)
        return 0;
    if (cli_find_project(cli, name, &project, err) < 0)
        return -1;
    *out_query = asset_project_query(cli, kind, cli_text(project, "id"));
    json_decref(project);
    return 0;
}

const char *asset_project_query(struct cli *cli, const struct kind *kind, const char *project_id)
{
    return arena_printf(&cli->arena, "%s=%s",
                        kind->type ? "complyToWorkloadType=Training&complyToProject" : "projectId",
                        client_escape(&cli->client, project_id));
}

int asset_get_list(struct cli *cli, const struct kind *kind, const char *query, json_t **out_entries, struct error *err)
{
    const char *path = arena_printf(&cli->arena, "%s%s%s", kind->path, *query ? "?" : "", query);
    if (kind->type) // templates alone come in pages
        return cli_get_all(cli, path, "entries", out_entries, err);
    json_t *answer;
    if (cli_get(cli, &answer, err, "%s", path) < 0)
        return -1;
    cli->list_key = "entries";
    *out_entries = json_incref(json_object_get(answer, cli->list_key));
    json_decref(answer);
    return 0;
}

const char *asset_scope(const json_t *meta)
{
    const char *scope = cli_text(meta, "scope");
    return *scope ? scope : cli_text(meta, "scopeType");
}

// How near to a project: of several that have the name, the nearest is meant.
static int nearness(const json_t *entry)
{
    static const char *const SCOPES[] = {"system", "tenant", "cluster", "department", "project"};
    const char *scope = asset_scope(json_object_get(entry, "meta"));
    int rank = 0;
    for (int i = 0; i < (int)(sizeof(SCOPES) / sizeof(SCOPES[0])); i++)
        if (strcmp(scope, SCOPES[i]) == 0)
            rank = i;
    return rank;
}

int asset_find_by_name(struct cli *cli, const struct kind *kind, const char *name, const char *query,
                       json_t **out_entry, struct error *err)
{
    json_t *entries, *entry, *nearest = NULL;
    size_t i;
    if (asset_get_list(cli, kind, query, &entries, err) < 0)
        return -1;
    json_array_foreach(entries, i, entry) {
        const json_t *meta = json_object_get(entry, "meta");
        bool is_meant = strcmp(cli_text(meta, uuid_is_valid(name) ? "id" : "name"), name) == 0;
        if (is_meant && (!nearest || nearness(entry) > nearness(nearest)))
            nearest = entry;
    }
    *out_entry = json_incref(nearest);
    json_decref(entries);
    return nearest ? 0 : error_set(err, ERROR_NOT_FOUND, "no %s was found with the name %s", kind->word, name);
}

static const char *amount_of(struct cli *cli, const json_t *spec)
{
    const json_t *portion = json_object_get(spec, "gpuPortionRequest");
    const char *memory = cli_text(spec, "gpuMemoryRequest"), *type = cli_text(spec, "gpuRequestType");
    double devices = cli_number(spec, "gpuDevicesRequest");
    if (strcmp(type, "portion") == 0 && json_is_number(portion))
        return arena_printf(&cli->arena, "%g x %g", devices, json_number_value(portion));
    if (strcmp(type, "memory") == 0)
        return arena_printf(&cli->arena, "%g x %s", devices, memory);
    return arena_printf(&cli->arena, "%g", devices);
}

// What tells one from another, by kind.
static const char *contents_of(struct cli *cli, const json_t *entry)
{
    const json_t *meta = json_object_get(entry, "meta"), *spec = json_object_get(entry, "spec");
    const json_t *runnable = cli_at(entry, "runnable.isRunnable");
    if (runnable)
        return json_is_true(runnable) ? cli_text(meta, "workloadType")
                                      : arena_printf(&cli->arena, "%s, incomplete", cli_text(meta, "workloadType"));
    if (strcmp(cli_text(meta, "kind"), "compute") == 0)
        return amount_of(cli, spec);
    return *cli_text(spec, "image") ? cli_text(spec, "image") : cli_text(meta, "kind");
}

static void add_row(struct cli *cli, const json_t *entry, struct table *table)
{
    const json_t *meta = json_object_get(entry, "meta");
    table_add(table, (const char *const[]){cli_text(meta, "name"), contents_of(cli, entry), asset_scope(meta),
                                           cli_text(meta, "createdBy"), cli_age(cli, cli_text(meta, "createdAt"))});
}

static void add_old_row(struct cli *cli, const json_t *entry, struct table *table)
{
    (void)cli;
    const json_t *meta = json_object_get(entry, "meta");
    table_add(table, (const char *const[]){cli_text(meta, "name"), cli_text(meta, "description")});
}

// Scripts read name and type beside meta.
static void lift_names(json_t *entries)
{
    static const char *const KEYS[][2] = {{"name", "name"}, {"kind", "type"}, {"workloadType", "type"}};
    json_t *entry;
    size_t i;
    json_array_foreach(entries, i, entry)
        for (size_t k = 0; k < sizeof(KEYS) / sizeof(KEYS[0]); k++) {
            json_t *value = json_object_get(json_object_get(entry, "meta"), KEYS[k][0]);
            if (json_is_string(value) && !json_object_get(entry, KEYS[k][1]))
                json_object_set(entry, KEYS[k][1], value);
        }
}

int run_asset_list(struct cli *cli, struct error *err)
{
    static const char *const OLD_TITLES[] = {"NAME", "DESCRIPTION"};
    const struct kind *kind = cli->command->kind;
    const char *const titles[] = {"Name", kind->framework, "Scope", "Created By", "Age"};
    const char *query;
    json_t *entries;
    if (asset_read_query(cli, kind, &query, err) < 0 || asset_get_list(cli, kind, query, &entries, err) < 0)
        return -1;
    lift_names(entries);
    if (cli->command->is_old)
        cli_print_list(cli, entries, OLD_TITLES, sizeof(OLD_TITLES) / sizeof(OLD_TITLES[0]), add_old_row);
    else
        cli_print_list(cli, entries, titles, sizeof(titles) / sizeof(titles[0]), add_row);
    json_decref(entries);
    return 0;
}

int run_asset_describe(struct cli *cli, struct error *err)
{
    const char *name, *query;
    json_t *entry;
    if (cli_name(cli, &name, err) < 0 || asset_read_query(cli, cli->command->kind, &query, err) < 0 ||
        asset_find_by_name(cli, cli->command->kind, name, query, &entry, err) < 0)
        return -1;
    if (cli_output(cli) == OUTPUT_TABLE)
        cli_print_yaml(entry);
    else
        cli_print(cli, entry);
    json_decref(entry);
    return 0;
}
