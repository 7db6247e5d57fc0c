// open: the address of a port of a workload, for a browser.
#include "base/error.h"
#include "cli/browser.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// *out_port: 0 where none is asked for.
static int read_port(const struct cli *cli, int *out_port, struct error *err)
{
    const char *text = flag_text(&cli->arguments, "port");
    char *rest = NULL;
    *out_port = 0;
    if (!text)
        return 0;
    long number = text[0] >= '0' && text[0] <= '9' ? strtol(text, &rest, 10) : 0;
    if (number < 1 || number > UINT16_MAX || *rest != '\0')
        return error_set(err, ERROR_INVALID, "--port: expected a port, got \"%.60s\"", text);
    *out_port = (int)number;
    return 0;
}

// The first of the workload's own; 0: it has none.
static int first_port(const json_t *workload)
{
    const json_t *connection;
    size_t i;
    json_array_foreach(cli_at(workload, "externalConnections"), i, connection)
        if (strcmp(cli_text(connection, "connectionType"), "ExternalUrl") == 0)
            return (int)cli_number(connection, "containerPort");
    return 0;
}

// A server that gives no addresses still forwards ports.
static void name_way_out(const struct cli *cli, const json_t *workload, int port, struct error *err)
{
    char number[16] = "PORT";
    int known = port ? port : first_port(workload);
    if (known)
        snprintf(number, sizeof(number), "%d", known);
    char why[sizeof(err->details)];
    snprintf(why, sizeof(why), "%s", err->details);
    error_details(err, "%s\nfrom here it is reached by: %s port-forward %s %s", why, cli->program,
                  cli_text(workload, "name"), number);
}

int run_workload_open(struct cli *cli, struct error *err)
{
    const char *name;
    json_t *workload, *answer = NULL;
    int port;
    if (read_port(cli, &port, err) < 0 || cli_name(cli, &name, err) < 0 ||
        cli_find_workload(cli, name, &workload, err) < 0)
        return -1;
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads/%s/open", cli_text(workload, "id"));
    json_t *body = port ? json_pack("{s:i}", "port", port) : json_object();
    int rc = client_call(&cli->client, "POST", path, body, &answer, err);
    json_decref(body);
    if (rc < 0 && err->code == ERROR_LATER)
        name_way_out(cli, workload, port, err);
    json_decref(workload);
    if (rc < 0)
        return -1;
    const char *url = cli_text(answer, "url");
    printf("%s\n", url);
    bool opens = isatty(STDOUT_FILENO) && !flag_is_set(&cli->arguments, "print") && browser_is_here();
    fflush(stdout);
    if (!opens || !browser_open_secret(&cli->profile, url))
        fprintf(stderr, "It signs one browser in, within %.0f seconds.\n", cli_number(answer, "expiresInSeconds"));
    json_decref(answer);
    return 0;
}
