// role list, describe, create, update, delete.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PATH "/api/v2/authorization/roles"

static void add_role(struct cli *cli, const json_t *role, struct table *table)
{
    const char *kind = !json_is_true(json_object_get(role, "custom"))   ? "predefined"
                       : json_is_true(json_object_get(role, "enabled")) ? "own"
                                                                        : "own, off";
    table_add(table,
              (const char *const[]){
                  arena_printf(&cli->arena, "%" PRId64, (int64_t)json_integer_value(json_object_get(role, "id"))),
                  cli_text(role, "name"), kind, cli_text(role, "description"), cli_text(role, "createdBy")});
}

int run_role_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"ID", "Role", "Kind", "Description", "Created By"};
    json_t *roles;
    if (cli_get_all(cli, PATH, "roles", &roles, err) < 0)
        return -1;
    cli_print_list(cli, roles, TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_role);
    json_decref(roles);
    return 0;
}

int cli_find_role(struct cli *cli, const char *name, json_t **out_role, struct error *err)
{
    json_t *roles, *role;
    size_t i;
    *out_role = NULL;
    if (cli_get_all(cli, arena_printf(&cli->arena, PATH "?search=%s", client_escape(&cli->client, name)), "roles",
                    &roles, err) < 0)
        return -1;
    json_array_foreach(roles, i, role)
        if (!strcasecmp(cli_text(role, "name"), name))
            *out_role = json_incref(role);
    json_decref(roles);
    return *out_role ? 0 : error_set(err, ERROR_NOT_FOUND, "no role was found with the name %s", name);
}

static const char *mark(const json_t *permission, const char *action)
{
    const json_t *actions = json_object_get(permission, "actions"), *item;
    size_t i;
    json_array_foreach(actions, i, item)
        if (!strcmp(json_string_value(item), action))
            return "yes";
    return NULL;
}

int run_role_describe(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Resource", "View", "Edit", "Create", "Delete"};
    const char *name;
    json_t *role, *permission;
    size_t i;
    if (cli_name(cli, &name, err) < 0 || cli_find_role(cli, name, &role, err) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, role);
    } else {
        struct table table;
        table_init(&table, &cli->arena, TITLES, sizeof(TITLES) / sizeof(TITLES[0]));
        const json_t *permissions = json_object_get(role, "permissions");
        json_array_foreach(permissions, i, permission)
            table_add(&table, (const char *const[]){cli_text(permission, "resourceType"), mark(permission, "read"),
                                                    mark(permission, "update"), mark(permission, "create"),
                                                    mark(permission, "delete")});
        printf("%s: %s\n", cli_text(role, "name"), cli_text(role, "description"));
        cli_print_table(cli, &table);
    }
    json_decref(role);
    return 0;
}

// TYPE=ACTION,ACTION as the API has it.
static int add_permission(struct cli *cli, json_t *list, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return error_set(err, ERROR_INVALID, "--permission: expected TYPE=ACTION,..., got %s", text);
    json_t *actions = json_array();
    char *rest = arena_strdup(&cli->arena, equals + 1), *word;
    while ((word = strsep(&rest, ",")))
        json_array_append_new(actions, json_string(word));
    json_array_append_new(list,
                          json_pack("{s:s%, s:o}", "resourceType", text, (size_t)(equals - text), "actions", actions));
    return 0;
}

// The sets and permissions of the flags take the place of all that the body has.
static int add_rights(struct cli *cli, json_t *body, struct error *err)
{
    const struct flag_value *sets = flag_values(&cli->arguments, "permission-set"),
                            *permissions = flag_values(&cli->arguments, "permission");
    if (!sets && !permissions)
        return 0;
    json_t *set_list = json_array(), *list = json_array();
    json_object_set_new(body, "permissionSets", set_list);
    json_object_set_new(body, "permissions", list);
    for (size_t i = 0; sets && i < sets->count; i++)
        json_array_append_new(set_list, json_pack("{s:s}", "name", sets->texts[i]));
    for (size_t i = 0; permissions && i < permissions->count; i++)
        if (add_permission(cli, list, permissions->texts[i], err) < 0)
            return -1;
    return 0;
}

int run_role_create(struct cli *cli, struct error *err)
{
    const char *name, *description = flag_text(&cli->arguments, "description");
    if (cli_name(cli, &name, err) < 0)
        return -1;
    json_t *body = json_pack("{s:s, s:s}", "name", name, "description", description ? description : "");
    int rc = add_rights(cli, body, err);
    if (rc == 0)
        rc = client_call(&cli->client, "POST", PATH, body, NULL, err);
    if (rc == 0)
        printf("role %s created successfully\n", name);
    json_decref(body);
    return rc;
}

static const char *path_of(struct cli *cli, const json_t *role)
{
    return arena_printf(&cli->arena, PATH "/%" PRId64, (int64_t)json_integer_value(json_object_get(role, "id")));
}

static int change(struct cli *cli, json_t *role, struct error *err)
{
    const char *new_name = flag_text(&cli->arguments, "name"), *description = flag_text(&cli->arguments, "description");
    bool is_on = flag_is_set(&cli->arguments, "on"), is_off = flag_is_set(&cli->arguments, "off");
    if (is_on && is_off)
        return error_set(err, ERROR_INVALID, "--on and --off: only one of them");
    json_t *body =
        json_pack("{s:s, s:s, s:O, s:O}", "name", new_name ? new_name : cli_text(role, "name"), "description",
                  description ? description : cli_text(role, "description"), "permissionSets",
                  json_object_get(role, "permissionSets"), "permissions", json_object_get(role, "permissions"));
    if (is_on || is_off)
        json_object_set_new(body, "enabled", json_boolean(is_on));
    int rc = add_rights(cli, body, err);
    if (rc == 0)
        rc = client_call(&cli->client, "PUT", path_of(cli, role), body, NULL, err);
    json_decref(body);
    return rc;
}

int run_role_update(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *role;
    if (cli_name(cli, &name, err) < 0 || cli_find_role(cli, name, &role, err) < 0)
        return -1;
    int rc = change(cli, role, err);
    if (rc == 0)
        printf("role %s updated successfully\n", name);
    json_decref(role);
    return rc;
}

int run_role_delete(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *role;
    if (cli_name(cli, &name, err) < 0 || cli_find_role(cli, name, &role, err) < 0)
        return -1;
    int rc = client_call(&cli->client, "DELETE", path_of(cli, role), NULL, NULL, err);
    if (rc == 0)
        printf("role %s deleted successfully\n", name);
    json_decref(role);
    return rc;
}
