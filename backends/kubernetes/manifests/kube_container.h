// The container that runs a specification's command, and what a pod asks of its node.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct backend_pod;
struct error;

// Whole devices of spec.compute. ERROR_INVALID: a part of a device, which this backend does not share.
int kube_gpus_read(const json_t *compute, int64_t *out_gpus, struct error *err);
// {"requests", "limits"}. Requests of CPU and memory are always there, for quotas want them.
int kube_resources_read(const json_t *compute, bool with_devices, json_t **out_resources, struct error *err);
// Whether any extended resource is a part of a GPU.
bool kube_has_mig(const json_t *compute);
// A container's securityContext; empty where the specification says nothing.
json_t *kube_security(const json_t *security);
// Without volumes, which are the caller's to add.
int kube_container(const struct backend_pod *pod, const json_t *spec, struct arena *arena, json_t **out_container,
                   struct error *err);
