#include "model/node.h"

#include "base/arena.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const STATUS_TEXT[] = {
    [NODE_STATUS_READY] = "Ready",
    [NODE_STATUS_NOT_READY] = "NotReady",
    [NODE_STATUS_UNKNOWN] = "Unknown",
};

const char *node_status_text(enum node_status status)
{
    return STATUS_TEXT[status];
}

enum node_status node_status_parse(const char *text)
{
    for (int i = 0; i < NODE_STATUS_UNKNOWN; i++)
        if (strcmp(text, STATUS_TEXT[i]) == 0)
            return (enum node_status)i;
    return NODE_STATUS_UNKNOWN;
}

const char *node_labels_json(struct arena *arena, const json_t *labels, const char *name)
{
    static const char HOSTNAME[] = "kubernetes.io/hostname";
    json_t *all = labels ? json_copy((json_t *)labels) : json_object();
    if (!json_object_get(all, HOSTNAME))
        json_object_set_new(all, HOSTNAME, json_string(name));
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    const char *kept = arena_strdup(arena, text);
    free(text);
    json_decref(all);
    return kept;
}
