// Names of objects, and the small readers that all of the room share.
#pragma once
#include "backends/backend.h"
#include "backends/kubernetes/manifests/kube_site.h"
#include <jansson.h>

// Of a pod of distributed work, whatever its attempt: <workload>-worker-3.
const char *kube_host_name(const struct backend_pod *pod, const char *role, int64_t index, struct arena *arena);
// What all objects of a pod's workload have: labels and namespace. The name is the arena's or outlives the object.
json_t *kube_metadata(const struct kube_site *site, const struct backend_pod *pod, const char *name,
                      struct arena *arena);
// What a Service selects the workload's pods by.
json_t *kube_selector(const struct kube_site *site, const struct backend_pod *pod);
bool kube_is_distributed(const struct backend_pod *pod);
bool kube_is_inference(const struct backend_pod *pod);

// The pod's specification, the caller's. NULL: ERROR_INVALID.
json_t *kube_spec_load(const struct backend_pod *pod, struct error *err);
// Readers of specifications. A text that is missing or empty is NULL.
const char *kube_spec_text(const json_t *object, const char *key);
// The next item of a list that is not excluded, from *at on, which then stands behind it: for (size_t i = 0; (item =
// kube_spec_next(list, &i));). NULL: there is none.
const json_t *kube_spec_next(const json_t *list, size_t *at);
// The value of an annotation of the specification; NULL: it has none.
const char *kube_spec_annotation(const json_t *spec, const char *name);
// kube_check.c: what no row of its table allows. ERROR_INVALID names the field.
int kube_spec_check(const json_t *spec, struct error *err);
