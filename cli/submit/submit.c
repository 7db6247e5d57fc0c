#include "cli/submit/submit.h"

#include "base/buffer.h"
#include "base/duration.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/watch.h"
#include "cli/what_if.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *submit_part_of(struct cli *cli, const char *text, const char *key)
{
    char *rest = arena_strdup(&cli->arena, text), *part;
    while ((part = strsep(&rest, ","))) {
        size_t length = strlen(key);
        if (strncmp(part, key, length) == 0 && (part[length] == '=' || part[length] == '\0'))
            return part[length] == '=' ? part + length + 1 : "";
    }
    return NULL;
}

static void take_structures(struct cli *cli, json_t *spec)
{
    static const char *const AFFINITIES[][2] = {{"preferred-pod-topology-key", "Preferred"},
                                                {"required-pod-topology-key", "Required"}};
    const struct flag_value *value;
    submit_take_resources(cli, "extended-resource", spec);
    for (size_t i = 0; i < 2; i++) {
        const char *key = flag_text(&cli->arguments, AFFINITIES[i][0]);
        if (key)
            json_object_set_new(spec, "podAffinity", json_pack("{s:s, s:s}", "type", AFFINITIES[i][1], "key", key));
    }
    if ((value = flag_values(&cli->arguments, "exclude-node")))
        for (size_t i = 0; i < value->count; i++) {
            json_t *expression = json_pack("{s:s, s:s, s:[s]}", "key", "kubernetes.io/hostname", "operator", "NotIn",
                                           "values", value->texts[i]);
            submit_append_to(spec, "nodeAffinityRequired.nodeSelectorTerms",
                             json_pack("{s:[o]}", "matchExpressions", expression));
        }
}

static int set_port(json_t *item, const char *member, const char *text, struct error *err)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end)
        return error_set(err, ERROR_INVALID, "--port: %s: expected a number, got \"%s\"", member, text);
    json_object_set_new(item, member, json_integer(number));
    return 0;
}

// EXTERNAL:CONTAINER, as the first generation has it.
static int set_port_pair(struct cli *cli, json_t *item, const char *text, struct error *err)
{
    char *container = arena_strdup(&cli->arena, text),
         *external = strchr(container, ':') ? strsep(&container, ":") : NULL;
    if (external && set_port(item, "external", external, err) < 0)
        return -1;
    return set_port(item, "container", container, err);
}

static int set_port_parts(struct cli *cli, json_t *item, const char *text, const char **out_type, struct error *err)
{
    char *rest = arena_strdup(&cli->arena, text), *value;
    int rc = 0;
    while (rc == 0 && (value = strsep(&rest, ","))) {
        const char *key = strsep(&value, "=");
        if (strcmp(key, "service-type") == 0)
            *out_type = value;
        else if (strcmp(key, "container") == 0 || strcmp(key, "external") == 0)
            rc = set_port(item, key, value ? value : "", err);
        else
            rc = error_set(err, ERROR_INVALID, "--port: no part \"%s\"; see help for those it has", key);
    }
    return rc;
}

static int read_port(struct cli *cli, json_t *item, const char *text, const char *type, struct error *err)
{
    int rc = strchr(text, '=') ? set_port_parts(cli, item, text, &type, err) : set_port_pair(cli, item, text, err);
    if (type && (strcmp(type, "loadbalancer") == 0 || strcmp(type, "LoadBalancer") == 0))
        type = "LoadBalancer";
    else if (type && (strcmp(type, "nodeport") == 0 || strcmp(type, "NodePort") == 0))
        type = "NodePort";
    else
        type = "ClusterIP";
    json_object_set_new(item, "serviceType", json_string(type));
    return rc;
}

