// Which command: hands over to daemon/, simulation/, journal/ or cli/.
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/help/help.h"
#include "daemon/daemon.h"
#include "journal/replay_command.h"
#include "replay/replay.h"
#include "simulation/simulate.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A recorded cycle is named by the server's data folder; everything else is a trace.
static int replay_or_journal_main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--data", strlen("--data")) == 0 || strncmp(argv[i], "--at", strlen("--at")) == 0)
            return journal_replay_main(argc, argv);
    return replay_main(argc, argv);
}

struct command {
    const char *name;
    int (*main)(int argc, char **argv); // argv[0] is the command's name
    const char *help;
};

static const struct command COMMANDS[] = {
    {"serve", daemon_main_serve, "serve the API and the dashboard"},
    {"demo", daemon_main_demo, "the same with a ready-made cluster in a temporary folder"},
    {"stop", daemon_main_stop, "stop the server of a folder, and with --pods what it runs on this machine"},
    {"backup", daemon_main_backup, "write a folder's database and keys into one file, also while a server serves it"},
    {"restore", daemon_main_restore, "make a data folder of a backup"},
    {"verify", daemon_main_verify, "read a folder's whole database and say whether it is sound"},
    {"keys", daemon_main_keys, "replace the key that seals a folder's secrets: keys rotate"},
    {"hours", daemon_main_hours, "print who held how many GPUs, cores and memory, by day"},
    {"doctor", daemon_main_doctor, "say what is possible on this machine, and how to get more"},
    {"simulate", simulate_main, "run scheduling cycles over a snapshot in a file"},
    {"replay", replay_or_journal_main, "run a trace of jobs through the scheduler, or a server's recorded cycle again"},
};

static void print_help(FILE *out)
{
    fprintf(out, "prorata shares GPUs fairly between teams.\n\nUsage: prorata COMMAND [FLAGS]\n\n");
    help_first("prorata", out);
    fprintf(out, "\nThe server, on its own machine:\n");
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++)
        fprintf(out, "  %-12s %s\n", COMMANDS[i].name, COMMANDS[i].help);
    fprintf(out, "\nA link named runai is the client alone.\n");
}

int main(int argc, char **argv)
{
    json_set_alloc_funcs(memory_alloc, free); // building an answer cannot fail half-way
    const char *slash = strrchr(argv[0], '/');
    if (strcmp(slash ? slash + 1 : argv[0], "runai") == 0)
        return cli_main(argc, argv);
    if (argc < 2) {
        print_help(stdout);
        return 0;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (strcmp(name, "help") == 0 && argc == 2)) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0)
        return printf("prorata %s\n", PRORATA_VERSION) < 0;
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++)
        if (strcmp(name, COMMANDS[i].name) == 0)
            return COMMANDS[i].main(argc - 1, argv + 1);
    if (strcmp(name, "help") == 0 || cli_has_command(name))
        return cli_main(argc, argv);
    help_unknown("prorata", argc, argv, false);
    return 2;
}
