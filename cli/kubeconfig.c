// kubeconfig set: kubectl asks this client for the token, each time that it needs one.
#include "base/error.h"
#include "base/program.h"
#include "cli/command.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int run_kubeconfig_set(struct cli *cli, struct error *err)
{
    const char *path = program_path(&cli->arena, err), *token;
    pid_t pid;
    if (!path)
        return -1;
    if (profile_read_token(&cli->profile, &cli->arena, &token, err) < 0)
        return -1;
    if (!token)
        return error_set(err, ERROR_UNAUTHORIZED, "no login is saved; %s login saves one", cli->program);
    char *command = arena_printf(&cli->arena, "--exec-command=%s", path);
    char *words[] = {"kubectl",
                     "config",
                     "set-credentials",
                     "prorata",
                     "--exec-api-version=client.authentication.k8s.io/v1",
                     command,
                     "--exec-arg=auth",
                     "--exec-arg=get-token",
                     "--exec-interactive-mode=Never",
                     NULL};
    int failed = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
    if (failed == ENOENT) {
        printf("There is no kubectl here, so nothing was set. Nothing needs it: logs, exec, ssh and port-forward go "
               "through the server.\n");
        return 0;
    }
    if (failed || program_wait(pid) != 0)
        return error_set(err, ERROR_INTERNAL, "kubectl config set-credentials: %s",
                         failed ? strerror(failed) : "it failed, and said above why");
    puts("The user \"prorata\" of your kubeconfig takes this login's token. A cluster accepts it where its API server "
         "trusts this server as an issuer; ask its administrator.");
    return 0;
}
