// access-rule list, create, delete.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH "/api/v1/authorization/access-rules"

static const char *id_of(struct cli *cli, const json_t *entry)
{
    return arena_printf(&cli->arena, "%" PRId64, (int64_t)json_integer_value(json_object_get(entry, "id")));
}

static void add_rule(struct cli *cli, const json_t *rule, struct table *table)
{
    const char *ends = cli_text(rule, "expiresAt");
    const char *scope = arena_printf(&cli->arena, "%s %s", cli_text(rule, "scopeType"), cli_text(rule, "scopeName"));
    table_add(table, (const char *const[]){id_of(cli, rule), cli_text(rule, "subjectType"), cli_text(rule, "subjectId"),
                                           cli_text(rule, "roleName"), scope, *ends ? ends : NULL,
                                           cli_text(rule, "createdBy")});
}

int run_access_rule_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"ID", "Type", "Subject", "Role", "Scope", "Ends", "Created By"};
    json_t *rules;
    if (cli_get_all(cli, PATH, "accessRules", &rules, err) < 0)
        return -1;
    cli_print_list(cli, rules, TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_rule);
    json_decref(rules);
    return 0;
}

static void add_subjects(struct cli *cli, json_t *list, const char *flag)
{
    const struct flag_value *values = flag_values(&cli->arguments, flag);
    for (size_t i = 0; values && i < values->count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "subjectType", flag, "subjectId", values->texts[i]));
}

static void add_scope(json_t *list, const char *type, const char *id)
{
    json_array_append_new(list, json_pack("{s:s, s:s}", "scopeType", type, "scopeId", id));
}

// The departments or projects that a flag names.
static int add_scopes(struct cli *cli, json_t *list, const char *flag, struct error *err)
{
    const struct flag_value *values = flag_values(&cli->arguments, flag);
    for (size_t i = 0; values && i < values->count; i++) {
        json_t *unit;
        if (cli_find_unit(cli, flag, values->texts[i], &unit, err) < 0)
            return -1;
        add_scope(list, flag, cli_text(unit, "id"));
        json_decref(unit);
    }
    return 0;
}

static int make_payload(struct cli *cli, json_t *payload, struct error *err)
{
    const char *role_name = flag_text(&cli->arguments, "role"), *expires = flag_text(&cli->arguments, "expires");
    json_t *role, *subjects = json_array(), *scopes = json_array();
    json_object_set_new(payload, "subjects", subjects);
    json_object_set_new(payload, "scopes", scopes);
    if (!role_name)
        return error_set(err, ERROR_INVALID, "--role is missing");
    if (cli_find_role(cli, role_name, &role, err) < 0)
        return -1;
    json_object_set(payload, "roleId", json_object_get(role, "id"));
    json_decref(role);
    if (expires)
        json_object_set_new(payload, "expiresAt", json_string(expires));
    add_subjects(cli, subjects, "user");
    add_subjects(cli, subjects, "service-account");
    add_subjects(cli, subjects, "group");
    if (flag_is_set(&cli->arguments, "tenant"))
        add_scope(scopes, "tenant", "1");
    if (add_scopes(cli, scopes, "department", err) < 0 || add_scopes(cli, scopes, "project", err) < 0)
        return -1;
    if (!json_array_size(subjects))
        return error_set(err, ERROR_INVALID, "nobody is named: --user, --service-account or --group");
    if (!json_array_size(scopes))
        return error_set(err, ERROR_INVALID, "no scope is named: --project, --department or --tenant");
    return 0;
}

// Each rule that was made, and the first that was not as the error.
static int print_outcome(struct cli *cli, const json_t *answer, struct error *err)
{
    const json_t *succeeded = json_object_get(answer, "succeeded"), *failed = json_object_get(answer, "failed");
    json_t *rule;
    size_t i;
    json_array_foreach(succeeded, i, rule)
        printf("access rule %s created: %s is %s in %s %s\n", id_of(cli, rule), cli_text(rule, "subjectId"),
               cli_text(rule, "roleName"), cli_text(rule, "scopeType"), cli_text(rule, "scopeName"));
    const json_t *first = json_array_get(failed, 0);
    if (!first)
        return 0;
    return error_set(err, ERROR_INVALID, "%zu of %zu access rules were refused: %s", json_array_size(failed),
                     json_array_size(failed) + json_array_size(succeeded), cli_text(first, "message"));
}

int run_access_rule_create(struct cli *cli, struct error *err)
{
    json_t *answer, *payload = json_object(), *body = json_pack("{s:o}", "payload", payload);
    int rc = make_payload(cli, payload, err);
    if (rc == 0)
        rc = client_call(&cli->client, "POST", PATH "/batch-create", body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    rc = print_outcome(cli, answer, err);
    json_decref(answer);
    return rc;
}

int run_access_rule_delete(struct cli *cli, struct error *err)
{
    const char *id;
    if (cli_name(cli, &id, err) < 0 ||
        client_call(&cli->client, "DELETE", arena_printf(&cli->arena, PATH "/%s", client_escape(&cli->client, id)),
                    NULL, NULL, err) < 0)
        return -1;
    printf("access rule %s deleted successfully\n", id);
    return 0;
}
