// Inferences: their own flags, and `inference update`.
#include "base/error.h"
#include "cli/command.h"
#include "cli/submit/submit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *section(json_t *spec, const char *name)
{
    json_t *object = json_object_get(spec, name);
    if (!object) {
        object = json_object();
        json_object_set_new(spec, name, object);
    }
    return object;
}

// The bounds of a PyTorch training stand at the top, those of an inference in autoscaling.
static void move_bounds(json_t *spec)
{
    static const char *const BOUNDS[] = {"minReplicas", "maxReplicas"};
    for (size_t i = 0; i < sizeof(BOUNDS) / sizeof(BOUNDS[0]); i++) {
        json_t *bound = json_object_get(spec, BOUNDS[i]);
        if (!bound)
            continue;
        json_object_set(section(spec, "autoscaling"), BOUNDS[i], bound);
        json_object_del(spec, BOUNDS[i]);
    }
}

// A:B as a list.
static void set_names(struct cli *cli, json_t *port, const char *key, const char *text)
{
    char *rest = text && *text ? arena_strdup(&cli->arena, text) : NULL, *name;
    json_t *names = rest ? json_array() : NULL;
    while ((name = strsep(&rest, ":")))
        json_array_append_new(names, json_string(name));
    if (names)
        json_object_set_new(port, key, names);
}

int submit_take_serving(struct cli *cli, const struct kind *kind, json_t *spec, struct error *err)
{
    if (strcmp(kind->type, "Inference") != 0)
        return 0;
    move_bounds(spec);
    const char *text = flag_text(&cli->arguments, "serving-port");
    if (!text)
        return 0;
    const char *container = strchr(text, '=') ? submit_part_of(cli, text, "container") : text;
    const char *protocol = submit_part_of(cli, text, "protocol"),
               *access = submit_part_of(cli, text, "authorization-type"),
               *is_local = submit_part_of(cli, text, "cluster-local");
    json_t *port = section(spec, "servingPort");
    char *end = NULL;
    long number = container ? strtol(container, &end, 10) : 0;
    if (container && (end == container || *end))
        return error_set(err, ERROR_INVALID, "--serving-port: container: expected a port, got %s", container);
    if (container)
        json_object_set_new(port, "container", json_integer(number));
    if (protocol && *protocol)
        json_object_set_new(port, "protocol", json_string(protocol));
    if (access && *access)
        json_object_set_new(port, "authorizationType", json_string(access));
    set_names(cli, port, "authorizedUsers", submit_part_of(cli, text, "authorized-users"));
    set_names(cli, port, "authorizedGroups", submit_part_of(cli, text, "authorized-groups"));
    if (is_local && strcmp(is_local, "true") != 0 && strcmp(is_local, "false") != 0)
        return error_set(err, ERROR_INVALID, "--serving-port: cluster-local: expected true or false, got %s", is_local);
    if (is_local)
        json_object_set_new(port, "clusterLocalAccessOnly", json_boolean(strcmp(is_local, "true") == 0));
    return 0;
}

static int send_update(struct cli *cli, const char *name, json_t *body, struct error *err)
{
    json_t *workload, *answer;
    if (cli_find_workload(cli, name, &workload, err) < 0)
        return -1;
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads/inferences/%s", cli_text(workload, "id"));
    int rc = client_call(&cli->client, "PATCH", path, body, &answer, err);
    json_decref(workload);
    if (rc < 0)
        return -1;
    if (!flag_is_set(&cli->arguments, "quiet"))
        printf("inference %s is being changed\n", cli_text(answer, "name"));
    json_decref(answer);
    return 0;
}

int run_inference_update(struct cli *cli, struct error *err)
{
    const char *name;
    if (cli_name(cli, &name, err) < 0)
        return -1;
    json_t *spec = json_object(), *body = json_pack("{s:o}", "spec", spec);
    int rc = submit_make_spec(cli, cli->command->kind, spec, err);
    if (rc == 0 && json_object_size(spec) == 0)
        rc = error_set(err, ERROR_INVALID, "nothing to change: name what is to change, as --image IMAGE");
    if (rc == 0 && flag_is_set(&cli->arguments, "dry-run"))
        cli_print(cli, body);
    else if (rc == 0)
        rc = send_update(cli, name, body, err);
    json_decref(body);
    return rc;
}
