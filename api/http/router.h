// Finds the place of a path in the tree that the build made from openapi.yaml.
#pragma once
#include "api/schema.h"

struct path;

// NULL for an unknown path. A literal segment goes before a parameter. O(segments), with at most one step back a
// segment.
const struct route *router_find(const struct path *path);
// The operation of a method there, or NULL.
const struct operation *router_operation(const struct route *route, enum http_method method);

enum {
    ROUTER_ALLOW_SIZE = 64
};
// "GET, HEAD, POST, OPTIONS": the value of the header Allow.
void router_allow(const struct route *route, char out[ROUTER_ALLOW_SIZE]);
// The method of a request line; false for one that no operation can have.
bool router_method(const char *text, enum http_method *out_method);
