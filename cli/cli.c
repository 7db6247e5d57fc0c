#include "cli/cli.h"

#include "base/buffer.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/help/help.h"
#include "cli/way.h"

#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void say_error(const struct error *err)
{
    fprintf(stderr, "Error: %s\n", err->message);
    if (*err->details)
        fprintf(stderr, "%s\n", err->details);
}

// The command once, in a process of its own, which takes its memory along: what it printed, and its exit status.
static int run_apart(struct cli *cli, struct buffer *out, int *out_status, struct error *err)
{
    int ends[2], status = 0;
    char part[1024];
    fflush(stdout);
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0)
        return error_set(err, ERROR_INTERNAL, "--watch: %s", strerror(errno));
    if (pid == 0) {
        close(ends[0]);
        int rc = dup2(ends[1], STDOUT_FILENO) < 0 ? -1 : cli->command->run(cli, err);
        if (rc < 0)
            say_error(err);
        _exit(fflush(stdout) != 0 || rc < 0 ? 1 : cli->exit_status);
    }
    close(ends[1]);
    for (ssize_t length; (length = read(ends[0], part, sizeof(part))) > 0;)
        buffer_append(out, part, (size_t)length);
    close(ends[0]);
    if (waitpid(pid, &status, 0) < 0)
        return error_set(err, ERROR_INTERNAL, "--watch: %s", strerror(errno));
    *out_status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return 0;
}

static bool is_age(const char *word, size_t length)
{
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && digits + 1 == length && strchr("smhd", word[digits]);
}

// The words of a table without its ages and rulers, which change although nothing does.
static void add_words(struct buffer *out, const char *text)
{
    while (*text) {
        size_t blanks = strspn(text, " \n"), length = strcspn(text + blanks, " \n");
        text += blanks;
        if (!is_age(text, length) && strncmp(text, "─", strlen("─")) != 0) {
            buffer_append(out, text, length);
            buffer_append(out, " ", 1);
        }
        text += length;
    }
}

// --watch: until it is interrupted, the command fails, or nobody reads any more.
static int run_again(struct cli *cli, struct error *err)
{
    static const struct timespec PAUSE = {.tv_sec = 2};
    bool is_terminal = isatty(STDOUT_FILENO), goes_on = true;
    char *before = NULL;
    int rc = 0;
    while (goes_on) {
        struct buffer said, words;
        buffer_init(&said, 0);
        buffer_init(&words, 0);
        rc = run_apart(cli, &said, &cli->exit_status, err);
        char *text = buffer_take(&said);
        add_words(&words, text);
        char *now = buffer_take(&words);
        if (is_terminal)
            printf("\033[H\033[2J%s", text);
        else if (!before || strcmp(before, now) != 0)
            printf("%s%s", before ? "\n" : "", text);
        free(text);
        free(before);
        before = now;
        goes_on = fflush(stdout) == 0 && rc == 0 && cli->exit_status == 0;
        if (goes_on)
            nanosleep(&PAUSE, NULL);
    }
    free(before);
    return rc;
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
    bool is_list = false;
    for (size_t i = 0; cli->command->flags && cli->command->flags[i]; i++)
        is_list = is_list || cli->command->flags[i] == LIST_FLAGS;
    if (is_list && flag_is_set(&cli->arguments, "watch"))
        return run_again(cli, err);
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
    if (rc < 0)
        say_error(&err);
    if (fflush(stdout) != 0)
        rc = -1;
    int status = rc < 0 ? 1 : cli->exit_status;
    client_close(&cli->client);
    profile_close(&cli->profile);
    arena_done(&cli->arena);
    free(cli);
    return status;
}
