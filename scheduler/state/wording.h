// How an amount of a resource is said.
#pragma once
#include "scheduler/resource.h"
struct arena;

// "2" or "unlimited"; in the resource's own unit.
const char *wording_number(struct arena *arena, enum resource resource, int64_t value);
// "2 GPUs", "1 core", "1Gi of memory".
const char *wording_amount(struct arena *arena, enum resource resource, int64_t value);
// The resource that sentences about such a request count in: the first that it asks for.
enum resource wording_resource(struct amounts requested);
