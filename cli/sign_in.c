// login, logout, whoami, config, version, and the defaults.
#include "base/error.h"
#include "cli/command.h"
#include "cli/way.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static bool is_quiet(const struct cli *cli)
{
    return flag_is_set(&cli->arguments, "quiet");
}

const char *cli_ask(struct cli *cli, const char *question, bool secret)
{
    char line[512];
    struct termios before, silent;
    if (!isatty(STDIN_FILENO))
        return NULL;
    fputs(question, stderr);
    if (secret && tcgetattr(STDIN_FILENO, &before) == 0) {
        silent = before;
        silent.c_lflag &= (tcflag_t)~ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    const char *got = fgets(line, sizeof(line), stdin);
    if (secret) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fputc('\n', stderr);
    }
    if (!got)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return arena_strdup(&cli->arena, line);
}

// The grant; where the account has a second factor and no code was given, it asks for one and tries again.
static int grant_token(struct cli *cli, json_t *grant, json_t **out_answer, struct error *err)
{
    struct error why = {0};
    int rc = client_call(&cli->client, "POST", "/api/v1/token", grant, out_answer, &why);
    bool needs_code = rc < 0 && !strncmp(why.message, "otp: required", 13);
    const char *code = needs_code ? cli_ask(cli, "Code of the app, or a recovery code: ", false) : NULL;
    if (code) {
        json_object_set_new(grant, "otp", json_string(code));
        rc = client_call(&cli->client, "POST", "/api/v1/token", grant, out_answer, &why);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

// A temporary password lets nothing else be done.
static int replace_temporary(struct cli *cli, const char *password, struct error *err)
{
    json_t *session;
    const char *wanted = flag_text(&cli->arguments, "new-password");
    if (cli_get(cli, &session, err, "/api/v1/session") < 0)
        return -1;
    bool must_change = json_is_true(cli_at(session, "mustChangePassword"));
    json_decref(session);
    if (!must_change)
        return 0;
    if (!wanted && !isatty(STDIN_FILENO)) {
        printf("The password is a temporary one. Change it: %s account password\n", cli->program);
        return 0;
    }
    fputs("The password is a temporary one; choose your own.\n", stderr);
    return cli_change_password(cli, password, wanted, err);
}

int cli_sign_in(struct cli *cli, json_t *grant, const char *who, struct error *err)
{
    json_t *answer = NULL, *clusters = NULL, *session = NULL;
    int rc = client_open(way_url(cli), NULL, &cli->arena, &cli->client, err);
    if (rc == 0)
        rc = grant_token(cli, grant, &answer, err);
    json_decref(grant);
    if (rc == 0) {
        cli->client.token = arena_strdup(&cli->arena, cli_text(answer, "accessToken"));
        rc = profile_save_token(&cli->profile, cli->client.token, err);
    }
    if (rc == 0 && client_call(&cli->client, "GET", "/api/v1/clusters", NULL, &clusters, NULL) == 0 &&
        json_array_size(clusters) > 0) {
        profile_set(&cli->profile, "cluster", "uuid", cli_text(json_array_get(clusters, 0), "uuid"));
        rc = profile_save(&cli->profile, err);
    }
    if (rc == 0 && !who)
        rc = client_call(&cli->client, "GET", "/api/v1/session", NULL, &session, err);
    if (rc == 0 && !is_quiet(cli))
        printf("Logged in as %s\n", who ? who : cli_text(session, "name"));
    json_decref(answer);
    json_decref(clusters);
    json_decref(session);
    return rc;
}

int run_login_user(struct cli *cli, struct error *err)
{
    const char *user = flag_text(&cli->arguments, "user"), *password = flag_text(&cli->arguments, "password");
    if (!user)
        user = cli_ask(cli, "User: ", false);
    if (!user)
        return error_set(err, ERROR_INVALID, "--user is missing");
    if (!password)
        password = cli_ask(cli, "Password: ", true);
    if (!password)
        return error_set(err, ERROR_INVALID, "--password is missing");
    json_t *grant = json_pack("{s:s, s:s, s:s}", "grantType", "password", "username", user, "password", password);
    if (flag_text(&cli->arguments, "otp"))
        json_object_set_new(grant, "otp", json_string(flag_text(&cli->arguments, "otp")));
    return cli_sign_in(cli, grant, user, err) < 0 ? -1 : replace_temporary(cli, password, err);
}

int run_login(struct cli *cli, struct error *err)
{
    return run_login_user(cli, err);
}

static int read_secret_file(struct cli *cli, const char *path, const char **out_secret, struct error *err)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, sizeof(line), file)) {
        if (file)
            fclose(file);
        return error_set(err, ERROR_INVALID, "%s: cannot be read", path);
    }
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    *out_secret = arena_strdup(&cli->arena, line);
    return 0;
}

