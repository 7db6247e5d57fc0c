// delete, suspend, resume, logs.
#include "base/error.h"
#include "cli/command.h"
#include "cli/follow.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cli_confirm_deletion(struct cli *cli, const char *name, struct error *err)
{
    char answer[16] = "";
    bool is_asked = isatty(STDIN_FILENO);
    if (flag_is_set(&cli->arguments, "yes") || (!is_asked && cli->command->is_old))
        return 0;
    if (!is_asked)
        return error_set(err, ERROR_INVALID, "deleting asks for confirmation, and there is no terminal; use --yes");
    fprintf(stderr, "Delete %s? [y/N] ", name);
    if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
        return error_set(err, ERROR_INVALID, "nothing was deleted");
    return 0;
}

// Inferences are stopped and resumed by the batch alone.
static int act_by_batch(struct cli *cli, const char *id, const char *what, struct error *err)
{
    json_t *answer, *body = json_pack("{s:[s], s:s}", "ids", id, "action", what);
    int rc = client_call(&cli->client, "POST", "/api/v1/workloads/batch", body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    const json_t *failed = json_array_get(json_object_get(answer, "failed"), 0);
    if (failed)
        rc = error_set(err, ERROR_INVALID, "%s", cli_text(failed, "message"));
    json_decref(answer);
    return rc;
}

// One call on the typed path of the workload; what NULL is DELETE.
static int act_on(struct cli *cli, const json_t *workload, const char *what, struct error *err)
{
    const char *id = cli_text(workload, "id"), *kind = cli_path_of_type(cli_text(workload, "type"));
    if (what && strcmp(kind, "inferences") == 0)
        return act_by_batch(cli, id, what, err);
    const char *path =
        arena_printf(&cli->arena, "/api/v1/workloads/%s/%s%s%s", kind, id, what ? "/" : "", what ? what : "");
    return client_call(&cli->client, what ? "POST" : "DELETE", path, NULL, NULL, err);
}

static void report(const struct cli *cli, const char *name, const char *done)
{
    if (flag_is_set(&cli->arguments, "quiet"))
        return;
    if (cli->command->is_old)
        printf("Job %s %s successfully\n", name, done);
    else
        printf("%s %s was %s successfully\n", cli->command->kind->word, name, done);
}

static int act_on_name(struct cli *cli, const char *name, const char *what, const char *done, struct error *err)
{
    json_t *workload;
    if (cli_find_workload(cli, name, &workload, err) < 0)
        return -1;
    int rc = what ? 0 : cli_confirm_deletion(cli, name, err);
    if (rc == 0)
        rc = act_on(cli, workload, what, err);
    if (rc == 0)
        report(cli, cli_text(workload, "name"), done);
    json_decref(workload);
    return rc;
}

// With -A: all workloads of the project.
static int act_on_all(struct cli *cli, const char *what, const char *done, struct error *err)
{
    const char *project;
    json_t *workloads, *workload;
    size_t i;
    if (cli_project_name(cli, &project, err) < 0 ||
        (!what && cli_confirm_deletion(cli, "all workloads of the project", err) < 0))
        return -1;
    const char *filter = client_escape(&cli->client, arena_printf(&cli->arena, "projectName==%s", project));
    if (cli_get_all(cli, arena_printf(&cli->arena, "/api/v1/workloads?filterBy=%s", filter), "workloads", &workloads,
                    err) < 0)
        return -1;
    int rc = 0;
    json_array_foreach(workloads, i, workload) {
        if (rc == 0)
            rc = act_on(cli, workload, what, err);
        if (rc == 0)
            report(cli, cli_text(workload, "name"), done);
    }
    json_decref(workloads);
    return rc;
}

static int act(struct cli *cli, const char *what, const char *done, struct error *err)
{
    const char *first;
    if (flag_is_set(&cli->arguments, "all"))
        return act_on_all(cli, what, done, err);
    if (cli_name(cli, &first, err) < 0)
        return -1;
    if (cli->arguments.word_count == 0)
        return act_on_name(cli, first, what, done, err);
    for (size_t i = 0; i < cli->arguments.word_count; i++)
        if (act_on_name(cli, cli->arguments.words[i], what, done, err) < 0)
            return -1;
    return 0;
}

int run_workload_delete(struct cli *cli, struct error *err)
{
    return act(cli, NULL, "deleted", err);
}

int run_workload_suspend(struct cli *cli, struct error *err)
{
    return act(cli, "suspend", "suspended", err);
}

int run_workload_resume(struct cli *cli, struct error *err)
{
    return act(cli, "resume", "resumed", err);
}

static size_t print_text(char *data, size_t size, size_t count, void *context)
{
    (void)context;
    size_t written = fwrite(data, size, count, stdout);
    fflush(stdout);
    return written * size;
}

int run_workload_logs(struct cli *cli, struct error *err)
{
    static const struct {
        const char *flag, *parameter;
    } PARAMETERS[] = {{"pod", "pod"},
                      {"container", "container"},
                      {"tail", "tail"},
                      {"since", "since"},
                      {"since-time", "since"},
                      {"timestamps", "timestamps"},
                      {"limit-bytes", "limitBytes"},
                      {"previous", "previous"}};
    const char *name;
    json_t *workload;
    if (cli_name(cli, &name, err) < 0 || cli_look_up_workload(cli, name, &workload, err) < 0)
        return -1;
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads/%s/logs", cli_text(workload, "id"));
    json_decref(workload);
    for (size_t i = 0; i < sizeof(PARAMETERS) / sizeof(PARAMETERS[0]); i++)
        path = cli_add_query(cli, path, PARAMETERS[i].parameter, flag_text(&cli->arguments, PARAMETERS[i].flag));
    if (flag_is_set(&cli->arguments, "follow"))
        return cli_follow_log(cli, path, err);
    return client_stream(&cli->client, path, print_text, NULL, err);
}
