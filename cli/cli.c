#include "cli/cli.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/help/help.h"
#include "cli/way.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// How many of the words the command takes, 0 where it is another.
static size_t words_taken(const struct command *command, const char *const *words, size_t count)
{
    const char *at = command->words;
    for (size_t i = 0;; i++) {
        size_t length = strcspn(at, " ");
        if (i >= count || strlen(words[i]) != length || strncmp(words[i], at, length) != 0)
            return 0;
        at += length;
        if (*at == '\0')
            return i + 1;
        at++;
    }
}

// The table's order decides nothing.
const struct command *cli_command_of(const char *const *words, size_t count, size_t *out_taken)
{
    const struct command *found = NULL;
    *out_taken = 0;
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));) {
        size_t taken = words_taken(command, words, count);
        if (taken > *out_taken) {
            *out_taken = taken;
            found = command;
        }
    }
    return found;
}

int cli_has_command(const char *word)
{
    size_t length = strlen(word);
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));)
        if (strncmp(command->words, word, length) == 0 &&
            (command->words[length] == ' ' || command->words[length] == 0))
            return 1;
    return 0;
}

static int read_flags(struct cli *cli, int argc, char **argv, struct error *err)
{
    const struct flag *tables[8] = {NULL};
    size_t count = 0;
    for (size_t i = 0; cli->command->flags && cli->command->flags[i]; i++)
        tables[count++] = cli->command->flags[i];
    tables[count] = GLOBAL_FLAGS;
    if (flags_read(argc, argv, tables, &cli->arguments, err) < 0) {
        error_details(err, "%s %s --help lists the flags", cli->program, cli->command->words);
        return -1;
    }
    return 0;
}

// How many words a command takes, by its usage: those before the first flag, or any number where one ends in "...".
static size_t words_in_usage(const char *usage)
{
    size_t count = 0;
    bool is_word = true;
    for (const char *at = usage; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length > 3 && strncmp(at + length - 3, "...", 3) == 0)
            return WORDS_MAX;
        is_word = is_word && *at != '-' && strncmp(at, "[-", 2) != 0 && strncmp(at, "[FLAGS]", length) != 0;
        count += is_word;
        at += length;
    }
    return count;
}

static int check_words(const struct cli *cli, struct error *err)
{
    const struct command *command = cli->command;
    size_t taken = words_in_usage(command->usage);
    if (cli->arguments.word_count <= taken)
        return 0;
    error_set(err, ERROR_INVALID, "%s: expected %s, got \"%s\"", command->words,
              taken > 0 ? "no more words" : "no word", cli->arguments.words[taken]);
    return error_details(err, "usage: %s %s %s", cli->program, command->words, command->usage);
}

static int run(struct cli *cli, int argc, char **argv, struct error *err)
{
    if (read_flags(cli, argc, argv, err) < 0)
        return -1;
    if (flag_is_set(&cli->arguments, "help")) {
        help_command(cli);
        return 0;
    }
    if (check_words(cli, err) < 0 || cli_check_output(cli, err) < 0)
        return -1;
    if (cli->command->needs >= NEEDS_PROFILE && profile_open(&cli->arguments, &cli->arena, &cli->profile, err) < 0)
        return -1;
    if (cli->command->needs == NEEDS_SERVER && (cli_keep_columns(cli, err) < 0 || way_open(cli, err) < 0))
        return -1;
    return cli->command->run(cli, err);
}

// `help`, `help commands`, `help training`.
static int cli_help(const char *program, const char *word)
{
    if (!word) {
        printf("Usage: %s COMMAND [FLAGS]\n\n", program);
        help_first(program, stdout);
    } else if (strcmp(word, "commands") == 0) {
        help_all(program);
    } else if (cli_has_command(word)) {
        help_word(program, word, stdout);
    } else {
        fprintf(stderr, "Error: unknown command \"%s\"; %s help commands lists them\n", word, program);
        return 1;
    }
    return 0;
}

int cli_main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash ? slash + 1 : argv[0];
    struct error err = {0};
    size_t taken;
    const struct command *command =
        cli_command_of((const char *const *)argv + 1, argc > 1 ? (size_t)argc - 1 : 0, &taken);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return cli_help(program, argc > 2 ? argv[2] : NULL);
    bool is_alone = argc < 3 || strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0;
    if (!command && is_alone && cli_has_command(argv[1])) {
        help_word(program, argv[1], argc < 3 ? stderr : stdout);
        return argc < 3;
    }
    if (!command) {
        help_unknown(program, argc, argv, cli_has_command(argv[1]));
        return 1;
    }
    if (sodium_init() < 0)
        return 1;
    struct cli *cli = memory_array(1, sizeof(*cli));
    cli->program = program;
    cli->command = command;
    arena_init(&cli->arena);
    int rc = run(cli, argc - 1 - (int)taken, argv + 1 + taken, &err);
    if (rc < 0) {
        fprintf(stderr, "Error: %s\n", err.message);
        if (*err.details)
            fprintf(stderr, "%s\n", err.details);
    }
    if (fflush(stdout) != 0)
        rc = -1;
    int status = rc < 0 ? 1 : cli->exit_status;
    client_close(&cli->client);
    profile_close(&cli->profile);
    arena_done(&cli->arena);
    free(cli);
    return status;
}