static int take_ports(struct cli *cli, json_t *spec, struct error *err)
{
    const struct flag_value *ports = flag_values(&cli->arguments, "port");
    const char *service = cli->command->is_old ? flag_text(&cli->arguments, "service-type") : NULL;
    bool ingress = service && strcmp(service, "ingress") == 0;
    for (size_t i = 0; ports && i < ports->count; i++) {
        json_t *port = json_object();
        if (read_port(cli, port, ports->texts[i], service, err) < 0) {
            json_decref(port);
            return -1;
        }
        if (ingress) {
            submit_append_to(spec, "exposedUrls", json_pack("{s:O}", "container", json_object_get(port, "container")));
            json_decref(port);
        } else {
            submit_append_to(spec, "ports", port);
        }
    }
    const struct flag_value *volumes = flag_values(&cli->arguments, "volume");
    for (size_t i = 0; volumes && i < volumes->count; i++) {
        char *rest = arena_strdup(&cli->arena, volumes->texts[i]);
        const char *source = strsep(&rest, ":"), *target = strsep(&rest, ":");
        submit_append_to(spec, "storage.hostPath",
                         json_pack("{s:s, s:s, s:b}", "path", source, "mountPath", target ? target : source, "readOnly",
                                   rest && strcmp(rest, "ro") == 0));
    }
    return 0;
}

// One text that the server splits again by the shell's rules: words with blanks or quotes are quoted.
static const char *join_words(struct cli *cli, const char *const *words, size_t count)
{
    struct buffer joined;
    buffer_init(&joined, 0);
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        if (i)
            buffer_char(&joined, ' ');
        if (*word && !strpbrk(word, " \t\n\"'\\$")) {
            buffer_text(&joined, word);
            continue;
        }
        buffer_char(&joined, '\'');
        for (const char *c = word; *c; c++)
            if (*c == '\'')
                buffer_text(&joined, "'\\''");
            else
                buffer_char(&joined, *c);
        buffer_char(&joined, '\'');
    }
    const char *text = arena_strdup(&cli->arena, count ? joined.data : "");
    buffer_done(&joined);
    return text;
}

static void take_command(struct cli *cli, json_t *spec)
{
    const struct arguments *arguments = &cli->arguments;
    const char *words = arguments->has_rest ? join_words(cli, arguments->rest, arguments->rest_count) : NULL;
    const char *command = flag_text(arguments, "command"), *args = flag_text(arguments, "args");
    if (cli->command->is_old && command && *command)
        json_object_set_new(spec, "command", json_string(command));
    else if (words && *words)
        json_object_set_new(spec, command ? "command" : "args", json_string(words));
    if (args)
        json_object_set_new(spec, "args", json_string(args));
}

// What follows from flags that others imply.
static int complete(struct cli *cli, const struct kind *kind, json_t *spec, struct error *err)
{
    if (submit_take_gpus(cli, cli->command->is_old ? "gpu" : "gpu-devices-request", spec, err) < 0)
        return -1;
    submit_name_request_type(spec);
    if (flag_is_set(&cli->arguments, "preemptible") && !cli_at(spec, "preemptibility"))
        json_object_set_new(spec, "preemptibility", json_string("preemptible"));
    if (flag_is_set(&cli->arguments, "run-as-user")) {
        submit_set_at(spec, "security.uidGidSource", json_string("custom"));
        submit_set_at(spec, "security.runAsUid", json_integer(getuid()));
        submit_set_at(spec, "security.runAsGid", json_integer(getgid()));
    }
    if (flag_is_set(&cli->arguments, "jupyter") && !cli_at(spec, "image"))
        json_object_set_new(spec, "image", json_string("jupyter/scipy-notebook"));
    if (flag_is_set(&cli->arguments, "jupyter"))
        submit_append_to(spec, "exposedUrls",
                         json_pack("{s:i, s:s}", "container", 8888, "toolType", "jupyter-notebook"));
    if (strcmp(kind->type, "Distributed") == 0) {
        if (kind->framework)
            json_object_set_new(spec, "distributedFramework", json_string(kind->framework));
        if (!cli_at(spec, "numWorkers") && !flag_is_set(&cli->arguments, "template"))
            json_object_set_new(spec, "numWorkers", json_integer(1));
    }
    return 0;
}

