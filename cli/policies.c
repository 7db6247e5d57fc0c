// policy list, describe, effective, apply, delete: defaults and rules for what is submitted, by type and scope.
#include "base/error.h"
#include "base/yaml_reader.h"
#include "cli/command.h"
#include "cli/place.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/api/v2/policy"

// TYPE from the words behind the command, as the API's path has it.
static int read_type(struct cli *cli, const char **out_path, struct error *err)
{
    static const char *const TYPES[][2] = {{"training", "trainings"},
                                           {"workspace", "workspaces"},
                                           {"distributed", "distributed"},
                                           {"inference", "inferences"}};
    const char *word;
    if (cli_name(cli, &word, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        if (!strcmp(word, TYPES[i][0]) || !strcmp(word, TYPES[i][1])) {
            *out_path = TYPES[i][1];
            return 0;
        }
    return error_set(err, ERROR_INVALID, "TYPE: training, workspace, distributed or inference, got %.60s", word);
}

static const char *path_of(struct cli *cli, const char *type, const struct place *place)
{
    if (!place->id)
        return arena_printf(&cli->arena, PATH "/%s?scope=%s", type, place->scope);
    return arena_printf(&cli->arena, PATH "/%s?scope=%s&%s=%s", type, place->scope, place->key,
                        client_escape(&cli->client, place->id));
}

static const char *scope_of(struct cli *cli, const json_t *meta)
{
    const char *department = cli_text(meta, "departmentId");
    const json_t *project = json_object_get(meta, "projectId");
    if (json_is_integer(project))
        return arena_printf(&cli->arena, "project %" PRId64, (int64_t)json_integer_value(project));
    return *department ? arena_printf(&cli->arena, "department %s", department) : cli_text(meta, "scope");
}

static void add_policy(struct cli *cli, const json_t *policy, struct table *table)
{
    const json_t *meta = json_object_get(policy, "meta");
    table_add(table, (const char *const[]){cli_text(meta, "name"), cli_text(policy, "type"), scope_of(cli, meta),
                                           cli_text(meta, "createdBy"), cli_age(cli, cli_text(meta, "createdAt")),
                                           cli_age(cli, cli_text(meta, "updatedAt"))});
}

int run_policy_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Policy", "Type", "Scope", "Created By", "Age", "Changed"};
    bool has_system = flag_is_set(&cli->arguments, "system");
    json_t *answer;
    if (cli_get(cli, &answer, err, PATH "%s", has_system ? "?includeFallbackPolicies=true" : "") < 0)
        return -1;
    cli_print_list(cli, json_object_get(answer, "policies"), TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_policy);
    json_decref(answer);
    return 0;
}

static int get_policy(struct cli *cli, json_t **out_answer, struct error *err)
{
    const char *type;
    struct place place;
    if (read_type(cli, &type, err) < 0 || cli_read_place(cli, &place, err) < 0)
        return -1;
    return cli_get(cli, out_answer, err, "%s", path_of(cli, type, &place));
}

// As a file that apply takes: YAML, unless something else is asked for.
int run_policy_describe(struct cli *cli, struct error *err)
{
    json_t *answer;
    if (get_policy(cli, &answer, err) < 0)
        return -1;
    const json_t *policy = json_object_get(answer, "policy");
    int rc = json_is_object(policy) ? 0 : error_set(err, ERROR_NOT_FOUND, "no policy is set here");
    if (rc == 0 && cli_output(cli) == OUTPUT_TABLE)
        cli_print_yaml(policy);
    else if (rc == 0)
        cli_print(cli, policy);
    json_decref(answer);
    return rc;
}

// {"compute.gpuDevicesRequest": {"default", "rule", "from", "by"}, ...}: texts, for a row each.
static json_t *row_of(json_t *rows, const char *path)
{
    json_t *row = json_object_get(rows, path);
    if (row)
        return row;
    row = json_object();
    json_object_set_new(rows, path, row);
    return row;
}

static const char *dump(struct cli *cli, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    const char *copy = arena_strdup(&cli->arena, text);
    free(text);
    return copy;
}

static void add_rule(struct cli *cli, json_t *rows, const char *path, json_t *rule)
{
    json_t *row = row_of(rows, path), *value;
    const char *text = "", *key;
    json_object_foreach(rule, key, value)
        if (strcmp(key, "sourceOfRule") != 0)
            text = arena_printf(&cli->arena, "%s%s%s %s", text, *text ? ", " : "", key, dump(cli, value));
    json_object_set_new(row, "rule", json_string(text));
    json_object_set_new(row, "by", json_string(scope_of(cli, json_object_get(rule, "sourceOfRule"))));
}

static void add_rules(struct cli *cli, json_t *rows, const char *path, json_t *rules)
{
    const char *key;
    json_t *rule;
    json_object_foreach(rules, key, rule) {
        const char *inner = arena_printf(&cli->arena, "%s%s%s", path, *path ? "." : "", key);
        if (json_object_get(rule, "sourceOfRule"))
            add_rule(cli, rows, inner, rule);
        else
            add_rules(cli, rows, inner, rule);
    }
}

// The value at a path of names and [index].
static const json_t *value_at(struct cli *cli, const json_t *value, const char *path)
{
    char *rest = arena_strdup(&cli->arena, path), *step;
    while (value && (step = strsep(&rest, "."))) {
        char *index = strchr(step, '[');
        if (index)
            *index = '\0';
        value = json_object_get(value, step);
        if (index)
            value = json_array_get(value, (size_t)strtoul(index + 1, NULL, 10));
    }
    return value;
}

static void add_defaults(struct cli *cli, json_t *rows, const json_t *effective)
{
    json_t *sources = json_object_get(effective, "sourceOfDefaults"), *source;
    const char *path;
    json_object_foreach(sources, path, source) {
        const json_t *value = value_at(cli, json_object_get(effective, "defaults"), path);
        json_t *row = row_of(rows, path);
        json_object_set_new(row, "default", json_string(dump(cli, value)));
        json_object_set_new(row, "from", json_string(scope_of(cli, source)));
    }
}

static const char *source_text(struct cli *cli, const json_t *row)
{
    const char *from = cli_text(row, "from"), *by = cli_text(row, "by");
    if (!*from || !*by || !strcmp(from, by))
        return *from ? from : by;
    return arena_printf(&cli->arena, "%s (default), %s (rule)", from, by);
}

static void print_effective(struct cli *cli, const json_t *effective)
{
    static const char *const TITLES[] = {"Parameter", "Default", "Rule", "Source"};
    json_t *rows = json_object(), *row;
    const char *path;
    struct table table;
    table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
    add_defaults(cli, rows, effective);
    add_rules(cli, rows, "", json_object_get(effective, "rules"));
    json_object_foreach(rows, path, row) {
        const char *value = json_string_value(json_object_get(row, "default"));
        const char *rule = json_string_value(json_object_get(row, "rule"));
        table_add(&table, (const char *const[]){arena_strdup(&cli->arena, path),
                                                value ? arena_strdup(&cli->arena, value) : NULL,
                                                rule ? arena_strdup(&cli->arena, rule) : NULL,
                                                arena_strdup(&cli->arena, source_text(cli, row))});
    }
    cli_print_table(cli, &table);
    json_decref(rows);
}

int run_policy_effective(struct cli *cli, struct error *err)
{
    json_t *answer;
    if (get_policy(cli, &answer, err) < 0)
        return -1;
    const json_t *effective = json_object_get(answer, "effective");
    if (cli_output(cli) == OUTPUT_TABLE)
        print_effective(cli, effective);
    else
        cli_print(cli, effective);
    json_decref(answer);
    return 0;
}

static int read_file(struct cli *cli, json_t **out_policy, struct error *err)
{
    const char *path = flag_text(&cli->arguments, "file");
    json_t *document;
    if (!path)
        return error_set(err, ERROR_INVALID, "--file is missing: defaults and rules as YAML or JSON");
    if (yaml_read_file(path, &document, err) < 0) // JSON is YAML
        return -1;
    cli_drop_lines(document);
    json_t *inner = json_object_get(document, "policy"); // an answer of the API
    *out_policy = json_incref(inner ? inner : document);
    json_decref(document);
    return 0;
}

static json_t *body_of(struct cli *cli, const struct place *place, json_t *stolen_policy)
{
    const char *name = flag_text(&cli->arguments, "name");
    json_t *meta = json_pack("{s:s, s:s}", "name", name ? name : place->scope, "scope", place->scope);
    if (place->id && !strcmp(place->scope, "project"))
        json_object_set_new(meta, place->key, json_integer(strtoll(place->id, NULL, 10)));
    else if (place->id)
        json_object_set_new(meta, place->key, json_string(place->id));
    return json_pack("{s:o, s:o}", "meta", meta, "policy", stolen_policy);
}

int run_policy_apply(struct cli *cli, struct error *err)
{
    const char *type;
    struct place place;
    json_t *policy = NULL;
    bool is_check = flag_is_set(&cli->arguments, "validate-only");
    if (read_type(cli, &type, err) < 0 || cli_read_place(cli, &place, err) < 0 || read_file(cli, &policy, err) < 0)
        return -1;
    json_t *body = body_of(cli, &place, policy);
    int rc = client_call(&cli->client, flag_is_set(&cli->arguments, "merge") ? "PATCH" : "PUT",
                         arena_printf(&cli->arena, PATH "/%s%s", type, is_check ? "?validateOnly=true" : ""), body,
                         NULL, err);
    if (rc == 0)
        printf("policy of %s in %s %s %s\n", type, *place.scope == 't' ? "the" : "a", place.scope,
               is_check ? "is good; nothing was stored" : "applied");
    json_decref(body);
    return rc;
}

int run_policy_delete(struct cli *cli, struct error *err)
{
    const char *type;
    struct place place;
    if (read_type(cli, &type, err) < 0 || cli_read_place(cli, &place, err) < 0 ||
        client_call(&cli->client, "DELETE", path_of(cli, type, &place), NULL, NULL, err) < 0)
        return -1;
    printf("policy of %s deleted\n", type);
    return 0;
}