int run_login_application(struct cli *cli, struct error *err)
{
    const char *name = flag_text(&cli->arguments, "name"), *secret = flag_text(&cli->arguments, "secret");
    const char *file = flag_text(&cli->arguments, "secret-file");
    if (!secret && file && read_secret_file(cli, file, &secret, err) < 0)
        return -1;
    if (!name || !secret)
        return error_set(err, ERROR_INVALID, "--name and --secret are needed");
    // The old grant takes the application's name as well as its client id.
    return cli_sign_in(cli, json_pack("{s:s, s:s, s:s}", "grantType", "app_token", "appID", name, "appSecret", secret),
                       name, err);
}

int run_login_access_key(struct cli *cli, struct error *err)
{
    const char *id = flag_text(&cli->arguments, "client-id"), *secret = flag_text(&cli->arguments, "secret");
    const char *file = flag_text(&cli->arguments, "secret-file");
    if (!id)
        return error_set(err, ERROR_INVALID, "--client-id is missing");
    if (!secret && file && read_secret_file(cli, file, &secret, err) < 0)
        return -1;
    if (!secret)
        secret = cli_ask(cli, "Secret: ", true);
    if (!secret)
        return error_set(err, ERROR_INVALID, "--secret or --secret-file is missing");
    json_t *grant =
        json_pack("{s:s, s:s, s:s}", "grantType", "client_credentials", "clientID", id, "clientSecret", secret);
    return cli_sign_in(cli, grant, id, err);
}

int run_logout(struct cli *cli, struct error *err)
{
    if (profile_remove_token(&cli->profile, err) < 0)
        return -1;
    if (!is_quiet(cli))
        puts("Logged out");
    return 0;
}

int run_whoami(struct cli *cli, struct error *err)
{
    json_t *session;
    if (cli_get(cli, &session, err, "/api/v1/session") < 0)
        return -1;
    printf("User: %s\nLogged in to: %s%s\n", cli_text(session, "name"), cli->client.socket ? "unix:" : "",
           cli->client.socket ? cli->client.socket : cli->client.url);
    puts(cli->client.socket ? "Signed in: by being this user of the machine"
                            : "Signed in: with the login that was saved");
    json_decref(session);
    return 0;
}

// The token goes to the output alone: it is as good as a password.
int run_auth_get_token(struct cli *cli, struct error *err)
{
    const char *form = flag_text(&cli->arguments, "output"), *token;
    if (form && strcmp(form, "plaintext") != 0 && strcmp(form, "kubeconfig") != 0)
        return error_set(err, ERROR_INVALID, "--output: plaintext or kubeconfig, got %.60s", form);
    if (profile_read_token(&cli->profile, &cli->arena, &token, err) < 0)
        return -1;
    if (!token)
        return error_set(err, ERROR_UNAUTHORIZED, "no login is saved; %s login saves one", cli->program);
    if (form && strcmp(form, "plaintext") == 0) {
        puts(token);
        return 0;
    }
    json_t *credential = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "client.authentication.k8s.io/v1", "kind",
                                   "ExecCredential", "status", "token", token);
    json_dumpf(credential, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(credential);
    return 0;
}

int run_version(struct cli *cli, struct error *err)
{
    json_t *about;
    puts("prorata " PRORATA_VERSION);
    if (!flag_is_set(&cli->arguments, "wide"))
        return 0;
    if (profile_open(&cli->arguments, &cli->arena, &cli->profile, err) < 0 || way_open(cli, err) < 0 ||
        cli_get(cli, &about, err, "/api/v1/about") < 0)
        return -1;
    printf("server  %s at %s\n", cli_text(about, "version"), cli->client.url);
    json_decref(about);
    return 0;
}

// What another machine's configuration needs to reach the same server; never the login.
int run_config_generate(struct cli *cli, struct error *err)
{
    const char *url = profile_url(&cli->profile), *uuid = profile_get(&cli->profile, "cluster", "uuid");
    const char *project = profile_project(&cli->profile), *path = flag_text(&cli->arguments, "file");
    if (!url)
        return error_set(err, ERROR_INVALID, "no server is configured; run: config set --cp-url URL");
    json_t *config = json_pack("{s:{s:s}, s:{s:s*}, s:{s:s*}}", "control_plane", "url", url, "cluster", "uuid", uuid,
                               "project", "name", project);
    int rc = 0;
    if (!path)
        cli_print(cli, config);
    else if (json_dump_file(config, path, JSON_INDENT(2)) < 0)
        rc = error_set(err, ERROR_INVALID, "--file: %s: %s", path, strerror(errno));
    else if (!is_quiet(cli))
        printf("%s was written; put it at ~/.runai/config.json, or name it: --config-path DIR --config-file NAME\n",
               path);
    json_decref(config);
    return rc;
}