static const char *random_name(struct cli *cli, const struct kind *kind)
{
    return arena_printf(&cli->arena, "%s-%06x", strcmp(kind->type, "Workspace") == 0 ? "workspace" : "job",
                        randombytes_uniform(1U << 24));
}

int submit_make_spec(struct cli *cli, const struct kind *kind, json_t *spec, struct error *err)
{
    if (submit_take_fields(cli, SPEC_FIELDS, spec, err) < 0)
        return -1;
    take_structures(cli, spec);
    if (submit_take_lists(cli, spec, err) < 0 || take_ports(cli, spec, err) < 0)
        return -1;
    take_command(cli, spec);
    return submit_take_serving(cli, kind, spec, err) < 0 ? -1 : complete(cli, kind, spec, err);
}

int submit_make_body(struct cli *cli, const struct kind *kind, const json_t *project, json_t *body, struct error *err)
{
    const char *name = cli->arguments.word_count ? cli->arguments.words[0] : flag_text(&cli->arguments, "name");
    const char *prefix = flag_text(&cli->arguments, "name-prefix");
    if (!prefix)
        prefix = flag_text(&cli->arguments, "job-name-prefix");
    if (prefix)
        json_object_set_new(body, "useGivenNameAsPrefix", json_true());
    if (flag_is_set(&cli->arguments, "hold"))
        json_object_set_new(body, "suspend", json_true());
    json_object_set_new(body, "name", json_string(name ? name : prefix ? prefix : random_name(cli, kind)));
    json_object_set_new(body, "projectId", json_string(cli_text(project, "id")));
    json_object_set_new(body, "clusterId", json_string(cli_text(project, "clusterId")));
    json_t *spec = json_object();
    json_object_set_new(body, "spec", spec);
    if (submit_take_assets(cli, body, err) < 0 || submit_make_spec(cli, kind, spec, err) < 0)
        return -1;
    return strcmp(kind->type, "Distributed") == 0 && !flag_is_set(&cli->arguments, "no-master")
               ? submit_add_master(cli, body, spec, err)
               : 0;
}

static void report(const struct cli *cli, const struct kind *kind, const json_t *answer, const char *project)
{
    const char *name = cli_text(answer, "name");
    if (flag_is_set(&cli->arguments, "quiet"))
        return;
    if (flag_is_set(&cli->arguments, "hold"))
        printf("%s is held: '%s %s resume %s -p %s' lets it begin.\n", name, cli->program, kind->word, name, project);
    if (cli->command->is_old)
        printf("The job '%s' has been submitted successfully\n"
               "You can run `%s describe job %s -p %s` to check the job status\n",
               name, cli->program, name, project);
    else
        printf("Creating %s %s in project %s\nTo track the workload's status, run '%s %s describe %s -p %s'\n",
               kind->word, name, project, cli->program, kind->word, name, project);
}

// Nothing is submitted: the server says what would happen.
static int ask_what_if(struct cli *cli, const struct kind *kind, json_t *body, struct error *err)
{
    json_t *answer, *question = json_pack("{s:s, s:O}", "type", kind->type, "workload", body);
    int rc = client_call(&cli->client, "POST", "/api/v1/scheduler/what-if", question, &answer, err);
    json_decref(question);
    if (rc < 0)
        return -1;
    if (cli_output(cli) == OUTPUT_TABLE) {
        what_if_print(cli, answer);
        puts("\nNothing was submitted.");
    } else {
        cli_print(cli, answer);
    }
    if (strcmp(cli_text(answer, "verdict"), "Waits") == 0)
        cli->exit_status = EXIT_WAITS;
    json_decref(answer);
    return 0;
}

