#include "model/workload_type.h"

#include <string.h>

static const char *const TEXTS[] = {
#define WORKLOAD_TYPE_TEXT(type, text) [type] = text,
    WORKLOAD_TYPES(WORKLOAD_TYPE_TEXT)
#undef WORKLOAD_TYPE_TEXT
};

const char *workload_type_text(enum workload_type type)
{
    return TEXTS[type];
}

bool workload_type_is(const char *text, enum workload_type type)
{
    return strcmp(TEXTS[type], text) == 0;
}

bool workload_type_parse(const char *text, enum workload_type *out_type)
{
    for (int i = 0; i < WORKLOAD_TYPE_COUNT; i++) {
        if (workload_type_is(text, (enum workload_type)i)) {
            *out_type = (enum workload_type)i;
            return true;
        }
    }
    return false;
}
