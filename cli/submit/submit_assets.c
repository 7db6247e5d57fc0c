// What a submission is made from: --template, --compute, --environment NAME, --datasource; and whole files.
#include "base/error.h"
#include "base/yaml_reader.h"
#include "cli/assets.h"
#include "cli/command.h"
#include "cli/submit/submit.h"

#include <string.h>

const struct kind ASSET_TEMPLATE = {"template", "Template", "/api/v1/workload-templates", "Type"};
const struct kind ASSET_COMPUTE = {"compute", NULL, "/api/v1/asset/compute", "GPUs"};
const struct kind ASSET_ENVIRONMENT = {"environment", NULL, "/api/v1/asset/environment", "Image"};
const struct kind ASSET_DATA_SOURCE = {"datasource", NULL, "/api/v1/asset/datasource", "Kind"};
const struct kind ASSET_PVC = {"pvc", NULL, "/api/v1/asset/datasource/pvc", "Kind"};
const struct kind ASSET_CREDENTIAL = {"credential", NULL, "/api/v1/asset/credentials", "Kind"};

// The id of what has the name, or is the id; in the arena.
static int find_id(struct cli *cli, const struct kind *kind, const char *name, const json_t *body, const char **out_id,
                   struct error *err)
{
    json_t *entry;
    if (asset_find_by_name(cli, kind, name, asset_project_query(cli, kind, cli_text(body, "projectId")), &entry, err) <
        0)
        return -1;
    *out_id = arena_strdup(&cli->arena, cli_text(entry, "meta.id"));
    json_decref(entry);
    return 0;
}

static json_t *assets_of(json_t *body)
{
    if (!json_object_get(body, "assets"))
        json_object_set_new(body, "assets", json_object());
    return json_object_get(body, "assets");
}

static int add_asset(struct cli *cli, const struct kind *kind, const char *name, json_t *body, struct error *err)
{
    const char *id;
    if (find_id(cli, kind, name, body, &id, err) < 0)
        return -1;
    json_object_set_new(assets_of(body), kind->word, json_string(id));
    return 0;
}

// NAME, or as the original has it, type=,name=.
static int add_data_source(struct cli *cli, const char *text, json_t *body, struct error *err)
{
    const char *name = submit_part_of(cli, text, "name"), *id;
    if (find_id(cli, &ASSET_DATA_SOURCE, name ? name : text, body, &id, err) < 0)
        return -1;
    json_t *assets = assets_of(body);
    if (!json_object_get(assets, "datasources"))
        json_object_set_new(assets, "datasources", json_array());
    json_array_append_new(json_object_get(assets, "datasources"), json_pack("{s:s}", "id", id));
    return 0;
}

// --environment NAME; with a value it is a variable, which this one may have been meant to be.
static int add_environment(struct cli *cli, const char *text, json_t *body, struct error *err)
{
    if (strchr(text, '=') || add_asset(cli, &ASSET_ENVIRONMENT, text, body, err) == 0)
        return 0;
    if (err && err->code == ERROR_NOT_FOUND)
        return error_set(err, ERROR_NOT_FOUND,
                         "no environment was found with the name %s; an environment variable is NAME=VALUE", text);
    return -1;
}

int submit_take_assets(struct cli *cli, json_t *body, struct error *err)
{
    const char *template = flag_text(&cli->arguments, "template"), *compute = flag_text(&cli->arguments, "compute"),
               *id;
    const struct flag_value *sources = flag_values(&cli->arguments, "datasource"),
                            *variables = flag_values(&cli->arguments, "environment-variable");
    if (template) {
        if (find_id(cli, &ASSET_TEMPLATE, template, body, &id, err) < 0)
            return -1;
        json_object_set_new(body, "templateId", json_string(id));
    }
    if (compute && add_asset(cli, &ASSET_COMPUTE, compute, body, err) < 0)
        return -1;
    for (size_t i = 0; variables && i < variables->count; i++)
        if (add_environment(cli, variables->texts[i], body, err) < 0)
            return -1;
    for (size_t i = 0; sources && i < sources->count; i++)
        if (add_data_source(cli, sources->texts[i], body, err) < 0)
            return -1;
    return 0;
}

static int find_place(struct cli *cli, json_t *body, const char **out_project, struct error *err)
{
    const char *name = cli_text(body, "project");
    json_t *project;
    if (flag_text(&cli->arguments, "project") || !*name) {
        if (cli_project_name(cli, &name, err) < 0)
            return -1;
    }
    *out_project = arena_strdup(&cli->arena, name);
    if (cli_find_project(cli, *out_project, &project, err) < 0)
        return -1;
    json_object_set_new(body, "projectId", json_string(cli_text(project, "id")));
    json_object_set_new(body, "clusterId", json_string(cli_text(project, "clusterId")));
    json_object_del(body, "project");
    json_decref(project);
    return 0;
}

static int name_template(struct cli *cli, json_t *body, struct error *err)
{
    const char *name = json_string_value(json_object_get(body, "template")), *id;
    if (!name)
        return 0;
    if (find_id(cli, &ASSET_TEMPLATE, name, body, &id, err) < 0)
        return -1;
    json_object_set_new(body, "templateId", json_string(id));
    json_object_del(body, "template");
    return 0;
}

int submit_read_file(struct cli *cli, json_t **out_body, const char **out_type, const char **out_project,
                     struct error *err)
{
    const char *path = flag_text(&cli->arguments, "file");
    json_t *body;
    if (!path)
        return error_set(err, ERROR_INVALID, "--file is missing: a submission as YAML or JSON");
    if (yaml_read_file(path, &body, err) < 0) // JSON is YAML
        return -1;
    cli_drop_lines(body);
    *out_type = arena_strdup(&cli->arena, cli_text(body, "type"));
    json_object_del(body, "type");
    if (cli->arguments.word_count)
        json_object_set_new(body, "name", json_string(cli->arguments.words[0]));
    if (find_place(cli, body, out_project, err) < 0 || name_template(cli, body, err) < 0) {
        json_decref(body);
        return -1;
    }
    *out_body = body;
    return 0;
}
