// Asking the server for things by their names.
#include "base/error.h"
#include "base/uuid.h"
#include "cli/command.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_DEFAULT = 100,
    PAGE_MAX = 500
};

int cli_get(struct cli *cli, json_t **out_answer, struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *path = arena_vprintf(&cli->arena, format, args);
    va_end(args);
    return client_call(&cli->client, "GET", path, NULL, out_answer, err);
}

static size_t number_flag(const struct cli *cli, const char *name, size_t fallback)
{
    const char *text = flag_text(&cli->arguments, name);
    long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 ? (size_t)number : fallback;
}

int cli_get_all(struct cli *cli, const char *path, const char *key, json_t **out_entries, struct error *err)
{
    return cli_get_first(cli, path, key, number_flag(cli, "max-items", SIZE_MAX), out_entries, err);
}

int cli_get_first(struct cli *cli, const char *path, const char *key, size_t most, json_t **out_entries,
                  struct error *err)
{
    json_t *all = json_array();
    bool is_bare = !key || !*key;
    size_t skipped = number_flag(cli, "next-token", 0);
    cli->list_key = is_bare ? NULL : key;
    size_t page = number_flag(cli, "page-size", PAGE_DEFAULT);
    if (page > PAGE_MAX)
        page = PAGE_MAX;
    for (bool has_more = true; has_more && json_array_size(all) < most;) {
        json_t *answer;
        if (cli_get(cli, &answer, err, "%s%coffset=%zu&limit=%zu", path, strchr(path, '?') ? '&' : '?',
                    skipped + json_array_size(all), page) < 0) {
            json_decref(all);
            return -1;
        }
        json_t *entries = is_bare ? answer : json_object_get(answer, key);
        // A page of long rows ends early and says so.
        has_more = key && (json_array_size(entries) == page || json_object_get(answer, "next") ||
                           cli_at(answer, "pagination.nextOffset"));
        json_array_extend(all, entries);
        json_decref(answer);
    }
    while (json_array_size(all) > most)
        json_array_remove(all, json_array_size(all) - 1);
    *out_entries = all;
    return 0;
}

int cli_project_name(struct cli *cli, const char **out_name, struct error *err)
{
    const char *name = flag_text(&cli->arguments, "project");
    if (!name)
        name = profile_project(&cli->profile);
    if (!name) {
        error_set(err, ERROR_INVALID, "no project is named");
        return error_details(err, "use --project NAME, or set a default: %s project set NAME", cli->program);
    }
    *out_name = name;
    return 0;
}

const char *cli_add_query(struct cli *cli, const char *path, const char *parameter, const char *value)
{
    if (!value)
        return path;
    return arena_printf(&cli->arena, "%s%c%s=%s", path, strchr(path, '?') ? '&' : '?', parameter,
                        client_escape(&cli->client, value));
}

// The first entry of a list that was asked for by name.
static int first_of(json_t *answer, const char *key, const char *what, const char *name, json_t **out_entry,
                    struct error *err)
{
    json_t *entry = json_incref(json_array_get(json_object_get(answer, key), 0));
    json_decref(answer);
    if (!entry)
        return error_set(err, ERROR_NOT_FOUND, "no %s was found with the name %s", what, name);
    *out_entry = entry;
    return 0;
}

int cli_find_unit(struct cli *cli, const char *what, const char *name, json_t **out_unit, struct error *err)
{
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/org-unit/%ss?filterBy=%s", what,
                client_escape(&cli->client, arena_printf(&cli->arena, "name==%s", name))) < 0)
        return -1;
    return first_of(answer, arena_printf(&cli->arena, "%ss", what), what, name, out_unit, err);
}

int cli_find_project(struct cli *cli, const char *name, json_t **out_project, struct error *err)
{
    return cli_find_unit(cli, "project", name, out_project, err);
}