// --watch: until it runs; status 1 where it ends otherwise than well.
static int watch(struct cli *cli, const struct kind *kind, const json_t *answer, const char *project, struct error *err)
{
    enum watch_end end;
    const char *name = cli_text(answer, "name");
    struct watch_wish wish = {cli_text(answer, "workloadId"), name, flag_is_set(&cli->arguments, "quiet")};
    fflush(stdout);
    if (watch_until_begun(cli, &wish, &end, err) < 0)
        return -1;
    if (end == WATCH_FAILED || end == WATCH_STOPPED) {
        error_set(err, ERROR_INVALID, "%s %s", name, end == WATCH_FAILED ? "failed" : "was stopped");
        return error_details(err, "what happened: %s workload describe %s -p %s", cli->program, name, project);
    }
    if (wish.is_quiet)
        return 0;
    puts(end == WATCH_RUNS ? "Running" : "Completed");
    if (end == WATCH_RUNS && strcmp(kind->type, "Workspace") == 0)
        printf("A shell in it: %s bash %s -p %s\n", cli->program, name, project);
    printf("Its output: %s workload logs %s -p %s --follow\n", cli->program, name, project);
    return 0;
}

int submit_send(struct cli *cli, const struct kind *kind, json_t *body, const char *project, struct error *err)
{
    json_t *answer;
    if (flag_is_set(&cli->arguments, "dry-run")) {
        cli_print(cli, body);
        return 0;
    }
    if (flag_is_set(&cli->arguments, "what-if"))
        return ask_what_if(cli, kind, body, err);
    if (client_call(&cli->client, "POST", arena_printf(&cli->arena, "/api/v1/workloads/%s", kind->path), body, &answer,
                    err) < 0)
        return -1;
    report(cli, kind, answer, project);
    int rc = flag_is_set(&cli->arguments, "watch") ? watch(cli, kind, answer, project, err) : 0;
    json_decref(answer);
    return rc;
}

int run_submit_file(struct cli *cli, struct error *err)
{
    static const struct kind KINDS[] = {{"training", "Training", "trainings", NULL},
                                        {"workspace", "Workspace", "workspaces", NULL},
                                        {"distributed", "Distributed", "distributed", NULL},
                                        {"inference", "Inference", "inferences", NULL}};
    const char *type, *project, *path = flag_text(&cli->arguments, "file");
    json_t *body;
    if (path && submit_is_script(path))
        return submit_script(cli, path, cli->arguments.word_count ? cli->arguments.words[0] : NULL, NULL, 0, err);
    if (submit_read_file(cli, &body, &type, &project, err) < 0)
        return -1;
    int rc = -1;
    size_t i = 0;
    while (i < sizeof(KINDS) / sizeof(KINDS[0]) && strcasecmp(KINDS[i].type, type) != 0)
        i++;
    if (i < sizeof(KINDS) / sizeof(KINDS[0]))
        rc = submit_send(cli, &KINDS[i], body, project, err);
    else
        error_set(err, ERROR_INVALID, "type: Training, Workspace, Distributed or Inference, got %.60s", type);
    json_decref(body);
    return rc;
}

int run_submit(struct cli *cli, struct error *err)
{
    static const struct kind OLD_WORKSPACE = {"workspace", "Workspace", "workspaces", NULL};
    const struct kind *kind = cli->command->kind;
    const char *project_name;
    json_t *project;
    if (cli->command->is_old &&
        (flag_is_set(&cli->arguments, "interactive") || flag_is_set(&cli->arguments, "jupyter")))
        kind = &OLD_WORKSPACE;
    if (cli_project_name(cli, &project_name, err) < 0 || cli_find_project(cli, project_name, &project, err) < 0)
        return -1;
    json_t *body = json_object();
    int rc = submit_make_body(cli, kind, project, body, err);
    if (rc == 0)
        rc = submit_send(cli, kind, body, project_name, err);
    json_decref(body);
    json_decref(project);
    return rc;
}
