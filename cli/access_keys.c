// access-key list, create, delete, regenerate.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

#define PATH "/api/v1/access-keys"

static const char *since(struct cli *cli, const json_t *key, const char *member)
{
    const char *time = cli_text(key, member);
    return *time ? cli_age(cli, time) : NULL;
}

static void add_key(struct cli *cli, const json_t *key, struct table *table)
{
    table_add(table, (const char *const[]){cli_text(key, "name"), cli_text(key, "clientId"),
                                           since(cli, key, "createdAt"), since(cli, key, "lastLogin")});
}

int run_access_key_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Name", "Client ID", "Created", "Last Login"};
    json_t *answer;
    if (cli_get(cli, &answer, err, PATH) < 0)
        return -1;
    cli_print_list(cli, json_object_get(answer, "accessKeys"), TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_key);
    json_decref(answer);
    return 0;
}

// The path of the key that is named, by its name or client id.
static int find_path(struct cli *cli, const char **out_name, const char **out_path, struct error *err)
{
    json_t *answer, *key;
    size_t i;
    *out_path = NULL;
    if (cli_name(cli, out_name, err) < 0 || cli_get(cli, &answer, err, PATH) < 0)
        return -1;
    json_array_foreach(json_object_get(answer, "accessKeys"), i, key)
        if (!strcmp(cli_text(key, "name"), *out_name) || !strcmp(cli_text(key, "clientId"), *out_name))
            *out_path = arena_printf(&cli->arena, PATH "/%s", cli_text(key, "id"));
    json_decref(answer);
    return *out_path ? 0 : error_set(err, ERROR_NOT_FOUND, "no access key was found with the name %s", *out_name);
}

static void print_secret(const struct cli *cli, const json_t *answer)
{
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, answer);
        return;
    }
    if (*cli_text(answer, "clientId"))
        printf("Client ID:     %s\n", cli_text(answer, "clientId"));
    printf("Client secret: %s\n", cli_text(answer, "clientSecret"));
    puts("The secret is shown this once. Sign in with it: prorata login access-key --client-id ID --secret-file FILE");
}

int run_access_key_create(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *answer;
    if (cli_name(cli, &name, err) < 0)
        return -1;
    json_t *body = json_pack("{s:s}", "name", name);
    int rc = client_call(&cli->client, "POST", PATH, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    print_secret(cli, answer);
    json_decref(answer);
    return 0;
}

int run_access_key_regenerate(struct cli *cli, struct error *err)
{
    const char *name, *path;
    json_t *answer;
    if (find_path(cli, &name, &path, err) < 0 ||
        client_call(&cli->client, "POST", arena_printf(&cli->arena, "%s/secret", path), NULL, &answer, err) < 0)
        return -1;
    print_secret(cli, answer);
    json_decref(answer);
    return 0;
}

int run_access_key_delete(struct cli *cli, struct error *err)
{
    const char *name, *path;
    if (find_path(cli, &name, &path, err) < 0 || client_call(&cli->client, "DELETE", path, NULL, NULL, err) < 0)
        return -1;
    printf("access key %s deleted successfully\n", name);
    return 0;
}
