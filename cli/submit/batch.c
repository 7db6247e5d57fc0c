// `batch train.sh`: a script with #SBATCH lines becomes a training that runs its text.
#include "base/buffer.h"
#include "base/error.h"
#include "cli/kinds.h"
#include "cli/submit/batch_options.h"
#include "cli/submit/submit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    SCRIPT_MAX = 64 * 1024, // one argument of a program has room for it, quoted
    START_WORDS_MAX = 8,
    ARRAY_WORDS = 3
};

bool submit_is_script(const char *path)
{
    char begin[2] = {0};
    FILE *file = strcmp(path, "-") != 0 ? fopen(path, "re") : NULL;
    bool is_script = file && fread(begin, 1, sizeof(begin), file) == sizeof(begin) && memcmp(begin, "#!", 2) == 0;
    if (file)
        fclose(file);
    return is_script;
}

static int read_script(struct cli *cli, const char *path, const char **out_text, struct error *err)
{
    char piece[2048];
    struct buffer text;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    buffer_init(&text, SCRIPT_MAX);
    for (size_t size; !text.overflow && (size = fread(piece, 1, sizeof(piece), file)) > 0;)
        buffer_append(&text, piece, size);
    const char *wrong = NULL;
    if (ferror(file))
        wrong = "it cannot be read";
    else if (text.overflow)
        wrong = "a script has at most 64 KiB; have it call a larger one";
    else if (text.length < 2 || memcmp(text.data, "#!", 2) != 0)
        wrong = "no script: its first line names its interpreter, as #!/bin/bash does";
    else if (strlen(text.data) != text.length)
        wrong = "no text: there is a zero byte in it";
    *out_text = wrong ? NULL : arena_strdup(&cli->arena, text.data);
    buffer_done(&text);
    if (file != stdin)
        fclose(file);
    return wrong ? error_set(err, ERROR_INVALID, "%s: %s", path, wrong) : 0;
}

// What takes a program's text behind -c; of shells the next word is $0.
static int add_start(struct cli *cli, const char *path, const char *script, struct error *err)
{
    static const char *const SHELLS[] = {"bash", "sh", "dash", "zsh", NULL}, *const OTHERS[] = {"python", NULL};
    struct arguments *arguments = &cli->arguments;
    char *line = arena_strndup(&cli->arena, script + 2, strcspn(script + 2, "\r\n")), *rest = line, *word;
    while ((word = strsep(&rest, " \t"))) {
        bool is_env = strcmp(word, "/usr/bin/env") == 0 || (arguments->rest_count == 0 && strcmp(word, "-S") == 0);
        if (*word && !is_env && arguments->rest_count < START_WORDS_MAX)
            arguments->rest[arguments->rest_count++] = word;
    }
    const char *program = arguments->rest_count ? arguments->rest[0] : "";
    bool is_shell = submit_is_program(program, SHELLS);
    if (!is_shell && !submit_is_program(program, OTHERS))
        return error_set(err, ERROR_INVALID, "%s: its first line names %s; scripts of shells and Python are known",
                         path, *program ? program : "no interpreter");
    arguments->rest[arguments->rest_count++] = "-c";
    arguments->rest[arguments->rest_count++] = script;
    if (is_shell)
        arguments->rest[arguments->rest_count++] = path;
    return 0;
}

// Each task of an array learns its number from that of its run, and is then the script.
static void put_array_first(struct cli *cli, const struct batch_array *array)
{
    struct arguments *arguments = &cli->arguments;
    const char *const words[ARRAY_WORDS] = {
        "/bin/sh", "-c",
        arena_printf(&cli->arena, "export SLURM_ARRAY_TASK_ID=$((%llu+%llu*JOB_COMPLETION_INDEX)); exec \"$0\" \"$@\"",
                     array->first, array->step)};
    memmove(arguments->rest + ARRAY_WORDS, arguments->rest, arguments->rest_count * sizeof(*arguments->rest));
    memcpy(arguments->rest, words, sizeof(words));
    arguments->rest_count += ARRAY_WORDS;
}

static int set_command(struct cli *cli, const char *path, const char *script, const struct batch_array *array,
                       const char *const *words, size_t count, struct error *err)
{
    struct arguments *arguments = &cli->arguments;
    const char *given[REST_MAX];
    size_t given_count = arguments->rest_count;
    memcpy(given, arguments->rest, given_count * sizeof(*given));
    arguments->rest_count = 0;
    arguments->has_rest = true;
    if (add_start(cli, path, script, err) < 0)
        return -1;
    if (arguments->rest_count + count + given_count + ARRAY_WORDS > REST_MAX)
        return error_set(err, ERROR_INVALID, "%s: too many arguments", path);
    for (size_t i = 0; i < count; i++)
        arguments->rest[arguments->rest_count++] = words[i];
    for (size_t i = 0; i < given_count; i++)
        arguments->rest[arguments->rest_count++] = given[i];
    if (array->is_asked)
        put_array_first(cli, array);
    return 0;
}

// What the command line says of a flag comes before what the script says of it.
static void add_flags(struct arguments *to, const struct arguments *from)
{
    for (size_t i = 0; i < from->value_count && to->value_count < FLAG_VALUES_MAX; i++)
        if (!flag_values(to, from->values[i].flag->name))
            to->values[to->value_count++] = from->values[i];
}

int submit_script(struct cli *cli, const char *path, const char *name, const char *const *words, size_t word_count,
                  struct error *err)
{
    const char *script, *project_name;
    struct batch_options *options = arena_alloc(&cli->arena, sizeof(*options));
    json_t *project;
    if (read_script(cli, path, &script, err) < 0)
        return -1;
    if (batch_options_read(script, &cli->arena, options, err) < 0)
        return error_prefix(err, "%s: ", path);
    add_flags(&cli->arguments, &options->flags);
    cli->arguments.word_count = 0;
    if (name)
        cli->arguments.words[cli->arguments.word_count++] = name;
    if (set_command(cli, path, script, &options->array, words, word_count, err) < 0 ||
        cli_project_name(cli, &project_name, err) < 0 || cli_find_project(cli, project_name, &project, err) < 0)
        return -1;
    for (size_t i = 0; i < options->note_count && !flag_is_set(&cli->arguments, "quiet"); i++)
        fprintf(stderr, "#SBATCH %s\n", options->notes[i]);
    json_t *body = json_object();
    int rc = submit_make_run(cli, &TRAINING, strcmp(path, "-") == 0 ? "batch" : path, project, body, err);
    if (rc == 0)
        rc = submit_send(cli, &TRAINING, body, project_name, err);
    json_decref(body);
    json_decref(project);
    return rc;
}

int run_batch(struct cli *cli, struct error *err)
{
    const char *words[WORDS_MAX];
    size_t count = cli->arguments.word_count;
    memcpy(words, cli->arguments.words, count * sizeof(*words));
    if (count == 0)
        return error_set(err, ERROR_INVALID, "which script? %s batch train.sh; - reads it from the input",
                         cli->program);
    return submit_script(cli, words[0], NULL, words + 1, count - 1, err);
}
