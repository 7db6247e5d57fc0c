#include "cli/cli.h"

#include "base/error.h"
#include "cli/command.h"
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

static void list_commands(const char *program, const char *first_word)
{
    printf("Usage: %s COMMAND [FLAGS]\n\n", program);
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));) {
        size_t length = first_word ? strlen(first_word) : 0;
        if (first_word && strncmp(command->words, first_word, length) != 0)
            continue;
        printf("  %-30s %s%s\n", command->words, command->sentence,
               command->is_old && !first_word ? " (earlier spelling)" : "");
    }
    printf("\n%s COMMAND --help says more of each.\n", program);
}

// The commands that begin with the words of this one: for login the ways to sign in.
static void show_others(const struct cli *cli)
{
    size_t length = strlen(cli->command->words);
    bool is_first = true;
    struct command_walk walk = {0};
    for (const struct command *other; (other = command_next(&walk));) {
        if (strncmp(other->words, cli->command->words, length) != 0 || other->words[length] != ' ')
            continue;
        printf("%s  %s %s\n      %s\n", is_first ? "\nCommands:\n" : "", other->words, other->usage, other->sentence);
        is_first = false;
    }
}

// Behind the program's name; a command of several spellings is found by its last word.
static const char *const EXAMPLES[][3] = {
    {"exec", "exec job -- nvidia-smi", "exec job -i -- tar x < data.tar"},
    {"open", "open notebook", "open notebook --port 6006 --print"},
    {"ssh", "ssh job", "ssh job -- nvidia-smi"},
    {"ssh-config", "ssh-config >>~/.ssh/config", "ssh-config -p team-a"},
    {"run", "run -g 1 -- python train.py", "run -g 2 --venv .venv --env-from-shell -- python train.py --epochs 3"},
};

static void show_examples(const struct cli *cli)
{
    const char *last = strrchr(cli->command->words, ' ');
    last = last ? last + 1 : cli->command->words;
    for (size_t i = 0; i < sizeof(EXAMPLES) / sizeof(EXAMPLES[0]); i++)
        if (strcmp(EXAMPLES[i][0], last) == 0)
            printf("\nExamples:\n  %s %s\n  %s %s\n", cli->program, EXAMPLES[i][1], cli->program, EXAMPLES[i][2]);
}

static void show_help(const struct cli *cli)
{
    printf("Usage: %s %s %s\n\n%s\n\n", cli->program, cli->command->words, cli->command->usage, cli->command->sentence);
    if (cli->command->flags)
        flags_help(cli->command->flags);
    const struct flag *const globals[] = {GLOBAL_FLAGS, NULL};
    flags_help(globals);
    show_examples(cli);
    show_others(cli);
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
        show_help(cli);
        return 0;
    }
    if (check_words(cli, err) < 0 || cli_check_output(cli, err) < 0)
        return -1;
    if (cli->command->needs >= NEEDS_PROFILE && profile_open(&cli->arguments, &cli->arena, &cli->profile, err) < 0)
        return -1;
    if (cli->command->needs == NEEDS_SERVER && way_open(cli, err) < 0)
        return -1;
    return cli->command->run(cli, err);
}

int cli_main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash ? slash + 1 : argv[0];
    struct error err = {0};
    size_t taken;
    const struct command *command =
        cli_command_of((const char *const *)argv + 1, argc > 1 ? (size_t)argc - 1 : 0, &taken);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        list_commands(program, NULL);
        return argc < 2;
    }
    if (!command) {
        if (cli_has_command(argv[1])) {
            list_commands(program, argv[1]);
            return argc < 3 || strcmp(argv[2], "--help") != 0;
        }
        fprintf(stderr, "Error: unknown command \"%s\"; %s --help lists them\n", argv[1], program);
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
