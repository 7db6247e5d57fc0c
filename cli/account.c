// account password, sessions, otp: what a person does with his own account.
#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

#define FACTOR "/api/v1/me/second-factor"
#define SESSIONS "/api/v1/me/sessions"

// A flag's text, or what is typed at the terminal.
static int read_or_ask(struct cli *cli, const char *flag, const char *question, const char **out_text,
                       struct error *err)
{
    *out_text = flag_text(&cli->arguments, flag);
    if (!*out_text)
        *out_text = cli_ask(cli, question, true);
    return *out_text && **out_text ? 0 : error_set(err, ERROR_INVALID, "--%s is missing", flag);
}

int cli_change_password(struct cli *cli, const char *current, const char *wanted, struct error *err)
{
    if (!wanted) {
        wanted = cli_ask(cli, "New password: ", true);
        const char *again = wanted ? cli_ask(cli, "The same again: ", true) : NULL;
        if (!again)
            return error_set(err, ERROR_INVALID, "--new-password is missing");
        if (strcmp(wanted, again) != 0)
            return error_set(err, ERROR_INVALID, "the two new passwords differ; nothing has changed");
    }
    json_t *body = json_pack("{s:s, s:s}", "currentPassword", current, "newPassword", wanted);
    int rc = client_call(&cli->client, "POST", "/api/v1/me/password", body, NULL, err);
    json_decref(body);
    return rc;
}

int run_account_password(struct cli *cli, struct error *err)
{
    const char *current;
    if (read_or_ask(cli, "password", "Password: ", &current, err) < 0 ||
        cli_change_password(cli, current, flag_text(&cli->arguments, "new-password"), err) < 0)
        return -1;
    puts("Your password is changed. Other sessions of yours have ended.");
    return 0;
}

static void add_session(struct cli *cli, const json_t *session, struct table *table)
{
    const char *kind = cli_text(session, "kind"), *key = cli_text(session, "accessKey");
    const char *agent = cli_text(session, "userAgent");
    table_add(table, (const char *const[]){
                         cli_text(session, "id"), *key ? arena_printf(&cli->arena, "%s %s", kind, key) : kind,
                         cli_text(session, "address"), *agent ? agent : NULL,
                         cli_age(cli, cli_text(session, "createdAt")), cli_age(cli, cli_text(session, "lastUsedAt")),
                         json_is_true(cli_at(session, "current")) ? "this one" : NULL});
}

int run_account_sessions(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"ID", "Kind", "Address", "Client", "Began", "Last Used", "Current"};
    json_t *answer;
    if (cli_get(cli, &answer, err, SESSIONS) < 0)
        return -1;
    cli_print_list(cli, json_object_get(answer, "sessions"), TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_session);
    json_decref(answer);
    return 0;
}

int run_account_sessions_end(struct cli *cli, struct error *err)
{
    const char *id;
    if (cli_name(cli, &id, err) < 0)
        return -1;
    const char *path =
        !strcmp(id, "others") ? SESSIONS : arena_printf(&cli->arena, SESSIONS "/%s", client_escape(&cli->client, id));
    if (client_call(&cli->client, "DELETE", path, NULL, NULL, err) < 0)
        return -1;
    puts(strcmp(id, "others") ? "The session has ended." : "Your other sessions have ended.");
    return 0;
}

static int confirm(struct cli *cli, const char *code, struct error *err)
{
    json_t *answer, *entry, *body = json_pack("{s:s}", "code", code);
    size_t i;
    int rc = client_call(&cli->client, "POST", FACTOR "/confirm", body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    puts("From now on your password needs a code. Other sessions of yours have ended.\n"
         "Each of these recovery codes is good once in its place. They are shown this once:");
    json_array_foreach(json_object_get(answer, "recoveryCodes"), i, entry)
        printf("  %s\n", json_string_value(entry));
    json_decref(answer);
    return 0;
}

int run_account_otp_confirm(struct cli *cli, struct error *err)
{
    const char *code;
    return read_or_ask(cli, "code", "Code of the app: ", &code, err) < 0 ? -1 : confirm(cli, code, err);
}

int run_account_otp_enable(struct cli *cli, struct error *err)
{
    const char *password;
    json_t *answer;
    if (read_or_ask(cli, "password", "Password: ", &password, err) < 0)
        return -1;
    json_t *body = json_pack("{s:s}", "currentPassword", password);
    int rc = client_call(&cli->client, "POST", FACTOR, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    printf("Secret:  %s\nAddress: %s\nGive one of them to your app. They are shown this once.\n",
           cli_text(answer, "secret"), cli_text(answer, "otpauthUri"));
    json_decref(answer);
    const char *code = cli_ask(cli, "Code of the app: ", false);
    if (code)
        return confirm(cli, code, err);
    printf("Confirm it: %s account otp confirm --code CODE\n", cli->program);
    return 0;
}

int run_account_otp_disable(struct cli *cli, struct error *err)
{
    const char *password, *code;
    if (read_or_ask(cli, "password", "Password: ", &password, err) < 0 ||
        read_or_ask(cli, "code", "Code of the app, or a recovery code: ", &code, err) < 0)
        return -1;
    json_t *body = json_pack("{s:s, s:s}", "currentPassword", password, "otp", code);
    int rc = client_call(&cli->client, "POST", FACTOR "/disable", body, NULL, err);
    json_decref(body);
    if (rc == 0)
        puts("Your password needs no code any more. Other sessions of yours have ended.");
    return rc;
}

int run_account_otp(struct cli *cli, struct error *err)
{
    json_t *answer;
    if (cli_get(cli, &answer, err, FACTOR) < 0)
        return -1;
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, answer);
    else if (json_is_true(cli_at(answer, "enabled")))
        printf("Second factor: on since %s, %.0f recovery codes left\n", cli_text(answer, "enabledAt"),
               cli_number(answer, "recoveryCodes"));
    else
        puts("Second factor: off");
    json_decref(answer);
    return 0;
}
