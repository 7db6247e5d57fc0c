// node label: sets and removes labels of a node, in kubectl's words.
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
