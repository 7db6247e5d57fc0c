// A policy as it is set: read, checked, and changed in parts.
#pragma once
#include "api/policies/policy_schema.h"

struct arena;
struct error;

// Checks {defaults, rules} after the document's schema has: the names of all fields, bounds that leave no value,
// steps, fields that defaultFrom builds on, instances that are the same, and defaults that the policy's own rules
// refuse. Takes away what says nothing: nulls, empty groups, and sourceOfRule of an answer that is sent back.
// ERROR_INVALID names the path.
int policy_read(enum policy_kind kind, json_t *policy, struct arena *arena, struct error *err);
// Clears a field, a group, or one of a rule's members: "rules.compute.gpuDevicesRequest.max"; "$." or "policy." may
// stand in front. A path that names no field is refused; one that is not set is left alone.
int policy_reset(enum policy_kind kind, json_t *policy, const char *path, struct error *err);
// Members of from go into the policy; objects are merged, lists and values replaced, nulls left out.
void policy_merge(json_t *into, const json_t *from);
