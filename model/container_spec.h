// What a container is: image, command, environment, annotations and labels, ports and links. Checks the rules that the
// schema doesn't state; the values themselves stay in the specification.
#pragma once
#include "model/fields.h"

enum {
    CONTAINER_ITEMS_MAX = 256,     // of any one list
    CONTAINER_COMMAND_MAX = 65536, // bytes of command and of args
};

#define SIMULATION_ANNOTATION_PREFIX "prorata.io/sim-"

int container_spec_check(const struct fields *spec);
