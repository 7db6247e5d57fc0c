// Completion: the scripts for shells, and the words that may come next. Names are the server's, asked for quietly.
#include "base/error.h"
#include "cli/command.h"
#include "cli/way.h"

#include <stdio.h>
#include <string.h>

static const char BASH[] = "_prorata_words() {\n"
                           "    local IFS=$'\\n'\n"
                           "    COMPREPLY=($(\"${COMP_WORDS[0]}\" complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\"))\n"
                           "}\n"
                           "complete -o default -F _prorata_words ";

int run_completion(struct cli *cli, struct error *err)
{
    const char *shell;
    if (cli_name(cli, &shell, err) < 0)
        return -1;
    if (strcmp(shell, "fish") == 0)
        printf("complete -c %s -f -a '(%s complete -- (commandline -opc)[2..-1] (commandline -ct))'\n", cli->program,
               cli->program);
    else if (strcmp(shell, "zsh") == 0)
        printf("autoload -U +X bashcompinit && bashcompinit\n%s%s\n", BASH, cli->program);
    else if (strcmp(shell, "bash") == 0)
        printf("%s%s\n", BASH, cli->program);
    else
        return error_set(err, ERROR_INVALID, "completion: bash, zsh or fish, got %.60s", shell);
    return 0;
}

static bool begins(const char *text, const char *part)
{
    return strncmp(text, part, strlen(part)) == 0;
}

// The command's words behind those that stand already, or NULL where it is another.
static const char *words_behind(const char *command, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(command, words[i], length) != 0 || command[length] != ' ')
            return NULL;
        command += length + 1;
    }
    return command;
}

// Each next word of commands once; several commands share one: "training submit", "training list".
static void offer_words(const char *const *words, size_t count, const char *part)
{
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));) {
        const char *next = words_behind(command->words, words, count);
        if (!next || !begins(next, part))
            continue;
        size_t length = strcspn(next, " ");
        struct command_walk before = {0};
        bool is_new = true;
        for (const struct command *other; is_new && (other = command_next(&before)) && other != command;) {
            const char *same = words_behind(other->words, words, count);
            is_new = !same || strcspn(same, " ") != length || strncmp(same, next, length) != 0;
        }
        if (is_new)
            printf("%.*s\n", (int)length, next);
    }
}

static void offer_flags(const struct command *command, const char *part)
{
    const struct flag *const globals[] = {GLOBAL_FLAGS, NULL};
    const struct flag *const *both[] = {command ? command->flags : NULL, globals};
    const char *name = part[1] == '-' ? part + 2 : part + 1;
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; both[b] && both[b][i]; i++)
            for (const struct flag *flag = both[b][i]; flag->name; flag++)
                if (flag->type != FLAG_HEADING && begins(flag->name, name))
                    printf("--%s\n", flag->name);
}

static void offer_names(struct cli *cli, const char *path, const char *key, const char *part)
{
    json_t *answer, *entry;
    size_t i;
    if (cli_get(cli, &answer, NULL, "%s", path) < 0)
        return;
    json_array_foreach(key ? json_object_get(answer, key) : answer, i, entry)
        if (begins(cli_text(entry, "name"), part))
            puts(cli_text(entry, "name"));
    json_decref(answer);
}

// What a name may be, by the first word of the command; else it is a workload's.
static void offer_things(struct cli *cli, const struct command *command, const char *part)
{
    static const struct {
        const char *word, *path, *key;
    } THINGS[] = {
        {"project ", "/api/v1/org-unit/projects?limit=500&verbosity=brief", "projects"},
        {"describe project", "/api/v1/org-unit/projects?limit=500", "projects"},
        {"config project", "/api/v1/org-unit/projects?limit=500", "projects"},
        {"department ", "/api/v1/org-unit/departments?limit=500&verbosity=meta", "departments"},
        {"node ", "/api/v1/nodes?limit=500&verbosity=metadata", "nodes"},
        {"describe node", "/api/v1/nodes?limit=500&verbosity=metadata", "nodes"},
        {"cluster ", "/api/v1/clusters?verbosity=metadata", NULL},
        {"config cluster", "/api/v1/clusters?verbosity=metadata", NULL},
    };
    for (size_t i = 0; i < sizeof(THINGS) / sizeof(THINGS[0]); i++)
        if (begins(command->words, THINGS[i].word)) {
            offer_names(cli, THINGS[i].path, THINGS[i].key, part);
            return;
        }
    if (!command->kind || !begins(command->usage, "NAME") || flag_takes(command->flags, "image"))
        return;
    const char *project = NULL, *filter = "";
    if (cli_project_name(cli, &project, NULL) == 0)
        filter = arena_printf(&cli->arena, "projectName==%s", project);
    if (command->kind->type)
        filter = arena_printf(&cli->arena, "%s%stype==%s", filter, *filter ? "," : "", command->kind->type);
    const char *path =
        cli_add_query(cli, "/api/v1/workloads?limit=500&fields=name", "filterBy", *filter ? filter : NULL);
    offer_names(cli, path, "workloads", part);
}

int run_complete(struct cli *cli, struct error *err)
{
    const char *const *words = cli->arguments.rest;
    size_t count = cli->arguments.rest_count;
    (void)err;
    if (count == 0)
        return 0;
    const char *part = words[--count], *last = count > 0 ? words[count - 1] : "";
    size_t taken;
    const struct command *command = cli_command_of(words, count, &taken);
    if (*part == '-') {
        offer_flags(command, part);
        return 0;
    }
    bool is_name = command != NULL;
    for (size_t i = taken; i < count; i++) // flags may stand between, with their values
        is_name = is_name && (*words[i] == '-' || (i > taken && *words[i - 1] == '-'));
    bool is_project = strcmp(last, "-p") == 0 || strcmp(last, "--project") == 0;
    offer_words(words, count, part);
    if ((is_name || is_project) && way_open(cli, NULL) == 0) {
        if (is_project)
            offer_names(cli, "/api/v1/org-unit/projects?limit=500&verbosity=brief", "projects", part);
        else if (is_name)
            offer_things(cli, command, part);
    }
    return 0;
}
