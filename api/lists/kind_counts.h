// The numbers beside the pages' names: how many there are of each kind.
#pragma once
#include <jansson.h>

struct error;
struct request;

// Of kinds of which the caller may read any, of those that he may read. The caller owns the object. NULL: it failed.
json_t *kind_counts(struct request *req, struct error *err);
