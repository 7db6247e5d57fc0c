// The variables that a specification brings: values, keys of secrets and config maps, what is known of the pod.
#pragma once
#include "backends/local/specification/secrets.h"

struct json_t;
struct variables;

struct variable_source {
    struct secret_source secrets;
    const struct backend_pod *pod;
    const struct json_t *spec;
};

// ERROR_INVALID, ERROR_NOT_FOUND: a source that is not there; the message names the variable.
int their_variables_set(const struct variable_source *source, struct variables *variables, struct error *err);
// Whether what a variable is to hold of the pod is known on a machine at all. Static text; NULL: not known.
const char *their_variables_field(const char *path);
