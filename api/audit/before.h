// What stood there when a change was asked for: the answer of the GET of the same path, made by its own handler for the
// same caller. Two who change the same thing at once may both see what was there before either.
#pragma once
#include <jansson.h>

struct path;
struct request;
struct route;

// NULL where nothing can be read: a creation, no GET of that path, not there, not for this caller. The caller frees.
json_t *before_read(const struct request *req, const struct route *route, const struct path *path);
// What a creation made, by the GET of its own path. NULL likewise.
json_t *before_read_made(const struct request *req, const struct path *path, const char *id);
