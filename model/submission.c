#include "model/submission.h"

#include <string.h>

static const char *const TYPE_TEXTS[WORKLOAD_TYPE_COUNT] = {
    [WORKLOAD_TYPE_TRAINING] = "Training",
    [WORKLOAD_TYPE_WORKSPACE] = "Workspace",
    [WORKLOAD_TYPE_DISTRIBUTED] = "Distributed",
};

const char *workload_type_text(enum workload_type type)
{
    return TYPE_TEXTS[type];
}

bool workload_type_parse(const char *text, enum workload_type *out_type)
{
    for (int i = 0; i < WORKLOAD_TYPE_COUNT; i++) {
        if (strcmp(TYPE_TEXTS[i], text) == 0) {
            *out_type = (enum workload_type)i;
            return true;
        }
    }
    return false;
}
