// node label, node cordon, node drain, node uncordon: changes of a node, in kubectl's words.
#include "base/error.h"
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

// KEY=VALUE or KEY-.
static int add_change(struct cli *cli, const char *word, json_t *labels, struct error *err)
{
    const char *equals = strchr(word, '=');
    size_t length = strlen(word);
    if (equals && equals > word)
        json_object_set_new(labels, arena_printf(&cli->arena, "%.*s", (int)(equals - word), word),
                            json_string(equals + 1));
    else if (!equals && length > 1 && word[length - 1] == '-')
        json_object_set_new(labels, arena_printf(&cli->arena, "%.*s", (int)(length - 1), word), json_null());
    else
        return error_set(err, ERROR_INVALID, "%s: KEY=VALUE sets a label, KEY- removes it", word);
    return 0;
}

int run_node_label(struct cli *cli, struct error *err)
{
    const struct arguments *arguments = &cli->arguments;
    const char *name;
    json_t *node = NULL, *labels = json_object();
    int rc = cli_name(cli, &name, err);
    if (rc == 0 && arguments->word_count < 2)
        rc = error_set(err, ERROR_INVALID, "a label is missing: %s %s %s", cli->program, cli->command->words,
                       cli->command->usage);
    for (size_t i = 1; rc == 0 && i < arguments->word_count; i++)
        rc = add_change(cli, arguments->words[i], labels, err);
    if (rc == 0) {
        json_t *body = json_pack("{s:O}", "labels", labels);
        const char *path = arena_printf(&cli->arena, "/api/v1/nodes/%s", client_escape(&cli->client, name));
        rc = client_call(&cli->client, "PATCH", path, body, &node, err);
        json_decref(body);
    }
    if (rc == 0 && !flag_is_set(arguments, "quiet"))
        printf("node/%s labeled; it is in node pool %s\n", name, cli_text(node, "nodePool"));
    json_decref(node);
    json_decref(labels);
    return rc;
}

// The node's id. ERROR_NOT_FOUND: the caller sees no node of that name.
static int find_id(struct cli *cli, const char *name, const char **out_id, struct error *err)
{
    json_t *answer = NULL;
    const json_t *node;
    size_t i;
    if (client_call(&cli->client, "GET", "/api/v1/nodes", NULL, &answer, err) < 0)
        return -1;
    *out_id = NULL;
    json_array_foreach(json_object_get(answer, "nodes"), i, node)
        if (strcmp(cli_text(node, "name"), name) == 0)
            *out_id = arena_strdup(&cli->arena, cli_text(node, "id"));
    json_decref(answer);
    return *out_id ? 0 : error_set(err, ERROR_NOT_FOUND, "node %.80s: not found", name);
}

static int change(struct cli *cli, const char *action, json_t *body, const char *done, struct error *err)
{
    const char *name, *id;
    int rc = cli_name(cli, &name, err);
    if (rc == 0)
        rc = find_id(cli, name, &id, err);
    if (rc == 0)
        rc = client_call(&cli->client, "POST", arena_printf(&cli->arena, "/api/v1/nodes/%s/%s", id, action), body, NULL,
                         err);
    if (rc == 0 && !flag_is_set(&cli->arguments, "quiet"))
        printf("node/%s %s\n", name, done);
    json_decref(body);
    return rc;
}

static int check_reason(struct cli *cli, const char **out_reason, struct error *err)
{
    *out_reason = flag_text(&cli->arguments, "reason");
    return *out_reason ? 0 : error_set(err, ERROR_INVALID, "--reason says why, to whoever waits for the node");
}

int run_node_cordon(struct cli *cli, struct error *err)
{
    const char *reason;
    if (check_reason(cli, &reason, err) < 0)
        return -1;
    return change(cli, "cordon", json_pack("{s:s}", "reason", reason), "cordoned: nothing new is placed there", err);
}

int run_node_drain(struct cli *cli, struct error *err)
{
    const char *reason;
    if (check_reason(cli, &reason, err) < 0)
        return -1;
    bool is_forced = flag_is_set(&cli->arguments, "force");
    return change(cli, "drain", json_pack("{s:s, s:b}", "reason", reason, "force", is_forced),
                  is_forced ? "drains: everything leaves it" : "drains: what may be preempted leaves it", err);
}

int run_node_uncordon(struct cli *cli, struct error *err)
{
    return change(cli, "uncordon", NULL, "uncordoned", err);
}
