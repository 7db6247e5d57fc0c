#include "scheduler/state/labels.h"

#include "scheduler/snapshot.h"

#include <string.h>

const char *node_label(const struct snapshot_node *node, const char *key)
{
    for (size_t i = 0; i < node->label_count; i++) {
        if (strcmp(node->labels[i].key, key) == 0)
            return node->labels[i].value;
    }
    return NULL;
}
