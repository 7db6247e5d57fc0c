// `run -g 1 -- python train.py`: a training in the foreground. What it prints comes here, Ctrl-C asks whether to stop
// it, and its program's exit status is this command's.
#include "base/error.h"
#include "cli/follow.h"
#include "cli/submit/here.h"
#include "cli/submit/interrupt.h"
#include "cli/submit/submit.h"
#include "cli/watch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    BY_SIGNAL = 128,
    NAME_MAX_LENGTH = 40
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool submit_is_program(const char *path, const char *const *beginnings)
{
    for (size_t i = 0; beginnings[i]; i++)
        if (strncmp(base_of(path), beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

// "train" of `exp/train.py`.
static const char *name_of(struct cli *cli, const char *program)
{
    const char *word = base_of(program);
    char name[NAME_MAX_LENGTH + 1];
    size_t length = 0;
    for (const char *c = word; *c && *c != '.' && length < NAME_MAX_LENGTH; c++)
        if (isalnum((unsigned char)*c))
            name[length++] = (char)tolower((unsigned char)*c);
        else if (length > 0 && name[length - 1] != '-')
            name[length++] = '-';
    while (length > 0 && name[length - 1] == '-')
        length--;
    name[length] = '\0';
    return length > 0 && isalpha((unsigned char)name[0]) ? arena_strdup(&cli->arena, name) : "run";
}

// The program, or the script that an interpreter is given: `train.py` of `python -u train.py`.
static const char *find_program(const struct cli *cli)
{
    static const char *const INTERPRETERS[] = {"python", "bash", "sh", "torchrun", "accelerate", "deepspeed", NULL};
    const struct arguments *arguments = &cli->arguments;
    const char *word = arguments->rest[0];
    for (size_t i = 1; submit_is_program(word, INTERPRETERS) && i < arguments->rest_count; i++)
        if (strchr(arguments->rest[i], '.') && arguments->rest[i][0] != '-' && !strchr(arguments->rest[i], ' '))
            return arguments->rest[i];
    return word;
}

int submit_make_run(struct cli *cli, const struct kind *kind, const char *program, const json_t *project, json_t *body,
                    struct error *err)
{
    if (submit_make_body(cli, kind, project, body, err) < 0)
        return -1;
    json_t *spec = json_object_get(body, "spec");
    json_t *words = json_object_get(spec, "args"); // all behind -- is the command
    if (words && !json_object_get(spec, "command")) {
        json_object_set(spec, "command", words);
        json_object_del(spec, "args");
    }
    if (!flag_is_set(&cli->arguments, "backoff-limit"))
        json_object_set_new(spec, "backoffLimit", json_integer(0)); // its end is the program's
    if (cli->arguments.word_count == 0 && !flag_is_set(&cli->arguments, "name") &&
        !flag_is_set(&cli->arguments, "name-prefix")) {
        json_object_set_new(body, "name", json_string(name_of(cli, program)));
        json_object_set_new(body, "useGivenNameAsPrefix", json_true());
    }
    return here_take(cli, spec, err);
}

// Of the pod that ended last; 0 where none says it.
static int exit_code(struct cli *cli, const char *uuid)
{
    json_t *answer, *pod;
    size_t i;
    const char *latest = "";
    int code = 0;
    if (cli_get(cli, &answer, NULL, "/api/v1/workloads/%s/pods", uuid) < 0)
        return 0;
    json_array_foreach(json_object_get(answer, "pods"), i, pod) {
        const json_t *ended = json_object_get(pod, "exitCode");
        const char *created = cli_text(pod, "createdAt");
        if (!json_is_integer(ended) || strcmp(created, latest) < 0)
            continue;
        latest = arena_strdup(&cli->arena, created);
        code = (int)json_integer_value(ended);
    }
    json_decref(answer);
    return code;
}

// Its status where the workload is over.
static int take_end(struct cli *cli, const struct interrupt *interrupt, const struct watch_wish *wish,
                    enum watch_end end, struct error *err)
{
    int by = interrupt_signal(interrupt);
    if (end == WATCH_COMPLETED)
        return 0;
    if (end == WATCH_STOPPED && !by)
        return error_set(err, ERROR_INVALID, "%s was stopped by somebody else", wish->name);
    cli->exit_status = end == WATCH_STOPPED ? BY_SIGNAL + by : exit_code(cli, wish->workload_uuid);
    if (cli->exit_status)
        return 0;
    error_set(err, ERROR_INVALID, "%s failed", wish->name);
    return error_details(err, "what happened: %s workload explain %s", cli->program, wish->name);
}

static int accompany(struct cli *cli, const struct interrupt *interrupt, const struct watch_wish *wish,
                     struct error *err)
{
    enum watch_end end;
    if (watch_until_begun(cli, wish, &end, err) < 0)
        return -1;
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads/%s/logs", wish->workload_uuid);
    if (end == WATCH_FAILED)
        (void)cli_follow_log(cli, path, NULL); // it may have none
    else if (end != WATCH_STOPPED && (cli_follow_log(cli, path, err) < 0 || watch_until_over(cli, wish, &end, err) < 0))
        return -1;
    return take_end(cli, interrupt, wish, end, err);
}

static int submit(struct cli *cli, struct interrupt *interrupt, const json_t *body, const char *project,
                  struct error *err)
{
    json_t *answer;
    if (client_call(&cli->client, "POST", "/api/v1/workloads/trainings", body, &answer, err) < 0)
        return -1;
    struct watch_wish wish = {arena_strdup(&cli->arena, cli_text(answer, "workloadId")),
                              arena_strdup(&cli->arena, cli_text(answer, "name")),
                              flag_is_set(&cli->arguments, "quiet")};
    json_decref(answer);
    if (!wish.is_quiet)
        fprintf(stderr, "Submitted %s to project %s\n", wish.name, project);
    interrupt_begin(interrupt, wish.workload_uuid, wish.name, project);
    int rc = accompany(cli, interrupt, &wish, err);
    if (rc < 0 && err->code == ERROR_UNAVAILABLE)
        error_details(err, "it may still run; follow it: %s workload logs %s -p %s --follow", cli->program, wish.name,
                      project);
    return rc;
}

int run_run(struct cli *cli, struct error *err)
{
    const char *project_name;
    json_t *project;
    if (cli->arguments.rest_count == 0 || cli->arguments.word_count > 0)
        return error_set(err, ERROR_INVALID, "the command stands behind --: %s run -g 1 -- python train.py",
                         cli->program);
    if (cli_project_name(cli, &project_name, err) < 0 || cli_find_project(cli, project_name, &project, err) < 0)
        return -1;
    json_t *body = json_object();
    struct interrupt *interrupt = NULL;
    int rc = submit_make_run(cli, cli->command->kind, find_program(cli), project, body, err);
    if (rc == 0 && (flag_is_set(&cli->arguments, "dry-run") || flag_is_set(&cli->arguments, "what-if")))
        rc = submit_send(cli, cli->command->kind, body, project_name, err);
    else if (rc == 0)
        rc = (interrupt = interrupt_create(cli, err)) ? submit(cli, interrupt, body, project_name, err) : -1;
    interrupt_destroy(interrupt);
    json_decref(body);
    json_decref(project);
    return rc;
}
