// The three kinds of PATCH that clients send.
#pragma once
#include <jansson.h>

// RFC 7396, in place.
void patch_merge(json_t *target, const json_t *patch);
// Kubernetes' own: as a merge, but lists with a key (conditions by type, containers by name, ...) are merged by it.
void patch_strategic(json_t *target, const json_t *patch);
// RFC 6902. -1: not a patch, or an operation fails; out_wrong says which; the target may be half changed.
int patch_json(json_t *target, const json_t *patch, char out_wrong[200]);
