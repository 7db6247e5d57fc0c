// Whether an object has the types that its kind has: a wrong one is what the real server cannot decode.
#pragma once
#include <jansson.h>

// NULL, or the path of the first part that has another type. Members that are null are taken off, as decoding does.
const char *shape_find_wrong(json_t *object);
