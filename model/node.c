#include "model/node.h"

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
