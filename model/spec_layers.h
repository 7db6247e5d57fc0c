// A specification made of layers: assets below, a template's own values above them, the request on top. Each layer is
// laid over what the lower ones came to, member by member; a null says nothing. Lists whose items have a key
// (environment variables by name, ports by container port, storage by where it is mounted) are merged by it: an item
// takes the place of the one with its key whole, others are added behind. All other lists and values replace.
// A layer that states compute.gpuRequestType takes the parts of a device away that lower layers asked for.
#pragma once
#include <jansson.h>

struct arena;

struct spec_layer {
    const json_t *spec; // NULL: says nothing
    const char *from;   // "environment", "compute", "datasource", "template" or "request"
    const char *id;     // NULL: none
    const char *name;   // NULL: none
};

// Lays the layer over target, in which copies of its values come. sources, where not NULL, is an object that says of
// each path ("compute.cpuCoreRequest", "environmentVariables[EPOCHS]") where its value comes from: {from, id, name}.
// Scratch memory is the arena's. O(size of both).
void spec_layers_lay(json_t *target, json_t *sources, const struct spec_layer *layer, struct arena *arena);
