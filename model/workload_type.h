// The types of workloads that are submitted here, as the API names them.
#pragma once
#include <stdbool.h>

#define WORKLOAD_TYPES(X)                       \
    X(WORKLOAD_TYPE_TRAINING, "Training")       \
    X(WORKLOAD_TYPE_WORKSPACE, "Workspace")     \
    X(WORKLOAD_TYPE_DISTRIBUTED, "Distributed") \
    X(WORKLOAD_TYPE_INFERENCE, "Inference")

enum workload_type {
#define WORKLOAD_TYPE_VALUE(type, text) type,
    WORKLOAD_TYPES(WORKLOAD_TYPE_VALUE)
#undef WORKLOAD_TYPE_VALUE
    WORKLOAD_TYPE_COUNT
};

// "Training", "Workspace", ...: static text.
const char *workload_type_text(enum workload_type type);
// False where the text is none of them.
bool workload_type_parse(const char *text, enum workload_type *out_type);
// Whether a row's text is this one.
bool workload_type_is(const char *text, enum workload_type type);
