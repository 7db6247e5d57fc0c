// exec, bash, attach: into a pod that runs.
#include "base/error.h"
#include "cli/command.h"
#include "cli/follow.h"
#include "cli/pod/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The shell that there is; what it needs to know of the terminal comes along.
static const char SHELL[] = "export TERM=\"$1\"; command -v bash >/dev/null 2>&1 && exec bash -i; exec sh -i";

static int enter(struct cli *cli, json_t *command, bool has_terminal, bool has_input, struct error *err)
{
    json_t *workload;
    const char *name;
    int rc = cli_name(cli, &name, err);
    if (rc == 0 && (rc = cli_find_workload(cli, name, &workload, err)) == 0) {
        struct session_wish wish = {
            .workload_uuid = arena_strdup(&cli->arena, cli_text(workload, "id")),
            .pod = flag_text(&cli->arguments, "pod"),
            .command = command,
            .has_terminal = has_terminal,
            .has_input = has_input,
        };
        json_decref(workload);
        rc = session_run(cli, &wish, &cli->exit_status, err);
    }
    json_decref(command);
    return rc;
}

int run_workload_bash(struct cli *cli, struct error *err)
{
    const char *terminal = getenv("TERM");
    bool has_terminal = isatty(STDIN_FILENO);
    json_t *command = has_terminal ? json_pack("[s, s, s, s, s]", "/bin/sh", "-c", SHELL, "sh",
                                               terminal && *terminal ? terminal : "dumb")
                                   : json_pack("[s]", "/bin/sh");
    return enter(cli, command, has_terminal, true, err);
}

int run_workload_exec(struct cli *cli, struct error *err)
{
    const struct arguments *arguments = &cli->arguments;
    json_t *command = json_array();
    bool has_terminal = flag_is_set(arguments, "tty"), has_input = has_terminal || flag_is_set(arguments, "stdin");
    for (size_t i = 1; i < arguments->word_count; i++) // the first generation knows no --
        json_array_append_new(command, json_string(arguments->words[i]));
    for (size_t i = 0; i < arguments->rest_count; i++)
        json_array_append_new(command, json_string(arguments->rest[i]));
    if (json_array_size(command) > 0)
        return enter(cli, command, has_terminal, has_input, err);
    json_decref(command);
    return error_set(err, ERROR_INVALID, "a command is missing: %s %s %s", cli->program, cli->command->words,
                     cli->command->usage);
}

int run_workload_attach(struct cli *cli, struct error *err)
{
    const char *name, *pod = flag_text(&cli->arguments, "pod");
    json_t *workload;
    if (cli_name(cli, &name, err) < 0 || cli_find_workload(cli, name, &workload, err) < 0)
        return -1;
    const char *path =
        arena_printf(&cli->arena, "/api/v1/workloads/%s/logs?attach=true&tail=10%s%s", cli_text(workload, "id"),
                     pod ? "&pod=" : "", pod ? client_escape(&cli->client, pod) : "");
    json_decref(workload);
    return cli_follow_log(cli, path, err);
}
