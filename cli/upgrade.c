// upgrade: this command line as the server has it.
#include "base/error.h"
#include "base/program.h"
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static size_t write_part(char *data, size_t size, size_t count, void *context)
{
    return fwrite(data, size, count, context);
}

// The new program beside the old one, which cannot be written to while it runs.
static int fetch(struct cli *cli, const char *path, struct error *err)
{
    const char *from = "/api/v1/cli-exposer/dist/linux/" PROGRAM_MACHINE "/runai";
    FILE *file = fopen(path, "wbxe");
    if (!file)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    int rc = client_stream(&cli->client, from, write_part, file, err);
    bool is_written = fflush(file) == 0 && fchmod(fileno(file), 0755) == 0 && fsync(fileno(file)) == 0;
    if (rc == 0 && !is_written)
        rc = error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    if (fclose(file) != 0 && rc == 0)
        rc = error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    return rc;
}

// Libraries may be others here than where it was built.
static bool runs(const char *path)
{
    char *words[] = {(char *)path, "--version", NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    if (posix_spawn_file_actions_init(&quiet) != 0)
        return false;
    bool is_started = posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                      posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                      posix_spawn(&pid, path, &quiet, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    return is_started && program_wait(pid) == 0;
}

static int replace(struct cli *cli, const char *own, struct error *err)
{
    const char *path = arena_printf(&cli->arena, "%s.new-%d", own, (int)getpid());
    int rc = fetch(cli, path, err);
    if (rc == 0 && !runs(path))
        rc =
            error_set(err, ERROR_INVALID, "the server's build does not run on this machine; build it from source here");
    if (rc == 0 && rename(path, own) < 0)
        rc = error_set(err, ERROR_INVALID, "%s: %s", own, strerror(errno));
    if (rc < 0)
        unlink(path);
    return rc;
}

int run_upgrade(struct cli *cli, struct error *err)
{
    const char *own = program_path(&cli->arena, err);
    json_t *about;
    if (!own)
        return -1;
    if (cli_get(cli, &about, err, "/api/v1/about") < 0)
        return -1;
    const char *version = arena_strdup(&cli->arena, cli_text(about, "version"));
    json_decref(about);
    if (strcmp(version, PRORATA_VERSION) == 0 && !flag_is_set(&cli->arguments, "force")) {
        printf("prorata %s is the server's version already\n", version);
        return 0;
    }
    if (replace(cli, own, err) < 0)
        return -1;
    printf("%s is prorata %s now\n", own, version);
    return 0;
}
