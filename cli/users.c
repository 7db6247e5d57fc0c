// user list, create, delete, reset-password, logout, reset-otp.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PATH "/api/v1/users"

static void add_row(struct cli *cli, const json_t *user, struct table *table)
{
    const char *last = cli_text(user, "lastLogin");
    table_add(table, (const char *const[]){cli_text(user, "username"),
                                           json_is_true(json_object_get(user, "isLocal")) ? "local" : "sso",
                                           cli_age(cli, cli_text(user, "createdAt")), *last ? cli_age(cli, last) : NULL,
                                           cli_text(user, "createdBy")});
}

int run_user_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"User", "Kind", "Created", "Last Login", "Created By"};
    json_t *users;
    if (cli_get_all(cli, PATH, CLI_BARE_PAGES, &users, err) < 0)
        return -1;
    cli_print_list(cli, users, TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_row);
    json_decref(users);
    return 0;
}

// The path of the user that is named by e-mail address or id, and what it is to be called.
static int find_path(struct cli *cli, const char **out_name, const char **out_path, struct error *err)
{
    json_t *users, *user;
    size_t i;
    *out_path = NULL;
    if (cli_name(cli, out_name, err) < 0)
        return -1;
    const char *escaped = client_escape(&cli->client, *out_name);
    if (!strchr(*out_name, '@')) {
        *out_path = arena_printf(&cli->arena, PATH "/%s", escaped);
        return 0;
    }
    if (cli_get(cli, &users, err, PATH "?search=%s", escaped) < 0)
        return -1;
    json_array_foreach(users, i, user)
        if (!strcasecmp(cli_text(user, "username"), *out_name))
            *out_path = arena_printf(&cli->arena, PATH "/%s", cli_text(user, "id"));
    json_decref(users);
    return *out_path ? 0 : error_set(err, ERROR_NOT_FOUND, "no user was found with the name %s", *out_name);
}

static void print_password(const struct cli *cli, const json_t *answer)
{
    if (cli_output(cli) != OUTPUT_TABLE) {
        cli_print(cli, answer);
        return;
    }
    printf("Temporary password: %s\n", cli_text(answer, "tempPassword"));
    puts("It is shown this once. The first sign-in asks for a new one: prorata login");
}

int run_user_create(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *answer;
    if (cli_name(cli, &name, err) < 0)
        return -1;
    json_t *body = json_pack("{s:s, s:b}", "email", name, "resetPassword", 1);
    int rc = client_call(&cli->client, "POST", PATH, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    print_password(cli, answer);
    json_decref(answer);
    return 0;
}

int run_user_reset_password(struct cli *cli, struct error *err)
{
    const char *name, *path;
    json_t *answer;
    if (find_path(cli, &name, &path, err) < 0 ||
        client_call(&cli->client, "POST", arena_printf(&cli->arena, "%s/password", path), NULL, &answer, err) < 0)
        return -1;
    print_password(cli, answer);
    json_decref(answer);
    return 0;
}

int run_user_logout(struct cli *cli, struct error *err)
{
    const char *name, *path;
    if (find_path(cli, &name, &path, err) < 0 ||
        client_call(&cli->client, "POST", arena_printf(&cli->arena, "%s/logout", path), NULL, NULL, err) < 0)
        return -1;
    printf("all sessions of %s are ended\n", name);
    return 0;
}

int run_user_reset_otp(struct cli *cli, struct error *err)
{
    const char *name, *path;
    if (find_path(cli, &name, &path, err) < 0 ||
        client_call(&cli->client, "DELETE", arena_printf(&cli->arena, "%s/second-factor", path), NULL, NULL, err) < 0)
        return -1;
    printf("%s signs in by the password alone again\n", name);
    return 0;
}

int run_user_delete(struct cli *cli, struct error *err)
{
    const char *name, *path;
    if (find_path(cli, &name, &path, err) < 0 || client_call(&cli->client, "DELETE", path, NULL, NULL, err) < 0)
        return -1;
    printf("user %s deleted successfully\n", name);
    return 0;
}