int run_config_set(struct cli *cli, struct error *err)
{
    const char *url = flag_text(&cli->arguments, "cp-url");
    if (!url)
        return error_set(err, ERROR_INVALID, "--cp-url is missing");
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return error_set(err, ERROR_INVALID, "--cp-url: begins with http:// or https://, got %s", url);
    profile_set(&cli->profile, "control_plane", "url", url);
    if (profile_save(&cli->profile, err) < 0)
        return -1;
    if (!is_quiet(cli))
        printf("control plane %s configured successfully\n", url);
    return 0;
}

// The cluster's name and the project's id where the server says them; else what is saved.
int run_config_describe(struct cli *cli, struct error *err)
{
    const char *project = profile_project(&cli->profile), *uuid = profile_get(&cli->profile, "cluster", "uuid");
    json_t *clusters, *cluster, *found, *of_project = NULL;
    size_t i;
    if (cli_get(cli, &clusters, err, "/api/v1/clusters") < 0)
        return -1;
    if (project && cli_find_project(cli, project, &of_project, err) < 0) {
        json_decref(clusters);
        return -1;
    }
    found = json_array_get(clusters, 0);
    json_array_foreach(clusters, i, cluster)
        if (uuid && strcmp(cli_text(cluster, "uuid"), uuid) == 0)
            found = cluster;
    json_t *described = json_pack("{s:{s:s}, s:{s:s, s:s, s:s?, s:{s:s?, s:s?}}}", "control_plane", "url",
                                  profile_url(&cli->profile) ? profile_url(&cli->profile) : cli->client.url, "cluster",
                                  "uuid", cli_text(found, "uuid"), "name", cli_text(found, "name"), "domain",
                                  json_string_value(json_object_get(found, "domain")), "project", "name", project, "id",
                                  json_string_value(json_object_get(of_project, "id")));
    if (cli_output(cli) != OUTPUT_TABLE)
        cli_print(cli, described);
    else
        printf("Control plane: %s\nCluster: %s (%s)\nProject: %s\n", cli_text(described, "control_plane.url"),
               cli_text(described, "cluster.name"), cli_text(described, "cluster.uuid"), project ? project : "none");
    json_decref(described);
    json_decref(clusters);
    json_decref(of_project);
    return 0;
}

int run_project_set(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *project;
    if (cli_name(cli, &name, err) < 0 || cli_find_project(cli, name, &project, err) < 0)
        return -1;
    json_decref(project);
    profile_set(&cli->profile, "project", "name", name);
    if (profile_save(&cli->profile, err) < 0)
        return -1;
    if (cli->command->is_old)
        printf("Project %s has been set as default project\n", name);
    else
        printf("project %s configured successfully\n", name);
    return 0;
}

// The cluster of the name or UUID on the command line; ERROR_NOT_FOUND where there is none.
static int find_cluster(struct cli *cli, const char **out_name, const char **out_uuid, struct error *err)
{
    json_t *clusters, *cluster;
    size_t i;
    if (cli_name(cli, out_name, err) < 0 || cli_get(cli, &clusters, err, "/api/v1/clusters") < 0)
        return -1;
    *out_uuid = NULL;
    json_array_foreach(clusters, i, cluster)
        if (strcmp(cli_text(cluster, "name"), *out_name) == 0 || strcmp(cli_text(cluster, "uuid"), *out_name) == 0)
            *out_uuid = arena_strdup(&cli->arena, cli_text(cluster, "uuid"));
    json_decref(clusters);
    return *out_uuid ? 0 : error_set(err, ERROR_NOT_FOUND, "no cluster was found with the name %s", *out_name);
}

int run_cluster_set(struct cli *cli, struct error *err)
{
    const char *name, *uuid;
    if (find_cluster(cli, &name, &uuid, err) < 0)
        return -1;
    profile_set(&cli->profile, "cluster", "uuid", uuid);
    if (profile_save(&cli->profile, err) < 0)
        return -1;
    printf("cluster %s configured successfully\n", name);
    return 0;
}

int run_cluster_rename(struct cli *cli, struct error *err)
{
    const char *name, *uuid;
    if (find_cluster(cli, &name, &uuid, err) < 0)
        return -1;
    if (cli->arguments.word_count < 2)
        return error_set(err, ERROR_INVALID, "the new name is missing: %s %s %s", cli->program, cli->command->words,
                         cli->command->usage);
    json_t *body = json_pack("{s:s}", "name", cli->arguments.words[1]);
    int rc = client_call(&cli->client, "PUT", arena_printf(&cli->arena, "/api/v1/clusters/%s", uuid), body, NULL, err);
    json_decref(body);
    if (rc == 0 && !is_quiet(cli))
        printf("cluster %s renamed to %s\n", name, cli->arguments.words[1]);
    return rc;
}