static int find_by_uuid(struct cli *cli, const char *uuid, json_t **out_workload, struct error *err)
{
    const struct kind *kind = cli->command->kind;
    if (!uuid_is_valid(uuid))
        return error_set(err, ERROR_INVALID, "--uuid: expected a UUID, got %.60s", uuid);
    if (cli_get(cli, out_workload, err, "/api/v1/workloads/%s", uuid) < 0)
        return -1;
    bool is_kind = !kind || !kind->type || strcmp(cli_text(*out_workload, "type"), kind->type) == 0;
    if (is_kind && !*cli_text(*out_workload, "deletedAt"))
        return 0;
    json_decref(*out_workload);
    return error_set(err, ERROR_NOT_FOUND, "no workload was found: %s", uuid);
}

int cli_find_workload(struct cli *cli, const char *name, json_t **out_workload, struct error *err)
{
    json_t *answer;
    const char *project, *uuid = flag_text(&cli->arguments, "uuid");
    if (uuid)
        return find_by_uuid(cli, uuid, out_workload, err);
    if (cli_project_name(cli, &project, err) < 0)
        return -1;
    const char *filter = arena_printf(&cli->arena, "name==%s,projectName==%s", name, project);
    if (cli->command->kind && cli->command->kind->type)
        filter = arena_printf(&cli->arena, "%s,type==%s", filter, cli->command->kind->type);
    if (cli_get(cli, &answer, err, "/api/v1/workloads?filterBy=%s", client_escape(&cli->client, filter)) < 0)
        return -1;
    if (first_of(answer, "workloads", "workload", name, out_workload, err) == 0)
        return 0;
    return error_set(err, ERROR_NOT_FOUND, "no workload was found: %s in project %s", name, project);
}

static int refuse_namesakes(struct cli *cli, const json_t *entries, const char *name, struct error *err)
{
    const char *projects = "";
    json_t *entry;
    size_t i;
    json_array_foreach(entries, i, entry)
        projects = arena_printf(&cli->arena, "%s%s%s", projects, i ? ", " : "", cli_text(entry, "projectName"));
    error_set(err, ERROR_INVALID, "several projects have a workload %s: %s", name, projects);
    return error_details(err, "use --project NAME");
}

int cli_look_up_workload(struct cli *cli, const char *name, json_t **out_workload, struct error *err)
{
    const char *project, *filter = arena_printf(&cli->arena, "name==%s", name);
    json_t *answer;
    if (flag_text(&cli->arguments, "uuid") || cli_project_name(cli, &project, NULL) == 0)
        return cli_find_workload(cli, name, out_workload, err);
    if (cli->command->kind && cli->command->kind->type)
        filter = arena_printf(&cli->arena, "%s,type==%s", filter, cli->command->kind->type);
    if (cli_get(cli, &answer, err, "/api/v1/workloads?filterBy=%s", client_escape(&cli->client, filter)) < 0)
        return -1;
    const json_t *entries = json_object_get(answer, "workloads");
    int rc = 0;
    if (json_array_size(entries) == 1)
        *out_workload = json_incref(json_array_get(entries, 0));
    else if (json_array_size(entries) == 0)
        rc = error_set(err, ERROR_NOT_FOUND, "no workload was found: %s", name);
    else
        rc = refuse_namesakes(cli, entries, name, err);
    json_decref(answer);
    return rc;
}

const char *cli_path_of_type(const char *type)
{
    static const char *const PATHS[][2] = {{"Training", "trainings"},
                                           {"Workspace", "workspaces"},
                                           {"Distributed", "distributed"},
                                           {"Inference", "inferences"}};
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        if (strcmp(PATHS[i][0], type) == 0)
            return PATHS[i][1];
    return "trainings";
}

int cli_name(struct cli *cli, const char **out_name, struct error *err)
{
    const char *uuid = flag_text(&cli->arguments, "uuid");
    if (uuid && cli->arguments.word_count > 0)
        return error_set(err, ERROR_INVALID, "--uuid stands in place of a name, and there is %s",
                         cli->arguments.words[0]);
    *out_name = uuid;
    if (uuid)
        return 0;
    if (cli->arguments.word_count == 0)
        return error_set(err, ERROR_INVALID, "a name is missing: %s %s %s", cli->program, cli->command->words,
                         cli->command->usage);
    *out_name = cli->arguments.words[0];
    return 0;
}
