// Whether a specification asks for something, by the path of its field: for tables of what a backend cannot do.
#pragma once
#include <stdbool.h>

struct arena;
struct json_t;

// A path's parts are parted by dots; [] after one stands for any of its items that is not excluded. wanted NULL: any
// value but null, false, "" and []. *out_where is set to where it stands, as people are told it:
// spec.ports[1].external.
bool spec_find(const struct json_t *spec, const char *path, const char *wanted, struct arena *arena,
               const char **out_where);
