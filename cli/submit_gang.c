// --sub-group and --topology of submit: the shape of a gang.
#include "base/error.h"
#include "cli/command.h"
#include "cli/submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct part {
    const char *key, *field;
    enum field_form form;
};

static const struct part OF_SUB_GROUP[] = {
    {"name", "name", FIELD_TEXT},           {"parent", "parent", FIELD_TEXT},
    {"workers", "workers", FIELD_INTEGER},  {"master", "master", FIELD_SWITCH},
    {"min-pods", "minPods", FIELD_INTEGER}, {"min-sub-groups", "minSubGroups", FIELD_INTEGER},
    {"topology", NULL, FIELD_TEXT},         {"required", NULL, FIELD_TEXT},
    {"preferred", NULL, FIELD_TEXT},        {0},
};
static const struct part OF_TOPOLOGY[] = {
    {"name", "name", FIELD_TEXT}, {"required", "required", FIELD_TEXT}, {"preferred", "preferred", FIELD_TEXT}, {0}};

// A key that nobody knows would be lost without a word.
static int check_keys(struct cli *cli, const char *flag, const char *text, const struct part *parts, struct error *err)
{
    char *rest = arena_strdup(&cli->arena, text), *piece;
    while ((piece = strsep(&rest, ","))) {
        piece[strcspn(piece, "=")] = '\0';
        const struct part *part = parts;
        while (part->key && strcmp(part->key, piece) != 0)
            part++;
        if (!part->key)
            return error_set(err, ERROR_INVALID, "--%s: no part \"%s\"; see help for those it has", flag, piece);
    }
    return 0;
}

static int set_integer(json_t *object, const char *flag, const struct part *part, const char *text, struct error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return error_set(err, ERROR_INVALID, "--%s: %s: expected a whole number, got %s", flag, part->key, text);
    json_object_set_new(object, part->field, json_integer(number));
    return 0;
}

static int set_parts(struct cli *cli, json_t *object, const char *flag, const char *text, const struct part *parts,
                     struct error *err)
{
    if (check_keys(cli, flag, text, parts, err) < 0)
        return -1;
    for (const struct part *part = parts; part->key; part++) {
        const char *value = submit_part_of(cli, text, part->key);
        if (!value || !part->field)
            continue;
        if (part->form == FIELD_SWITCH)
            json_object_set_new(object, part->field, json_boolean(strcmp(value, "false") != 0));
        else if (part->form == FIELD_TEXT)
            json_object_set_new(object, part->field, json_string(value));
        else if (set_integer(object, flag, part, value, err) < 0)
            return -1;
    }
    return 0;
}

static void set_topology_of_group(struct cli *cli, json_t *group, const char *text)
{
    static const struct {
        const char *key, *field;
    } MEMBERS[] = {{"topology", "name"}, {"required", "required"}, {"preferred", "preferred"}};
    json_t *topology = json_object();
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(*MEMBERS); i++) {
        const char *value = submit_part_of(cli, text, MEMBERS[i].key);
        if (value)
            json_object_set_new(topology, MEMBERS[i].field, json_string(value));
    }
    if (json_object_size(topology) > 0)
        json_object_set(group, "topology", topology);
    json_decref(topology);
}

int submit_take_gang(struct cli *cli, json_t *spec, struct error *err)
{
    const char *topology = flag_text(&cli->arguments, "topology");
    const struct flag_value *groups = flag_values(&cli->arguments, "sub-group");
    if (topology) {
        json_t *object = json_object();
        json_object_set_new(spec, "topology", object);
        if (set_parts(cli, object, "topology", topology, OF_TOPOLOGY, err) < 0)
            return -1;
    }
    if (!groups)
        return 0;
    json_t *list = json_array();
    json_object_set_new(spec, "subGroups", list);
    for (size_t i = 0; i < groups->count; i++) {
        json_t *group = json_object();
        json_array_append_new(list, group);
        if (set_parts(cli, group, "sub-group", groups->texts[i], OF_SUB_GROUP, err) < 0)
            return -1;
        set_topology_of_group(cli, group, groups->texts[i]);
    }
    return 0;
}
